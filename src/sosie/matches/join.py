"""Signatures joined within a radius: exactly by block tables or by comparing all with all, or by a sliding window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from sosie.errors import UsageError
from sosie.matches.blocks import join_blocks
from sosie.matches.brute import join_brute
from sosie.matches.chunks import Window
from sosie.matches.window import join_window
from sosie.storage.room import Room
from sosie.types import Pairs, Signatures

SignatureJoin = Literal["blocks", "brute", "window"]

_JOINS: dict[str, Callable[..., Pairs]] = {"blocks": join_blocks, "brute": join_brute, "window": join_window}


def join_signatures(
    a: Signatures,
    b: Signatures | None = None,
    *,
    radius: int,
    method: SignatureJoin | Window,
    max_pairs: int | None = None,
    threads: int | None = None,
    room: Room | None = None,
) -> Pairs:
    """Return the pairs of signatures within the radius: all of them, or by a window those that it finds.

    More than `max_pairs` are refused; without a limit, groups of very many equal rows are written as stars. Methods
    keep to the `room`, where there is one; its `limit` is for the whole process.

    >>> import numpy as np
    >>> signatures = Signatures(np.array([0b0000, 0b0111, 0b1111], np.uint64))
    >>> join_signatures(signatures, radius=1, method="brute").b.tolist()
    [2]
    """
    if isinstance(method, Window):
        return join_window(a, b, radius, threads, by=method, max_pairs=max_pairs, room=room)
    return _JOINS[check_method(method)](a, b, radius, threads, max_pairs=max_pairs, room=room)


def check_method(method: str | Window) -> str:
    """Return the name of a join of signatures; whatever is none is refused.

    >>> check_method(Window(tables=3))
    'window'
    """
    if isinstance(method, Window):
        return "window"
    if method not in _JOINS:
        raise UsageError(f"method must be auto, {', '.join(get_args(SignatureJoin))} or a Window, got {method!r}")
    return method
