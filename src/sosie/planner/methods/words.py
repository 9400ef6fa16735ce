"""What an index of words takes."""

from __future__ import annotations


def least_room(rows: int, features: int) -> int:
    """Return what no machine must lack so that rows with so many features in all can be inverted, and held."""
    return 28 * features + 12 * rows
