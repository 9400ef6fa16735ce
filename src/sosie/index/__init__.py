"""WHERE ARE THE NEAR ONES? One index per file; `base` and `hamming` state what every one promises."""

from importlib import import_module
from typing import Any

from sosie.index.registry import HOMES

_HOMES = {
    **HOMES,
    "HammingIndex": "sosie.index.hamming",
    "Index": "sosie.index.base",
    "load_index": "sosie.index.files",
}


def __getattr__(name: str) -> Any:
    """Import a class when it is first asked for: whoever needs one index does not load the kernels of all."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
