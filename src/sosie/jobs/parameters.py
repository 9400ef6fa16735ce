"""The parameters of a de-duplication, as data; what cannot be is refused before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from sosie.clusters.keep import Keep, parse_keep
from sosie.documents.columns import Columns
from sosie.documents.order import Order
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS, Weighting
from sosie.matches.candidates import Method
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.matches.sets.threshold import as_fraction
from sosie.report.report import Parameters, describe
from sosie.signatures.simhash import Simhash

MethodName = Literal["auto", "exact", "minhash", "simhash"]
Clustering = Literal["anchored", "transitive"]


@dataclass(frozen=True, kw_only=True)
class DedupParameters:
    """What similar means, how similar documents are found, and which of them stay.

    `shingles` are the evidence that a method given by name works with; a method given as a spec has its own.
    `weighting` says how features weigh for the cosine.
    """

    threshold: Fraction = Fraction(4, 5)
    method: MethodName | Method = "auto"
    shingles: Shingles = Shingles()
    keep: Keep = "first"
    clusters: Clustering = "anchored"
    similarity: Measure = "jaccard"
    weighting: Weighting = "binary"

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", as_fraction(self.threshold))
        parse_keep(self.keep)
        Similarity(self.similarity)
        if self.weighting not in WEIGHTINGS:
            raise UsageError(f"weighting must be one of {', '.join(WEIGHTINGS)}, got {self.weighting!r}")
        if self.weighting != "binary" and self.similarity != "cosine":
            raise UsageError(f"weights are for the cosine; {self.similarity} compares sets: leave the weighting out")
        if self.clusters not in get_args(Clustering):
            raise UsageError(f"clusters must be anchored or transitive, got {self.clusters!r}")
        _check_method(self.method, self.weighting)
        if not isinstance(self.method, str):
            object.__setattr__(self, "shingles", self.method.shingles)
        name = self.method if isinstance(self.method, str) else describe(self.method)["method"]
        if name in ("minhash", "simhash"):
            Similarity(self.similarity).check_signatures(name, weighted=self.weighting != "binary")

    @property
    def weighted(self) -> bool:
        """Whether it counts how often a feature occurs, and not only whether it does."""
        return self.weighting != "binary"

    @property
    def order(self) -> Order | None:
        """The column that decides who stays, if one does."""
        rule = parse_keep(self.keep)
        return rule if isinstance(rule, Order) else None

    def described(self, method: Method, columns: Columns, annotate: bool | None) -> Parameters:
        """Return what the report says of how it was done: by which method, and what was read of each document."""
        return Parameters(
            threshold=float(self.threshold),
            similarity=self.similarity,
            weighting=self.weighting if self.similarity == "cosine" else None,
            method=describe(method),
            keep=self.keep,
            clusters=self.clusters,
            text_column=columns.text,
            id_column=columns.id,
            html=columns.html,
            annotate=annotate,
        )


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
