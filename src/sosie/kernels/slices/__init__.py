"""SLICE LISTS: rows found by the values of slices near those of a query (TOPK 2013; ISSL 2015)."""
