"""The parameters of a de-duplication, as data; what cannot be is refused before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

from sosie.clusters.keep import Keep, parse_keep
from sosie.documents.columns import Columns
from sosie.documents.order import Order
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS, Weighting
from sosie.features.whole import Evidence, WholeText
from sosie.matches.candidates import Identical, Method
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.matches.sets.threshold import as_fraction
from sosie.report.report import Parameters, describe
from sosie.signatures.simhash import Simhash

MethodName = Literal["auto", "exact", "minhash", "simhash", "identical"]
Clustering = Literal["anchored", "transitive"]
Wordless = Literal["identical", "keep"]

_THRESHOLD = Fraction(4, 5)


@dataclass(frozen=True, kw_only=True)
class DedupParameters:
    """What similar means, how similar documents are found, and which of them stay.

    `shingles` are the evidence that a method given by name works with; a method given as a spec has its own.
    `weighting` says how features weigh for the cosine. `wordless` documents, which have no shingles, are duplicates if
    they are identical, byte for byte, or all of them are kept. `recall` is the share of the similar pairs that has to
    be found; of less than all, a method is planned that finds so many.
    """

    threshold: Fraction = _THRESHOLD
    method: MethodName | Method = "auto"
    shingles: Shingles = Shingles()
    keep: Keep = "first"
    clusters: Clustering = "anchored"
    similarity: Measure = "jaccard"
    weighting: Weighting = "binary"
    wordless: Wordless = "identical"
    recall: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.recall, bool) or not isinstance(self.recall, int | float) or not 0 < self.recall <= 1:
            raise UsageError(f"recall is above 0 and at most 1, as in 0.95; got {self.recall!r}")
        object.__setattr__(self, "threshold", as_fraction(self.threshold))
        parse_keep(self.keep)
        Similarity(self.similarity)
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if self.weighting != "binary" and self.similarity != "cosine":
            what = f"weights are for the cosine; {self.similarity} compares sets"
            raise UsageError(f"{what}: leave the weighting out, or take cosine")
        if self.clusters not in get_args(Clustering):
            raise UsageError(f"clusters must be anchored or transitive, got {self.clusters!r}")
        if self.wordless not in get_args(Wordless):
            raise UsageError(f"wordless must be identical or keep, got {self.wordless!r}")
        _check_method(self.method, self.weighting)
        if self.identical:
            self._compare_bytes()
        if not isinstance(self.method, str | Identical):
            object.__setattr__(self, "shingles", self.method.shingles)
        name = self.method if isinstance(self.method, str) else describe(self.method)["method"]
        if name in ("minhash", "simhash"):
            Similarity(self.similarity).check_signatures(name, weighted=self.weighting != "binary")

    @property
    def identical(self) -> bool:
        """Whether texts are compared byte for byte, and not by their shingles."""
        return self.method == "identical" or isinstance(self.method, Identical)

    @property
    def evidence(self) -> Evidence:
        """What documents are compared by: their shingles, or all their bytes."""
        return WholeText() if self.identical else self.shingles

    @property
    def whole(self) -> bool:
        """Whether documents without shingles are compared byte for byte."""
        return self.wordless == "identical"

    @property
    def weighted(self) -> bool:
        """Whether it counts how often a feature occurs, and not only whether it does."""
        return self.weighting != "binary"

    @property
    def needs(self) -> tuple[str, ...]:
        """The jobs in `needs.json` whose kernels it will need, as far as that can be said before anything is read."""
        method = self.method if isinstance(self.method, str) else describe(self.method)["method"]
        if method == "auto" and self.recall < 1:
            return tuple(f"dedup {name}" for name in (self.similarity, "minhash", "simhash"))
        if method in ("minhash", "simhash", "identical"):
            return (f"dedup {method}",)
        return (f"dedup {self.similarity}{' weighted' if self.weighted else ''}",)

    @property
    def order(self) -> Order | None:
        """The column that decides who stays, if one does."""
        rule = parse_keep(self.keep)
        return rule if isinstance(rule, Order) else None

    def described(
        self, method: Method, columns: Columns, annotate: bool | None, files: Mapping[str, Any] | None = None
    ) -> Parameters:
        """Return what the report says of how it was done: by which method, and what was read of each document."""
        return Parameters(
            threshold=float(self.threshold),
            similarity="identical" if self.identical else self.similarity,
            weighting=self.weighting if self.similarity == "cosine" else None,
            method=describe(method),
            keep=self.keep,
            clusters=self.clusters,
            text_column=columns.text if isinstance(columns.text, str) else list(columns.text),
            id_column=columns.id,
            html=columns.html,
            annotate=annotate,
            wordless=None if self.identical else self.wordless,
            files=files or None,
            recall=None if self.recall == 1 else self.recall,
        )

    def _compare_bytes(self) -> None:
        """Refuse what has no meaning where texts are compared byte for byte; there the threshold is 1."""
        given = {
            "a threshold": self.threshold not in (_THRESHOLD, 1),
            "a similarity": self.similarity != "jaccard",
            "shingles": self.shingles != Shingles(),
            "wordless": self.wordless != "identical",
            "recall": self.recall != 1,
        }
        for name in (name for name in given if given[name]):
            raise UsageError(
                f"{name}: has no meaning for the method identical, which compares texts byte for byte. Leave it out, or"
                " take another method."
            )
        object.__setattr__(self, "threshold", Fraction(1))


def shingles_of(given: Shingles | None, method: Any, width: int | None, unit: str | None) -> Shingles:
    """Return the shingles that a call asks for: made, or by their width and unit, or those of a method."""
    said: dict[str, Any] = {name: value for name, value in (("width", width), ("unit", unit)) if value is not None}
    if (said or given is not None) and not isinstance(method, str):
        raise UsageError(
            f"{' and '.join(said) or 'shingles'}: a method that is given as a spec has its own shingles, as in "
            f"{type(method).__name__}(shingles=Shingles(width=3))."
        )
    if said and given is not None:
        raise UsageError(f"{' and '.join(said)} and shingles say the same: give one, as in Shingles(width=3).")
    return replace(given or Shingles(), **said)


def _check_method(method: Any, weighting: Weighting) -> None:
    """Refuse what documents cannot be matched by: another name, or the spec of another method."""
    if isinstance(method, str):
        if method not in get_args(MethodName):
            raise UsageError(f"method must be one of {', '.join(get_args(MethodName))}, got {method!r}")
        return
    kinds = get_args(Method)
    if not isinstance(method, kinds):
        names = ", ".join(f"{kind.__name__}()" for kind in kinds)
        given = f"the class {method.__name__}" if isinstance(method, type) else type(method).__name__
        raise UsageError(f"dedup matches by {names}, or one of {', '.join(get_args(MethodName))} by name; got {given}")
    if isinstance(method, Simhash) and method.weighting != weighting:
        raise UsageError(f"features weigh {weighting!r} here: pass Simhash(weighting={weighting!r})")
