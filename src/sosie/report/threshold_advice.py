"""What is said of thresholds for a collection: how near the nearest are, who would go, and pairs to look at."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from sosie.evaluation.thresholds.going import Going
from sosie.evaluation.thresholds.valley import BINS, LEAST, Valley
from sosie.report.differences import Stretch, differences
from sosie.report.examples import Example
from sosie.report.report import JobReport
from sosie.report.summary import counted
from sosie.report.threshold_page import threshold_page
from sosie.shown import as_html, as_text
from sosie.storage.output_file import output_file

_WORDS = 12  # of what differs between two documents, where it is told in one line
_CHUNK = 40  # characters of a word there


@dataclass(frozen=True)
class NearPairs:
    """Pairs of documents, by number, just below a threshold, the nearest first, and just above it."""

    threshold: float
    below: tuple[Example, ...]
    above: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class ThresholdAdvice(JobReport):
    """What is known of thresholds for some documents, by a similarity of their shingles.

    `nearest` counts the sampled documents by how similar the nearest other document is to them: below 0.3, then in
    steps of 0.05. `identical` of them have the same shingles as another. `valley` is None where there is none; then
    `threshold` is the usual one, else it is in the valley. `going` says for six thresholds how many documents would go,
    `near` which pairs are nearest to each. `ids` and `texts` are those of the documents in these pairs, by number; a
    text is cut where it is very long. `measure` is what similar means, `shingles` what is compared.
    """

    format: str = "sosie-threshold"
    version: int = 1
    measure: str
    shingles: dict[str, Any]
    documents: int
    rejected: int
    wordless: int
    sampled: int
    seed: int
    nearest: tuple[int, ...]
    identical: int
    valley: Valley | None
    related: Valley | None
    threshold: float
    going: tuple[Going, ...]
    near: tuple[NearPairs, ...]
    ids: dict[int, Any] = field(repr=False)
    texts: dict[int, str] = field(repr=False)

    @property
    def edges(self) -> tuple[float, ...]:
        """Where the steps of `nearest` begin."""
        return (0.0, *(step / BINS for step in range(LEAST, BINS)))

    @property
    def alike(self) -> list[tuple[str, bool, NearPairs]]:
        """The pairs of `near`, once for neighbouring thresholds that have the same: as "0.8" or as "0.5 to 0.7".

        With it, whether the proposed threshold is among them.
        """
        runs = [list(run) for _, run in groupby(self.near, key=lambda each: (each.below, each.above))]
        return [
            (
                f"{run[0].threshold:g}" + (f" to {run[-1].threshold:g}" if len(run) > 1 else ""),
                any(each.threshold == self.threshold for each in run),
                run[0],
            )
            for run in runs
        ]

    @property
    def code(self) -> bool:
        """Whether the texts are compared as code."""
        return self.shingles.get("unit") == "code"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data: of the pairs, what differs in a few words."""
        said = super().to_dict()
        for name in ("ids", "texts"):
            del said[name]
        return said | {
            "nearest": [{"from": edge, "documents": n} for edge, n in zip(self.edges, self.nearest, strict=True)],
            "valley": None if self.valley is None else asdict(self.valley),
            "related": None if self.related is None else asdict(self.related),
            "going": [{**asdict(each), "interval": list(each.interval)} for each in self.going],
            "near": [
                {
                    "threshold": each.threshold,
                    "below": [self._pair(pair) for pair in each.below],
                    "above": [self._pair(pair) for pair in each.above],
                }
                for each in self.near
            ],
        }

    def _pair(self, pair: Example) -> dict[str, Any]:
        only_a, only_b = self.differing(pair)
        named = {"a": self.ids[pair.a], "b": self.ids[pair.b], "similarity": pair.similarity}
        return {**named, "shared": pair.shared, "total": pair.total, "only_a": only_a, "only_b": only_b}

    def differing(self, pair: Example) -> tuple[str, str]:
        """Return what each of two documents has that the other has not, in a few words."""
        left, right = differences(self.texts[pair.a], self.texts[pair.b], self.code)
        return _changed(left), _changed(right)

    def said(self) -> list[str]:
        """Return in sentences what was found: how near the nearest are, the valley, and which threshold follows."""
        return list(_sentences(self))

    def command(self, inputs: Sequence[str] = (), more: Sequence[str] = ()) -> str:
        """Return the command that de-duplicates at the threshold, with more options, such as how inputs are read."""
        words = ["sosie", "dedup", *(inputs or ["DOCUMENTS"]), "-o", "OUT", *more, "--threshold", f"{self.threshold:g}"]
        return shlex.join(words + ([] if self.measure == "jaccard" else ["--similarity", self.measure]))

    def write_page(self, path: str | os.PathLike[str], *, command: str | None = None, overwrite: bool = False) -> None:
        """Write a page that shows all of it, with the texts of the pairs; it appears whole or not at all."""
        html = threshold_page(self, command or self.command())
        with output_file(path, overwrite) as hidden:
            hidden.write_text(html, "utf-8", newline="\n")

    def __repr__(self) -> str:
        return as_text("ThresholdAdvice", self._lines())

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_html("ThresholdAdvice", self._lines())

    def _lines(self) -> list[tuple[str, str]]:
        rows = [("documents", f"{self.documents:,}, of which {self.sampled:,} were held against all")]
        rows += [("", sentence) for sentence in self.said()]
        return [*rows, *((f"at {each.threshold:g}", going_line(each)) for each in self.going)]


