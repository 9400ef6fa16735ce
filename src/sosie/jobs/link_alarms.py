"""What a linking says of itself before anyone relies on it: words that are known, other languages, and the recall."""

from __future__ import annotations

import numpy as np

from sosie.crosslingual.alarms import FEW, STRANGE, are_alike, foreign
from sosie.crosslingual.compared import Compared, best_rows
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.projection import Lexical
from sosie.crosslingual.sides import Read
from sosie.crosslingual.terms import Terms
from sosie.crosslingual.views import Views
from sosie.errors import UsageError
from sosie.evaluation.sampling.interval import recall_interval
from sosie.jobs.planning.of_links import SAMPLE, rows_taken
from sosie.report.summary import percent
from sosie.shown import counted
from sosie.storage.room import Room

_NAMED = 3  # documents


def oriented(dictionary: Dictionary, source: Terms, target: Terms) -> tuple[Dictionary, list[str]]:
    """Return a dictionary the way round that the collections want it, and what is to be said of that.

    Refused where it knows almost none of the words of a side either way: then it is for other languages, or both
    collections are in one.
    """
    known = _known(dictionary, source, target)
    turned = dictionary.reversed()
    other_way = _known(turned, source, target)
    if max(min(known), min(other_way)) < STRANGE:
        for shares in ((known[0], other_way[1]), (other_way[0], known[1])):
            if min(shares) >= STRANGE:
                raise UsageError(
                    f"the dictionary knows {percent(shares[0])} of the words of the first collection and"
                    f" {percent(shares[1])} of those of the second as words of the same language. Give collections in"
                    " two languages; `sosie dedup` finds what is alike in one."
                )
        first, second = (max(pair) for pair in zip(known, other_way, strict=True))
        raise UsageError(
            f"the dictionary knows {percent(first)} of the words of the first collection and {percent(second)} of those"
            " of the second: it is for other languages. Give another one, or parallel text of these two languages, or"
            " none to learn from the collections."
        )
    if min(other_way) > 2 * min(known):
        return turned, [
            f"the dictionary is from the second language into the first: it is used the other way round"
            f" ({percent(other_way[0])} of the words of the first collection are known so)"
        ]
    return dictionary, [
        f"the dictionary knows only {percent(share)} of the words of the {which} collection"
        for share, which in zip(known, ("first", "second"), strict=True)
        if share < FEW
    ]


def language_alarms(source: Read, target: Read) -> list[str]:
    """Say which documents seem to be in another language than the rest of their side, or that all are in one."""
    if are_alike(source.terms, target.terms):
        return ["both collections seem to be in the same language: `sosie dedup` finds what is alike in one"]
    said = []
    for which, side, other in (("first", source, target), ("second", target, source)):
        found = foreign(side.terms, other.terms)
        for is_other, of in ((True, "the language of the other collection"), (False, "a third language, or no prose")):
            rows = found.rows[found.other == is_other]
            if len(rows):
                names = ", ".join(str(one) for one in side.ids(rows[:_NAMED]).to_pylist())
                more = ", ..." if len(rows) > _NAMED else ""
                share, seem = percent(len(rows) / len(side.terms)), "seems" if len(rows) == 1 else "seem"
                said.append(
                    f"{counted(len(rows), 'document')} of the {which} collection ({share}) {seem} to be in {of}:"
                    f" {names}{more}"
                )
    return said


def measured_recall(
    views: Views, compared: Compared, k: int, room: Room
) -> tuple[float | None, tuple[float, float] | None]:
    """Return what share of the k most similar targets of each source were compared, measured on a sample of sources.

    Every so-and-so-many-th source is compared with all targets.
    """
    sources = np.flatnonzero(np.diff(views.source.offsets))
    if not len(sources):
        return None, None
    sample = sources[:: max(-(-len(sources) // SAMPLE), 1)]
    best, products = best_rows(rows_taken(views.source, sample), views.target, views.width, k, room)
    pairs = compared.a << 32 | compared.b
    least = products[:, -1][:, None]
    wanted = best >= 0
    # A target as similar as the last of the k is as good as that one.
    found = np.isin(sample[:, None] << 32 | np.maximum(best, 0), pairs) & wanted
    equal = _found_equal(compared, sample, least[:, 0], wanted.sum(axis=1))
    true = wanted.sum(axis=1).astype(np.float64)
    right = np.minimum(np.maximum(found.sum(axis=1), equal), true).astype(np.float64)
    if not true.sum():
        return None, None
    totals = float(true.sum()), float(right.sum())
    interval = recall_interval(true, right, pairs=totals, inside=0, documents=len(sources), known=float(best.shape[1]))
    return totals[1] / totals[0], interval


def _found_equal(compared: Compared, sample: np.ndarray, least: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return of how many compared targets of each sampled source the similarity reaches that of the last wanted."""
    starts, stops = (np.searchsorted(compared.a, sample, side) for side in ("left", "right"))
    reached = [
        int((compared.similarity[start:stop] >= bound).sum())
        for start, stop, bound in zip(starts.tolist(), stops.tolist(), least.tolist(), strict=True)
    ]
    return np.asarray(np.minimum(reached, wanted))


def _known(dictionary: Dictionary, source: Terms, target: Terms) -> tuple[float, float]:
    """Return the share of all words of each side that the dictionary has in that language."""
    shares = []
    for side, backward in ((source, False), (target, True)):
        words = Lexical.of(dictionary, backward).words
        held = np.array([word in words for word in side.words], np.bool_)
        total = int(side.occurrences.sum())
        shares.append(int(side.occurrences[held].sum()) / total if total else 0.0)
    return shares[0], shares[1]
