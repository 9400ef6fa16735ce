"""How many documents a de-duplication would drop at a threshold: counted where all pairs are known, else estimated.

A document goes if an earlier one that stays is similar to it. Of a sampled one two things are certain without looking
at all others: it stays if no earlier one is similar; and it goes if the first one that is stays itself, because nothing
before that is similar to it. In between, it depends on documents that were not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import betaincinv

from sosie.clusters.grouping import anchored
from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.thresholds.neighbours import GRID, Neighbours, first_before
from sosie.matches.equal.groups import Groups
from sosie.types import VerifiedPairs

TAIL = 0.025  # on each side of a 95 % interval


@dataclass(frozen=True)
class Going:
    """About how many documents go at a threshold, and what share of all that is.

    Where they were counted, both ends of the `interval` of the share are the share. Where they were estimated, it holds
    the true one in at least 95 % of samples, and `share` is the middle of what the sample says.
    """

    threshold: float
    documents: int
    share: float
    interval: tuple[float, float]
    exact: bool


def count_going(
    distinct: Comparison, groups: Groups, verified: VerifiedPairs, thresholds: list[Fraction], documents: int
) -> list[Going]:
    """Count who goes at each threshold, given all pairs of groups in keep order that reach the least of them."""
    counted = []
    for threshold in thresholds:
        clusters = anchored(len(groups), verified.take(distinct.reaches(verified, threshold)))
        stays = int((clusters.anchor == np.arange(len(groups))).sum())
        going = len(groups.rows) - stays
        share = going / max(documents, 1)
        counted.append(Going(float(threshold), going, share, (share, share), True))
    return counted


def estimate_going(
    distinct: Comparison, found: Neighbours, thresholds: list[Fraction], documents: int, threads: int | None = None
) -> list[Going]:
    """Estimate from the sample who goes at each threshold, all on the GRID: the first similar ones are looked at, too.

    >>> estimated = interval_of(30, 40, 1000)
    >>> round(estimated[0], 4), round(estimated[1], 4)
    (0.0203, 0.0541)
    """
    places = [GRID.index(threshold) for threshold in thresholds]
    first = found.first[places]
    earlier = np.unique(first[first != found.probes])
    before = first_before(distinct, earlier, min(thresholds), threads)[places]
    drawn, estimated = len(found.probe), []
    for threshold, firsts, befores in zip(thresholds, first, before, strict=True):
        goes = firsts != found.probes
        surely = goes.copy()
        surely[goes] = (befores == earlier)[np.searchsorted(earlier, firsts[goes])]
        least, most = (int((found.again | np.append(flags, False)[found.probe]).sum()) for flags in (surely, goes))
        share = (least + most) / (2 * max(drawn, 1))
        if drawn >= documents:
            low, high = least / max(drawn, 1), most / max(drawn, 1)
        else:
            low, high = interval_of(least, most, drawn)
        estimated.append(Going(float(threshold), round(share * documents), share, (low, high), False))
    return estimated


def interval_of(least: int, most: int, drawn: int) -> tuple[float, float]:
    """Return the 95 % interval of a share of which `least` to `most` were seen among so many (Clopper and Pearson)."""
    low = float(betaincinv(least, drawn - least + 1, TAIL)) if least else 0.0
    high = float(betaincinv(most + 1, drawn - most, 1 - TAIL)) if most < drawn else 1.0
    return low, high