def going_line(going: Going) -> str:
    """Say how many documents go at a threshold.

    >>> going_line(Going(0.8, 120, 0.12, (0.12, 0.12), True)), going_line(Going(0.8, 120, 0.12, (0.1, 0.145), False))
    ('120 go, 12 %', 'about 120 go, 12 % (95 % interval 10 to 14.5 %)')
    """
    about = "" if going.exact else "about "
    return f"{about}{going.documents:,} {'goes' if going.documents == 1 else 'go'}, {share_of(going)}"


def share_of(going: Going) -> str:
    """Return the share of documents that go, with its interval where it was estimated."""
    if going.exact:
        return f"{_percent(going.share)} %"
    low, high = map(_percent, going.interval)
    return f"{_percent(going.share)} % (95 % interval {low} to {high} %)"


def _percent(share: float) -> str:
    return f"{100 * share:.3g}"


def _sentences(advice: ThresholdAdvice) -> Iterator[str]:
    if not advice.documents:
        yield "There are no documents: nothing can be said of a threshold."
        return
    if advice.documents == 1:
        yield "There is one document: it is similar to no other, whatever the threshold."
        return
    if advice.wordless == advice.documents:
        yield "No document has words to compare: those that are identical byte for byte go at any threshold."
        return
    alone, drawn = advice.nearest[0], " drawn at random" if advice.sampled < advice.documents else ""
    yield (
        f"Of {counted(advice.sampled, 'document')}{drawn}, {alone:,} {_have(alone)} no other with a similarity of 0.3"
        f" or more, and {advice.identical:,} {_have(advice.identical)} one with a similarity of 1."
    )
    if (low := advice.related) is not None:
        yield (
            f"From {low.low:g} to {low.high:g} there are fewer than on both sides: that parts what is related from what"
            " is not. What shares less than half is no copy, so no threshold is proposed there."
        )
    valley = advice.valley
    if valley is not None:
        yield (
            f"There is a valley from {valley.low:g} to {valley.high:g}: {valley.inside:,} have their nearest one there,"
            f" {valley.below:,} below and {valley.above:,} above, significantly more on both sides. A threshold of"
            f" {valley.threshold:g} is where it is deepest."
        )
        return
    if advice.identical == advice.sampled:
        yield "There is no valley: each has one with a similarity of 1, which any threshold finds."
    elif alone == advice.sampled:
        yield "There is no valley: none has a similar one. Any threshold from 0.3 on drops little or nothing."
    else:
        yield (
            f"There is no valley{' above' if low else ''}: nowhere are similarities significantly rarer than on both"
            f" sides{_few(advice.sampled)}. The numbers do not choose a threshold: look at the pairs."
            f" {advice.threshold:g} is the usual one."
        )


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _few(sampled: int) -> str:
    return ", and so few documents could hardly show one" if sampled < 100 else ""


def _changed(runs: list[Stretch]) -> str:
    """Return the words of one side alone, a few of them, each run apart."""
    words, parts = 0, []
    for run in runs:
        if run.kind != "changed":
            continue
        if words >= _WORDS:
            parts.append("…")
            break
        some = run.chunks[: _WORDS - words]
        words += len(some)
        cut = " …" if len(some) < len(run.chunks) else ""
        parts.append(" ".join("".join(chunk[:_CHUNK] for chunk in some).split()) + cut)
    return " | ".join(parts)
