"""WHERE ARE THE NEAR ONES? One index per file; `base` states what every Hamming index promises."""

from sosie.index.base import Index
from sosie.index.blocks import BlockIndex
from sosie.index.files import load_index
from sosie.index.flat import FlatIndex
from sosie.index.keys import KeyIndex
from sosie.index.multi import MultiIndex
from sosie.index.slice_search import SliceSearch
from sosie.index.slices import SliceIndex

__all__ = ["BlockIndex", "FlatIndex", "Index", "KeyIndex", "MultiIndex", "SliceIndex", "SliceSearch", "load_index"]
