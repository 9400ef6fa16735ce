"""WHO IS NEAR WHOM?

`join.py` is the verb. A join of signatures or keys is a file here; the exact joins of features are in `sets`. Equal
rows are collapsed for both by `equal`. Whatever a join finds are candidates, until `verify.py` has measured them.
"""
