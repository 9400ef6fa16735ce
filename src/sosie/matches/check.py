"""What a join refuses: collections that do not belong together, and radii that no two signatures have."""

from __future__ import annotations

from sosie.errors import MismatchError, UsageError
from sosie.types import Keys, Signatures, meet

MAX_PAIRS = 10**8  # that a join lists, unless more are asked for


def check_join(a: Signatures, b: Signatures | None, radius: int, largest: int) -> None:
    """Raise unless two collections fit together and the radius is possible.

    >>> import numpy as np
    >>> check_join(Signatures(np.zeros((1, 1), np.uint64)), None, 3, 63)
    """
    if not 0 <= radius <= largest:
        raise UsageError(f"radius must be between 0 and {largest}, got {radius}")
    if b is None:
        return
    if a.bits != b.bits:
        raise MismatchError(f"signatures of {a.bits} and {b.bits} bits cannot be joined: sign both with one signer")
    check_spaces(a, b)


def check_keys(a: Keys, b: Keys) -> None:
    """Raise unless two collections of keys fit together."""
    if a.values.shape[1] != b.values.shape[1]:
        raise MismatchError(
            f"keys of {a.values.shape[1]} and {b.values.shape[1]} tables cannot be joined: sign both with one signer"
        )
    check_spaces(a, b)


def check_spaces(a: Signatures | Keys, b: Signatures | Keys) -> None:
    """Raise unless two collections are made for one comparison."""
    if not meet(a, b):
        what = "signatures" if isinstance(a, Signatures) else "keys"
        raise MismatchError(
            f"{what} of {a.space} and {b.space} cannot be joined: sign both with one signer, "
            "or with signers within one space"
        )


def check_pairs(count: int, most: int, about: bool = False) -> None:
    """Refuse to list more pairs than are asked for; an estimate of their number, where it is twice as many.

    >>> check_pairs(1_234_567, 10**6, about=True)  # may be wrong by a little: the pairs are counted before more is said
    """
    if count > (2 * most if about else most):
        number = f"about {float(f'{count:.2g}'):,.0f}" if about else f"{count:,}"
        raise UsageError(
            f"{number} pairs are similar, more than the {most:,} that are listed at most: raise the threshold (or lower"
            " the radius), allow more (--max-pairs, max_pairs=), or use dedup, which needs no list of them"
        )
