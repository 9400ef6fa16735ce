"""The key of tags: drawn by the run that compares documents, known to nobody, and gone with it."""

from __future__ import annotations

import secrets

import numpy as np

from sosie.kernels.text.tags import FACTOR, KEY_WORDS, POINT, PRIME
from sosie.types import U64

NO_KEY: U64 = np.empty(0, np.uint64)  # no tags are wanted


def draw_key() -> U64:
    """Return a key that cannot be foreseen: whoever writes documents must not know how they are told apart.

    >>> len(draw_key()), draw_key()[0] == draw_key()[0]
    (131, np.False_)
    """
    key = np.frombuffer(secrets.token_bytes(8 * KEY_WORDS), np.uint64).copy()
    key[FACTOR] |= np.uint64(1)
    key[POINT] = secrets.randbelow(int(PRIME))
    return key
