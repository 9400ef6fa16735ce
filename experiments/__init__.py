"""One script for each table or figure of the papers: ours beside theirs. See README.md."""
