"""WHAT WAS TRANSLATED BEFORE? Files of parallel text, whoever wrote them, as pairs of texts."""
