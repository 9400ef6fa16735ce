"""WHERE ARE THE NEAR ONES? One index per file; `base` states what every Hamming index promises."""

from sosie.index.base import Index
from sosie.index.flat import FlatIndex
from sosie.index.keys import KeyIndex

__all__ = ["FlatIndex", "Index", "KeyIndex"]
