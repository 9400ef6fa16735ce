"""The committed Unicode tables: generated once by tools/unicode_tables.py, read once per process."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np

from sosie.kernels.text.unicode import UnicodeTables

UNICODE_VERSION = "17.0.0"
_FILE = "unicode-17.0.npz"


@cache
def unicode_tables() -> UnicodeTables:
    """Return the tables that the folding kernels read.

    >>> unicode_tables().fold_index.size * 128 == 0x110000
    True
    """
    with files("sosie.text").joinpath(_FILE).open("rb") as file, np.load(file, allow_pickle=False) as stored:
        version = str(stored["unicode_version"])
        if version != UNICODE_VERSION:
            raise RuntimeError(f"{_FILE} holds Unicode {version}, the code expects {UNICODE_VERSION}")
        return UnicodeTables(*(stored[name] for name in UnicodeTables._fields))
