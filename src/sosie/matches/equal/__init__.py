"""WHAT IS EQUAL ANYWAY? Equal rows are collapsed before a join and written out after it."""
