"""The kinds of index by name: which class each is, how it is built, and what says how far it searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from sosie.errors import UsageError
from sosie.index.base import Index
from sosie.index.keys import KeyIndex
from sosie.types import Keys, Signatures

AnyIndex = Index | KeyIndex


@dataclass(frozen=True)
class Option:
    """A parameter of a kind: its name, what it means, and its name in the class, if that is another one.

    Its values are of a `type`, or one of some words.
    """

    name: str
    meaning: str
    parameter: str = ""
    type: type | tuple[str, ...] = int

    @property
    def flag(self) -> str:
        """How it is spelt on the command line."""
        return f"--{self.name.replace('_', '-')}"


@dataclass(frozen=True)
class Kind:
    """A class of indexes: `options` are parameters of its constructor, `effort` says how far a search goes.

    An effort is a field of the index's `effort`, or else an attribute of the index. With `volatility`, queries are
    signed with the sums behind their bits where the spec has them.
    """

    home: str
    name: str
    options: tuple[Option, ...] = ()
    effort: tuple[Option, ...] = ()
    volatility: bool = False

    def load(self) -> Any:
        """Import the class."""
        return getattr(import_module(self.home), self.name)


KINDS = {
    "flat": Kind("sosie.index.flat", "FlatIndex"),
    "slices": Kind(
        "sosie.index.slices",
        "SliceIndex",
        (Option("slice_width", "bits of a slice. [default: 16]", "width"),),
        effort=(
            Option("breadth", "look up values that differ in so many bits. [default: 3]"),
            Option("candidates", "compare so many rows in the end. [default: 1000]"),
            Option("stop", "when a search is over. [default: early]", type=("early", "certain", "all")),
        ),
    ),
    "blocks": Kind(
        "sosie.index.blocks",
        "BlockIndex",
        (
            Option("radius", "up to which radius tables answer. [default: 3]"),
            Option("blocks", "how many the bits are cut into. [default: by rows and bits]"),
            Option("header", "how many blocks make a header. [default: by rows and bits]"),
        ),
    ),
    "probes": Kind(
        "sosie.index.probes",
        "ProbeIndex",
        (
            Option("probes", "how many likely flips of a header a search tries. [default: 16]"),
            Option("header", "bits of a header. [default: by rows]"),
        ),
        effort=(Option("probes", "try so many likely flips of a header. [default: as it was built]"),),
        volatility=True,
    ),
    "multi": Kind(
        "sosie.index.multi", "MultiIndex", (Option("tables", "how many the bits are cut into. [default: by rows]"),)
    ),
    "keys": Kind("sosie.index.keys", "KeyIndex"),
}


def kind_of(index: AnyIndex) -> str:
    """Return the name of the kind that an index is of.

    >>> import numpy as np
    >>> kind_of(KeyIndex(Keys(np.zeros((1, 2), np.uint64))))
    'keys'
    """
    return next(name for name, kind in KINDS.items() if kind.name == type(index).__name__)


def check_kind(name: str, *, keys: bool, options: Mapping[str, Any]) -> None:
    """Refuse a kind that does not hold what is to be indexed, and options that are not its own."""
    if keys and name != "keys":
        raise UsageError(f"an index of the kind {name} holds signatures, not keys: pass --b, or leave --kind out")
    if name == "keys" and not keys:
        raise UsageError("an index of the kind keys holds keys, not signatures: pass --method minhash, or another kind")
    _refuse_others(name, options, {other: kind.options for other, kind in KINDS.items()})


def make_index(name: str, signed: Signatures | Keys, options: Mapping[str, Any]) -> AnyIndex:
    """Build an index of a kind; options that are None have their defaults.

    >>> import numpy as np
    >>> make_index("blocks", Signatures(np.arange(3, dtype=np.uint64)), {"radius": 2}).radius
    2
    """
    check_kind(name, keys=isinstance(signed, Keys), options=options)
    own = KINDS[name].options
    given = {each.parameter or each.name: options[each.name] for each in own if options.get(each.name) is not None}
    index: AnyIndex = KINDS[name].load()(signed, **given)
    return index


def set_effort(index: AnyIndex, options: Mapping[str, Any]) -> None:
    """Say how far an approximate index searches; what an index does not have is refused."""
    _refuse_others(kind_of(index), options, {name: kind.effort for name, kind in KINDS.items()})
    given = {name: value for name, value in options.items() if value is not None}
    if given and hasattr(index, "effort"):
        index.effort = replace(index.effort, **given)
        return
    for name, value in given.items():
        setattr(index, name, value)


def _refuse_others(name: str, options: Mapping[str, Any], owned: Mapping[str, Iterable[Option]]) -> None:
    own = {option.name for option in owned[name]}
    for given in (option for option, value in options.items() if value is not None and option not in own):
        owners = [kind for kind, theirs in owned.items() if given in {option.name for option in theirs}]
        spelt = Option(given, "").flag
        raise UsageError(f"{spelt} is for an index of the kind {' or '.join(owners) or '(none)'}, not {name}")
