"""SPARSE VECTORS: rows of weighted columns, projected into another vocabulary, weighed and compared."""
