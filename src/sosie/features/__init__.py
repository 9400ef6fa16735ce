"""WHAT COUNTS AS EVIDENCE?"""

from sosie.features.shingles import Shingles

__all__ = ["Shingles"]
