"""ROWS OF FEATURES: distinct, counted, compared, and the exact joins of them."""
