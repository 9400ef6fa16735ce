"""WHICH SETS OF FEATURES ARE SIMILAR ENOUGH? The exact joins: `join.join_features` is the way in."""
