"""WHERE ARE THE NEAR ONES? One index per file; `base` states what every Hamming index promises."""

from importlib import import_module
from typing import Any

_HOMES = {
    "BlockIndex": "blocks",
    "FlatIndex": "flat",
    "Index": "base",
    "KeyIndex": "keys",
    "MultiIndex": "multi",
    "ProbeIndex": "probes",
    "SliceIndex": "slices",
    "SliceSearch": "slice_search",
    "load_index": "files",
}


def __getattr__(name: str) -> Any:
    """Import a class when it is first asked for: whoever needs one index does not load the kernels of all."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"sosie.index.{_HOMES[name]}"), name)
