"""The one table of indexes: what each kind is called, where it lives, how it is built, and how far it searches.

The loader of saved indexes, the public names, the command line and `TextIndex` are made from it. It imports the
standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from sosie.errors import UsageError


class Option(NamedTuple):
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


class Home(NamedTuple):
    """Where a class lives."""

    home: str
    name: str

    def load(self) -> Any:
        """Import the class."""
        return getattr(import_module(self.home), self.name)


class Kind(NamedTuple):
    """A class of indexes: `options` are parameters of its constructor, `effort` those of how far a search goes.

    The latter are fields of the class `search`, which is what a search takes. With `volatility`, queries are signed
    with the sums behind their bits where the spec has them. What it `holds` is signatures, keys or bags of features.
    """

    home: str
    name: str
    options: tuple[Option, ...] = ()
    search: Home | None = None
    effort: tuple[Option, ...] = ()
    volatility: bool = False
    holds: str = "signatures"

    def load(self) -> Any:
        """Import the class."""
        return Home(self.home, self.name).load()


AUTO = "auto"  # the kind that suits the rows best
COMING = ("single", "batch")  # how queries may come
HINTS = ("radius",)  # options of a kind that say what will be asked, where the kind is chosen
KINDS = {
    "flat": Kind("sosie.index.flat", "FlatIndex"),
    "slices": Kind(
        "sosie.index.slices",
        "SliceIndex",
        (Option("slice_width", "bits of a slice. [default: 16]", "width"),),
        search=Home("sosie.index.slice_search", "SliceSearch"),
        effort=(
            Option("breadth", "look up values that differ in so many bits. [default: 3]"),
            Option("candidates", "compare so many rows in the end. [default: 1000]"),
            Option("stop", "when a search is over. [default: early]", type=("early", "certain", "all")),
            Option("j", "take up no new rows beyond so many bits. [default: those of --breadth]"),
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
        search=Home("sosie.index.probe_search", "ProbeSearch"),
        effort=(Option("probes", "try so many likely flips of a header. [default: as it was built]"),),
        volatility=True,
    ),
    "multi": Kind(
        "sosie.index.multi", "MultiIndex", (Option("tables", "how many the bits are cut into. [default: by rows]"),)
    ),
    "keys": Kind("sosie.index.keys", "KeyIndex", holds="keys"),
    "words": Kind("sosie.index.words", "WordIndex", holds="words"),
}
_REMEDIES = {  # what to do where a kind holds the one and was given the other
    ("signatures", "keys"): "pass --b, or leave --kind out",
    ("keys", "signatures"): "pass --method minhash, or another kind",
}
CLASSES = {kind.name: kind for kind in KINDS.values()}
HOMES = {home.name: home.home for kind in KINDS.values() for home in (kind, kind.search) if home is not None}


def kind_of(index: object) -> str:
    """Return the name of the kind that an index is of."""
    return next(name for name, kind in KINDS.items() if kind.name == type(index).__name__)


def check_kind(name: str, *, holds: str, options: Mapping[str, Any]) -> None:
    """Refuse a kind that does not hold what is to be indexed (signatures, keys or words), and options of others.

    The kind "auto" holds everything, and takes hints alone.
    """
    if name == AUTO:
        if holds == "signatures":
            _refuse_others(name, options, {other: kind.options for other, kind in KINDS.items()})
        return
    own = KINDS[name].holds
    if own != holds:
        remedy = _REMEDIES.get((own, holds), "leave --kind out, or name another one")
        raise UsageError(f"an index of the kind {name} holds {own}, not {holds}: {remedy}")
    _refuse_others(name, options, {other: kind.options for other, kind in KINDS.items()})


def make_index(name: str, signed: Any, options: Mapping[str, Any]) -> Any:
    """Build an index of a kind of what it holds (see `check_kind`); options that are None have their defaults.

    Those that are also options of a search become the effort of the index.

    >>> import numpy as np
    >>> from sosie.types import Signatures
    >>> make_index("blocks", Signatures(np.arange(3, dtype=np.uint64)), {"radius": 2}).radius
    2
    """
    kind = KINDS[name]
    own = [each for each in kind.options if options.get(each.name) is not None]
    given = {each.parameter or each.name: options[each.name] for each in own}
    searched = {each.name: given.pop(each.name) for each in kind.effort if each.name in given}
    if searched and kind.search is not None:
        given["effort"] = kind.search.load()(**searched)
    return kind.load()(signed, **given)


def effort_of(index: Any, options: Mapping[str, Any]) -> Any:
    """Return how far a search of an index goes by some options, None if none is given; others' are refused.

    What is not said is as in the index's own effort.

    >>> import numpy as np
    >>> from sosie.types import Signatures
    >>> effort_of(make_index("probes", Signatures(np.arange(3, dtype=np.uint64)), {}), {"probes": 5})
    ProbeSearch(probes=5)
    """
    _refuse_others(kind_of(index), options, {name: kind.effort for name, kind in KINDS.items()})
    given = {name: value for name, value in options.items() if value is not None}
    search = KINDS[kind_of(index)].search
    if not given or search is None:
        return None
    spec = search.load()
    return spec(**{**{name: getattr(index.effort, name) for name in spec.__dataclass_fields__}, **given})


def _refuse_others(name: str, options: Mapping[str, Any], owned: Mapping[str, Iterable[Option]]) -> None:
    own = set(HINTS) if name == AUTO else {option.name for option in owned[name]}
    for given in (option for option, value in options.items() if value is not None and option not in own):
        owners = [kind for kind, theirs in owned.items() if given in {option.name for option in theirs}]
        spelt, of = Option(given, "").flag, " or ".join(owners) or "(none)"
        other = f"name it, as in --kind {owners[0]}" if name == AUTO and owners else f"not {name}"
        raise UsageError(f"{spelt} is for an index of the kind {of}{': ' if name == AUTO else ', '}{other}")
