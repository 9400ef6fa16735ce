"""The kinds of index by name: which class each is, how it is built, and what says how far it searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from sosie.errors import UsageError
from sosie.index.base import Index
from sosie.index.keys import KeyIndex
from sosie.types import Keys, Signatures

AnyIndex = Index | KeyIndex


@dataclass(frozen=True)
class Kind:
    """A class of indexes: `options` name parameters of its constructor, `effort` says how far a search goes.

    With `volatility`, queries are signed with the sums behind their bits, where the spec has some.
    """

    home: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    effort: tuple[str, ...] = ()
    volatility: bool = False

    def load(self) -> Any:
        """Import the class."""
        return getattr(import_module(self.home), self.name)


KINDS = {
    "flat": Kind("sosie.index.flat", "FlatIndex"),
    "slices": Kind(
        "sosie.index.slices", "SliceIndex", {"slice_width": "width"}, effort=("breadth", "candidates", "stop")
    ),
    "blocks": Kind("sosie.index.blocks", "BlockIndex", {"radius": "radius", "blocks": "blocks", "header": "header"}),
    "keys": Kind("sosie.index.keys", "KeyIndex"),
}
OPTIONS = tuple(dict.fromkeys(option for kind in KINDS.values() for option in kind.options))
EFFORTS = tuple(dict.fromkeys(option for kind in KINDS.values() for option in kind.effort))


def kind_of(index: AnyIndex) -> str:
    """Return the name of the kind that an index is of.

    >>> import numpy as np
    >>> kind_of(KeyIndex(Keys(np.zeros((1, 2), np.uint64))))
    'keys'
    """
    return next(name for name, kind in KINDS.items() if kind.name == type(index).__name__)


def check_kind(name: str, *, keys: bool, options: Mapping[str, Any]) -> None:
    """Refuse a kind that does not hold what is to be indexed, and options that are not its own."""
    if keys != (name == "keys"):
        held = "keys are held by an index of the kind keys" if keys else "an index of the kind keys holds keys"
        made = "make signatures" if keys else "make keys (minhash)"
        raise UsageError(f"{held}, not {name if keys else 'signatures'}: {made}, or choose another kind")
    for option in (option for option, value in options.items() if value is not None):
        if option not in KINDS[name].options:
            owners = " or ".join(other for other, kind in KINDS.items() if option in kind.options)
            raise UsageError(f"{_spelt(option)} belongs to the kind {owners}, not to {name}")


def make_index(name: str, signed: Signatures | Keys, options: Mapping[str, Any]) -> AnyIndex:
    """Build an index of a kind; options that are None have their defaults.

    >>> import numpy as np
    >>> make_index("blocks", Signatures(np.arange(3, dtype=np.uint64)), {"radius": 2}).radius
    2
    """
    check_kind(name, keys=isinstance(signed, Keys), options=options)
    kind = KINDS[name]
    given = {kind.options[option]: value for option, value in options.items() if value is not None}
    index: AnyIndex = kind.load()(signed, **given)
    return index


def set_effort(index: AnyIndex, options: Mapping[str, Any]) -> None:
    """Say how far an approximate index searches; what an index does not have is refused."""
    given = {option: value for option, value in options.items() if value is not None}
    name = kind_of(index)
    for option in given:
        if option not in KINDS[name].effort:
            owners = " or ".join(other for other, kind in KINDS.items() if option in kind.effort)
            raise UsageError(f"{_spelt(option)} is for an index of the kind {owners}; this one is of the kind {name}")
    if given and hasattr(index, "effort"):
        index.effort = replace(index.effort, **given)
        return
    for option, value in given.items():
        setattr(index, option, value)


def _spelt(option: str) -> str:
    return f"--{option.replace('_', '-')}"
