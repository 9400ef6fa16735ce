"""Is exact what it says? Kept documents and pairs of a collection, held against a comparison of all with all.

`python -m benchmarks.exactness FILE...` prints for each width, measure and threshold how many documents stay and how
many pairs there are, by Sosie and by the definition (SciPy's sparse products, in integers), and how long Sosie took.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.sparse import csr_array

from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.features.collect import collect
from sosie.features.shingles import Shingles
from sosie.jobs.dedup import Deduplicator
from sosie.matches.sets.join import join_features
from sosie.storage.room import Room

MEASURES = ("jaccard", "cosine", "containment")
THRESHOLDS = ("0.3", "0.5", "0.7", "0.8", "0.9")
CHUNK = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--widths", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--thresholds", nargs="+", default=list(THRESHOLDS))
    parser.add_argument("--measures", nargs="+", default=list(MEASURES))
    parser.add_argument("--no-definition", action="store_true", help="only run Sosie")
    given = parser.parse_args()
    for path, width in product(given.files, given.widths):
        with tempfile.TemporaryDirectory() as scratch:
            features = collect(Source(path).batches(), Shingles(width), Room(scratch)).features
            cases = list(product(given.measures, map(Fraction, given.thresholds)))
            print(f"{path}, width {width}: {len(features):,} documents, {len(features.hashes):,} features")
            truth = {case: (None, None) for case in cases} if given.no_definition else defined(features, cases)
            for measure, threshold in cases:
                stays, pairs = truth[measure, threshold]
                print(f"  {measure:12s}{float(threshold):4.1f}", _dedup(path, width, measure, threshold, stays), end="")
                print(_join(features, measure, threshold, pairs), flush=True)


def _dedup(path: str, width: int, measure, threshold: Fraction, stays) -> str:
    job = Deduplicator(threshold=threshold, method="exact", shingles=Shingles(width), similarity=measure)
    start = time.perf_counter()
    result = job.run(path)
    took = time.perf_counter() - start
    kept = np.flatnonzero(result.mask)
    verdict = "" if stays is None else "as defined" if np.array_equal(kept, np.flatnonzero(stays)) else "WRONG"
    unlisted = result.report["counters"].get("unlisted_pairs", 0)
    return f"kept {len(kept):>7,} {verdict} in {took:5.1f} s ({unlisted:,} pairs not listed)"


def _join(features, measure, threshold: Fraction, pairs) -> str:
    start = time.perf_counter()
    try:
        found = join_features(features, threshold=threshold, measure=measure)
    except UsageError as refused:
        told = str(refused).split(" pairs")[0]
        return f"; join refused in {time.perf_counter() - start:.1f} s: {told}; there are {pairs}"
    took = time.perf_counter() - start
    verdict = "" if pairs is None else "as defined" if len(found) == pairs else f"WRONG, {pairs:,}"
    return f"; join {len(found):>11,} pairs {verdict} in {took:5.1f} s"


def defined(features, cases):
    """Return who stays and how many pairs there are, for each case, from the overlaps of all with all."""
    sizes = features.sizes.astype(np.int32)
    stays = {case: np.ones(len(sizes), np.bool_) for case in cases}
    pairs = dict.fromkeys(cases, 0)
    for first, overlaps in _overlaps(features):
        rows = np.arange(first, first + len(overlaps))
        for case in cases:
            similar = _reaches(overlaps, sizes[rows][:, None], sizes[: overlaps.shape[1]], *case)
            for row, near in zip(rows, similar, strict=True):
                near = near[:row]
                pairs[case] += int(np.count_nonzero(near))
                stays[case][row] = not (near & stays[case][:row]).any()
    return {case: (stays[case], pairs[case]) for case in cases}


def _reaches(shared, a, b, measure: str, threshold: Fraction):
    p, q = threshold.numerator, threshold.denominator
    some = shared > 0
    if measure == "jaccard":
        return (shared * (p + q) >= p * (a + b)) & some
    if measure == "containment":
        return (shared * q >= p * np.minimum(a, b)) & some
    return ((shared.astype(np.int64) * q) ** 2 >= p * p * a.astype(np.int64) * b) & some


def _overlaps(features) -> Iterator[tuple[int, np.ndarray]]:
    _, columns = np.unique(features.hashes, return_inverse=True)
    ones = np.ones(len(columns), np.int32)
    sets = csr_array((ones, columns, features.offsets), shape=(len(features), int(columns.max(initial=0)) + 1))
    for first in range(0, len(features), CHUNK):  # of each row the earlier ones, and those of its chunk
        here, before = sets[first : first + CHUNK], sets[: first + CHUNK]
        yield first, (here @ before.T.tocsr()).toarray()


if __name__ == "__main__":
    main()
