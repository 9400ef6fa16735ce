"""Sizes as people write them."""

from __future__ import annotations

import re

from sosie.errors import UsageError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


def parse_size(text: str) -> int:
    """Return a number of bytes: "4GB" is 4 * 10^9, "4GiB" and "4G" are 4 * 2^30.

    >>> parse_size("1.5 GB"), parse_size("512MiB"), parse_size("1000")
    (1500000000, 536870912, 1000)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None or found[2].upper() not in _UNITS or float(found[1]) == 0:
        raise UsageError(f"{text!r} is not a size: write it as in 4GB, 512MB or 2GiB")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def as_size(size: int | str | None) -> int | None:
    """Return a size that is given as a number of bytes or as people write it.

    >>> as_size("4GB"), as_size(1000), as_size(None)
    (4000000000, 1000, None)
    """
    if isinstance(size, str):
        return parse_size(size)
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise UsageError(f"{size!r} is not a size: write it as in '4GB', '512MB' or '2GiB', or as a number of bytes")
    return size


def show_size(count: float) -> str:
    """Return a number of bytes for people to read.

    >>> show_size(1_500_000_000), show_size(250_000)
    ('1.5 GB', '0.2 MB')
    """
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.1f} MB"
