"""Is the stated recall the true one? What window, minhash and probes say of theirs, beside an exact comparison.

usage: python -m benchmarks.stated_recall [FILE ...] [--most N] [--text-column text] [--method window minhash probes]
                                          [--seed 0]

For each method there are three generated collections, and the texts of each FILE, each once, or the first --most
of them. With three files these are 72 settings. Where there are fewer than 50 pairs, one pair is more than .02: such a
setting is printed and not judged. A window says what share it found of all pairs within the radius, held against
brute force; minhash what share of all pairs that reach the threshold, against the exact join; probes what share of all
matches, against block tables, for other queries than those that they were chosen by. With another --seed, windows and
minhash draw other orders and hash functions: the same pairs, of which others are found.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sosie
from benchmarks.near_pairs import near_pairs, packed
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.evaluation.planted import PlantedCorpus

NEAR = 0.02
FEW = 50  # pairs: one of fewer is more than that
WINDOWS = ((400, 100, 10), (400, 100, 50), (400, 30, 50), (350, 50, 10))  # radius, tables, window
MINHASHES = ((128, 8, 0.7), (126, 7, 0.6), (60, 4, 0.5), (30, 5, 0.7))  # minima, rows, threshold
PROBES = ((3, 0.95), (3, 0.8), (6, 0.9), (6, 0.7))  # radius, recall that is asked for


class Setting(NamedTuple):
    """One method with its parameters on one collection: what it states, and what is so."""

    method: str
    data: str
    parameters: str
    stated: float | None
    interval: tuple[float, float] | None
    true: float
    of: int

    @property
    def is_judged(self) -> bool:
        return self.of >= FEW

    @property
    def is_near(self) -> bool:
        return self.stated is not None and abs(self.stated - self.true) <= NEAR

    @property
    def is_held(self) -> bool:
        return self.interval is not None and self.interval[0] <= self.true <= self.interval[1]

    def __str__(self) -> str:
        stated = "none" if self.stated is None else f"{self.stated:.3f}"
        apart = "" if self.stated is None else f"{self.stated - self.true:+.3f}"
        interval = "" if self.interval is None else f"{self.interval[0]:.3f} to {self.interval[1]:.3f}"
        cells = self.method, self.data, self.parameters, stated, interval, f"{self.true:.3f}", apart, f"{self.of:,}"
        return f"| {' | '.join(cells)} |"


def main() -> None:
    methods = {"window": windows, "minhash": minhashes, "probes": probes}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="texts in any format that Sosie reads")
    parser.add_argument("--most", type=int, help="texts of a file; default: all")
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--method", nargs="+", choices=list(methods), default=list(methods))
    parser.add_argument("--seed", type=int, default=0, help="of the orders of a window and the functions of minhash")
    options = parser.parse_args()
    files = {file.rsplit("/", 1)[-1]: _texts(file, options.text_column, options.most) for file in options.files}
    print("| method | collection | parameters | stated | interval | true | apart | of pairs |")
    print("|---|---|---|---|---|---|---|---|")
    settings = []
    for name in options.method:
        for setting in methods[name](files, options.seed):
            settings.append(setting)
            print(setting, flush=True)
    print()
    for name in options.method:
        print(summary(name, [setting for setting in settings if setting.method == name]))
    print(summary("all", settings))


def summary(name: str, settings: list[Setting]) -> str:
    judged = [setting for setting in settings if setting.is_judged]
    silent = sum(setting.stated is None for setting in judged)
    intervals = [setting for setting in judged if setting.interval is not None]
    near, held = sum(each.is_near for each in judged), sum(each.is_held for each in intervals)
    return (
        f"{name}: within {NEAR} in {near} of {len(judged)} settings ({near / max(len(judged), 1):.0%}), of which "
        f"{silent} state none; {held} of {len(intervals)} intervals hold the truth; "
        f"{len(settings) - len(judged)} settings have fewer than {FEW} pairs"
    )


def windows(files: dict[str, Any], seed: int = 0) -> Iterator[Setting]:
    """Yield settings of the sliding window, over 1000 bits."""
    collections = {f"generated, cosines about {0.3 + mean:.2f}": similar(20_000, mean) for mean in (0.05, 0.1, 0.2)}
    words = sosie.RandomProjection(bits=1000, weighting="bm25", shingles=sosie.Shingles(width=1))
    for name, texts in files.items():
        collections[name] = words.fit(texts).sign(texts)
    for name, rows in collections.items():
        for radius, tables, window in WINDOWS:
            found = sosie.join(rows, radius=radius, method=sosie.Window(tables, window, seed=seed))
            every = len(sosie.join(rows, radius=radius, method="brute"))
            parameters = f"radius {radius}, Q = {tables}, B = {window}"
            true = len(found) / every if every else 1.0
            yield Setting("window", name, parameters, found.recall, found.interval, true, every)


def similar(count: int, mean: float, seed: int = 0) -> sosie.Signatures:
    """Return random signatures, half of them with one whose cosine is .3 and something of that mean."""
    rng = np.random.default_rng(seed)
    bits = rng.random((count, 1000)) < 0.5
    half = count // 4
    cosine = np.minimum(0.3 + rng.exponential(mean, (half, 1)), 0.99)
    bits[-half:] = bits[:half] ^ (rng.random((half, 1000)) < np.arccos(cosine) / np.pi)
    padded = np.concatenate([bits, np.zeros((count, 24), np.bool_)], axis=1)
    return sosie.Signatures(packed(padded), 1000)


def minhashes(files: dict[str, Any], seed: int = 0) -> Iterator[Setting]:
    """Yield settings of de-duplication by minhash."""
    corpora = (PlantedCorpus(20_000, 0.2, 1), PlantedCorpus(10_000, 0.3, 2, (20, 40)), PlantedCorpus(20_000, 0.5, 3))
    collections = {f"generated, seed {corpus.seed}": _unique(_made(corpus)) for corpus in corpora}
    for name, texts in {**collections, **files}.items():
        for minima, rows, threshold in MINHASHES:
            result = sosie.dedup(texts, threshold, method=sosie.Minhash(minima=minima, rows=rows, seed=seed))
            every = len(sosie.join(texts, threshold=threshold).table)
            parameters = f"threshold {threshold}, {minima} minima in bands of {rows}"
            unlisted = result.report["counters"]["unlisted_pairs"]
            if unlisted:
                parameters += f", {unlisted:,} pairs not listed"
            true = len(result.pairs) / every if every else 1.0
            yield Setting("minhash", name, parameters, *stated_by(result.report), true, every)


def stated_by(report: Any) -> tuple[float | None, tuple[float, float] | None]:
    """Return the share that a de-duplication states in its report, and its interval; none where it estimates none."""
    said = report.get("estimated_recall")
    return (None, None) if said is None else (said["recall"], tuple(said["interval"]))


def probes(files: dict[str, Any], seed: int = 0) -> Iterator[Setting]:
    """Yield settings of the probe index: calibrated by some queries, asked by others; nothing there is drawn."""
    for edits in (2, 4, 8):
        rows, sample, queries = _edited(16_000, 1 << 17, edits)
        yield from _probed(f"generated, {edits} edits", rows, sample, queries)
    for name, texts in files.items():
        rows = sosie.Simhash(bits=64).fit().sign(texts, volatility=True)
        halves = (np.arange(start, len(rows), 2) for start in (0, 1))
        yield from _probed(name, rows, *(rows.take(half) for half in halves))


def _probed(name: str, rows: Any, sample: Any, queries: Any) -> Iterator[Setting]:
    index = sosie.ProbeIndex(rows)
    for radius, recall in PROBES:
        parameters = f"radius {radius}, recall {recall}"
        every = len(sosie.BlockIndex(rows, radius).within(queries, radius, exclude_self=True).rows)
        try:
            effort = index.calibrate(sample, radius, recall, exclude_self=True)
        except UsageError as refused:
            yield Setting("probes", name, f"{parameters}: {refused}", None, None, 1.0, every)
            continue
        found = index.within(queries, radius, effort=effort, exclude_self=True)
        true = len(found.rows) / every if every else 1.0
        yield Setting("probes", name, f"{parameters}: {effort.probes} probes", found.recall, None, true, every)


def _edited(asked: int, count: int, edits: int) -> tuple[Any, Any, Any]:
    """Return rows, and two sets of queries that are edited copies of some of them; ids tell all apart."""
    made = [near_pairs(asked, seed, edits) for seed in (1, 2)]
    others = np.random.default_rng(edits).integers(0, 2**64, (count - 2 * asked, 1), dtype=np.uint64)
    rows = sosie.Signatures(np.concatenate([*(originals.words for originals, _ in made), others]))
    named = (
        sosie.Signatures(
            copies.words, ids=np.arange(count + i * asked, count + (i + 1) * asked), volatility=copies.volatility
        )
        for i, (_, copies) in enumerate(made)
    )
    return rows, *named


def _made(corpus: PlantedCorpus) -> Any:
    return pa.concat_arrays([chunk for table in corpus.tables() for chunk in table["text"].chunks])


def _texts(file: str, column: str, most: int) -> Any:
    read = [batch.texts for batch in Source(file, text_column=column).batches()]
    return _unique(pa.concat_arrays(read))[:most]


def _unique(texts: Any) -> Any:
    return texts.unique()


if __name__ == "__main__":
    main()
