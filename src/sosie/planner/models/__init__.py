"""WHAT IS TO BE EXPECTED? Closed forms of the papers and of others, each with its source and a doctest."""
