"""What a linking is told: how words are translated, which links are wanted, how documents are compared."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

from sosie.crosslingual.bootstrap import ROUNDS
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.sides import Translate
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.views import Formula, Weights
from sosie.errors import UsageError
from sosie.jobs.dictionary import Columns
from sosie.jobs.inputs import StrPath
from sosie.matches.sets.threshold import as_fraction

BEST = 10  # links of each document, where neither a number nor a threshold is given


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkSpec:
    """The fields of `Linker`, checked; it explains them."""

    dictionary: Dictionary | StrPath | None = None
    parallel: StrPath | Sequence[StrPath] | None = None
    columns: Columns = field(default_factory=Columns)
    training: TrainingSpec = TrainingSpec()
    translate: Translate | None = None
    k: int | None = None
    threshold: float | None = None
    one_to_one: bool = False
    mutual: bool = False
    exact: bool = False
    recall: float | None = None
    signed: Signed | None = None
    compared: int | None = None
    formula: Formula = "later"
    weights: Sequence[float] | None = None
    set_aside_hubs: bool = False
    rounds: int = ROUNDS

    def __post_init__(self) -> None:
        ways = [name for name in ("dictionary", "parallel", "translate") if getattr(self, name) is not None]
        if len(ways) > 1:
            raise UsageError(f"{ways[0]} and {ways[1]}: words are translated in one way; give one of them")
        words: Any = self.dictionary
        if words is not None and not isinstance(words, Dictionary | str | os.PathLike):
            kind = type(words).__name__
            raise UsageError(f"a dictionary is a Dictionary, as from_pairs makes it, or the path of one, not a {kind}")
        if self.translate is not None and not callable(self.translate):
            raise UsageError(f"translate is a function from texts to their translations, got {self.translate!r}")
        if self.threshold is not None:
            object.__setattr__(self, "threshold", float(as_fraction(self.threshold)))
        for name in ("k", "compared", "rounds"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise UsageError(f"{name} is a whole number from 1 on, got {value!r}")
        if self.recall is not None:
            self._check_recall(self.recall)
        if self.formula not in get_args(Formula):
            raise UsageError(f"the formula is one of {', '.join(get_args(Formula))}, got {self.formula!r}")
        if self.weights is not None:
            Weights.checked(self.weights)

    @property
    def wanted(self) -> int | None:
        """How many links of each document are wanted; None for all above the threshold."""
        return BEST if self.k is None and self.threshold is None else self.k

    @property
    def by(self) -> Signed | None:
        """How candidates are found, if they are; None where all pairs are compared."""
        return None if self.exact else self.signed or Signed()

    @property
    def words_by(self) -> str:
        """What translates words; where nothing is given, they are learnt by a bootstrap."""
        ways = ("dictionary", "parallel", "translate")
        return next((name for name in ways if getattr(self, name) is not None), "bootstrap")

    @property
    def needs(self) -> list[str]:
        """What of `needs.json` is called."""
        learns = ["link learnt"] if self.words_by in ("parallel", "bootstrap") else []
        signed = self.signed is not None or self.compared is not None
        exact, either = self.exact or self.recall == 1, not signed and self.recall != 1 and not self.exact
        if self.wanted is not None:
            names = ("link", "link exact")
        else:
            windowed = self.signed is not None and self.signed.window is not None
            names = ("link window" if windowed else "link threshold", "link threshold exact")
        return [*learns, *(names if either else names[exact:][:1])]

    def described(self, weights: Weights, by: Signed | None, compared: int) -> dict[str, Any]:
        """Return all of it as plain data, with the weights that were used and how documents were compared."""
        return {
            "threshold": self.threshold,
            "k": self.wanted,
            "one_to_one": self.one_to_one,
            "mutual": self.mutual,
            "exact": by is None,
            "recall": self.recall,
            "bits": None if by is None else by.bits,
            "seed": None if by is None else by.seed,
            "window": None if by is None or by.window is None else asdict(by.window),
            "compared": compared,
            "formula": self.formula,
            "weights": dict(weights._asdict()),
            "set_aside_hubs": self.set_aside_hubs,
            "words_by": self.words_by,
        }

    def _check_recall(self, recall: Any) -> None:
        if isinstance(recall, bool) or not isinstance(recall, int | float) or not 0 < recall <= 1:
            raise UsageError(f"recall must be above 0 and at most 1, as in 0.95; got {recall!r}")
        if self.exact and recall < 1:
            raise UsageError("exact compares all, so its recall is 1: leave recall or exact out")
        if self.compared is not None and self.wanted is not None:
            raise UsageError("recall says how many are compared: leave compared or recall out")
        if self.signed is not None and recall == 1:
            raise UsageError("signatures do not find all: leave recall=1 or signed out")
