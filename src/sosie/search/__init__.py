"""WHO ELSE SAYS THIS? An index with what made its rows: texts in, matches and their passages out."""
