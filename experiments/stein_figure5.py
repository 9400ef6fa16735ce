"""STEIN Figure 5: recall, precision and time at similarity, of fuzzy-fingerprinting and of p-stable LSH.

usage: python -m experiments.stein_figure5 [FILE.parquet[:LANGUAGE] ...] [--documents N] [--sample N] [--write]

Without files, a generated collection is searched. With a language, the reference distribution of wordfreq is tried,
too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from scipy.sparse import csr_array

from experiments.figure import grid, save
from sosie import Features, FuzzyFingerprint, KeyIndex, Keys, PStable, Shingles
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.signatures.at_similarity import AtSimilarity, at_similarity

DOCS = Path(__file__).resolve().parent.parent / "docs"
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SHOWN = (0.5, 0.7, 0.8, 0.9, 0.95)
TIMED, RUNS = 200, 9  # queries whose search is timed, and how often
SEED = 1  # of the sample; the defaults were chosen with others
FUZZY, STABLE, SUMS, LINEAR = "fuzzy-fingerprinting", "p-stable LSH", "p-stable LSH, sums", "linear search"


@dataclass(frozen=True)
class Collection:
    """Texts, and what was measured of them: by method, and milliseconds per query by method and size."""

    name: str
    texts: Any
    language: str | None = None
    results: dict[str, AtSimilarity] = field(default_factory=dict)
    lengths: list[float] = field(default_factory=list)
    milliseconds: dict[str, list[float]] = field(default_factory=dict)

    @property
    def words(self) -> float:
        """How many words a document has on the mean."""
        return float(np.mean(self.lengths))

    @property
    def sizes(self) -> list[int]:
        """The numbers of documents that are searched."""
        return [len(self.texts) * part // 4 for part in (1, 2, 3, 4)]


def measure(collection: Collection, sample: int) -> None:
    """Sign the collection by every method and compare what keys find with exact cosines."""
    texts = collection.texts
    features = Shingles(1).extract(texts, counts=True)
    collection.lengths.append(features.counts.sum() / len(features))
    signers = {FUZZY: FuzzyFingerprint().fit(texts), STABLE: PStable().fit(), SUMS: PStable(encoding="sum").fit()}
    if collection.language:
        signers[f"{FUZZY}, wordfreq"] = FuzzyFingerprint().fit(language=collection.language)
    for name, signer in signers.items():
        keys = signer.keys(texts)
        collection.results[name] = at_similarity(keys, features, features.counts, THRESHOLDS, sample=sample, seed=SEED)
        if name in (FUZZY, STABLE):
            collection.milliseconds[name] = [_by_keys(keys, size) for size in collection.sizes]
    collection.milliseconds[LINEAR] = [_linear(features, size) for size in collection.sizes]


def _by_keys(keys: Keys, size: int) -> float:
    index = KeyIndex(Keys(keys.values[:size]))
    queries = Keys(keys.values[:: max(1, len(keys) // TIMED)][:TIMED])
    return _milliseconds(lambda: index.candidates(queries, threads=1)) / len(queries)


def _linear(features: Features, size: int) -> float:
    """Compare queries with all documents over their inverted lists: as fast as an exact search of vectors is here."""
    columns = np.unique(features.hashes, return_inverse=True)[1]
    matrix = csr_array((features.counts.astype(np.float64), columns, features.offsets))
    queries, inverted = matrix[:: max(1, len(features) // 20)][:20], matrix[:size].T.tocsr()
    return _milliseconds(lambda: queries @ inverted) / int(queries.shape[0])


def _milliseconds(search: Callable[[], Any]) -> float:
    """Return the time of the fastest of some runs: what the machine does besides does not count."""
    times = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        search()
        times.append(time.perf_counter() - begin)
    return 1000 * min(times)


def draw(collections: list[Collection]) -> Any:
    """Return the three plots of the figure, a row for each collection."""
    figure, axes = grid(len(collections), 3)
    for collection, (recall, precision, times) in zip(collections, axes, strict=True):
        for method in (FUZZY, STABLE):
            found = collection.results[method]
            recall.plot(THRESHOLDS, found.recall, marker=".", label=method)
            precision.plot(THRESHOLDS, found.precision, marker=".", label=method)
        for method, values in collection.milliseconds.items():
            times.plot(collection.sizes, values, marker=".", label=method)
        recall.set(title=f"{collection.name}: recall", xlabel="cosine at least", ylim=(0, 1.02))
        precision.set(title="precision", xlabel="cosine at least", ylim=(0, 1.02))
        times.set(title="milliseconds a query", xlabel="documents", ylim=(0, None))
        for axis in (recall, times):
            axis.legend(frameon=False)
    return figure


def page(collections: list[Collection], sample: int) -> str:
    """Return the page: ours beside theirs, and where they differ."""
    lines = [
        "# STEIN Figure 5: fuzzy-fingerprinting and p-stable LSH at work",
        "",
        "Written by `python -m experiments.stein_figure5`. B. Stein, *Principles of hash-based text retrieval*, SIGIR",
        "2007, section 4: recall and precision of what a hash-based search returns, against the exact cosines of term",
        f"vectors (tf), by the least cosine that counts as similar. Here {sample} random documents of each",
        "collection are searched for among all others; a document is not its own answer. One draw of these documents,",
        "and one seed of each method.",
        "",
        f"`{FuzzyFingerprint()}`",
        "",
        f"`{PStable()}`",
        "",
        "![recall, precision and time](../images/experiments/stein-figure5.png)",
        "",
    ]
    for collection in collections:
        any_found = next(iter(collection.results.values()))
        lines += [
            f"## {collection.name}: {any_found.documents:,} documents of {collection.words:.0f} words on the mean",
            "",
            "| method | " + " | ".join(f"R >= {level}" for level in SHOWN)
            + " | " + " | ".join(f"P >= {level}" for level in SHOWN) + " | result size | collection / result |",
            "|---|" + "---|" * (2 * len(SHOWN) + 2),
        ]  # fmt: skip
        places = [THRESHOLDS.index(level) for level in SHOWN]
        for name, found in collection.results.items():
            cells = [f"{found.recall[i]:.3f}" for i in places] + [f"{found.precision[i]:.3f}" for i in places]
            size = [f"{found.result_size:,.0f}", f"{found.reduction:,.0f}"]
            lines.append(f"| {name} | {' | '.join([*cells, *size])} |")
        pairs = ", ".join(f"{any_found.similar[i]:,} (>= {THRESHOLDS[i]})" for i in places)
        lines += ["", f"Similar pairs in the sample: {pairs}.", ""]
        lines += ["| milliseconds a query | " + " | ".join(f"{size:,}" for size in collection.sizes) + " |"]
        lines += ["|---|" + "---|" * len(collection.sizes)]
        for name, values in collection.milliseconds.items():
            lines.append(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |")
        lines.append("")
    return "\n".join(lines + COMMENT)


COMMENT = """## Theirs, and where we differ

The paper plots, for 100,000 web pages on chosen topics: recall near 1 above 0.8 for both methods and low below;
precision of fuzzy-fingerprinting well above that of LSH; both orders of magnitude faster than linear search.

- **As there**: recall is high where documents are nearly the same and falls quickly below. Among real texts, at a
  cosine of 0.9 both find more than nine of ten with results more than 50 times smaller than the collection, and
  faster than by comparing all: several to dozens of times, not hundreds, for this linear search is not naive. It
  runs over inverted lists, as compiled code.
- **Not as there**: fuzzy-fingerprinting is not more precise than p-stable LSH. With results of about the same size it
  finds a little less, with three times as many keys. The paper's LSH adds up the values of all random functions with
  one shared shift. The rows "sums" show what that costs: the sums of 24 functions take few values, and results are
  nearly the whole collection. Ours are hashes of tuples, with a shift for each function.
- **More codes for each document.** The paper had 2 or 3 fuzzification schemes, we have 64 with 2 intervals (theirs: 2
  to 4). The real texts here are short, not pages: at 60 words one more moves the deviation of its class, one of 11, by
  1 / sqrt(60 e (1 - e)), half a standard deviation, so that one scheme seldom keeps two versions together.
- **The reference.** The paper takes the British National Corpus; ours is the collection itself, or the word
  frequencies of `wordfreq` in the rows of that name. There, deviations are cut as if words were drawn at random,
  which those of texts on few subjects are not.
- **The cosine** is of raw term counts, stop words included, as in the paper's vector space model: short texts reach
  0.5 by their stop words alone, which no key is meant to find.

The defaults were chosen on the descriptions of Debian packages in English and German, on other samples than those
above.
""".splitlines()


def main() -> None:
    """Run the experiment and write its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "files", nargs="*", help="Parquet files with a column text, each with :LANGUAGE if one is known"
    )
    parser.add_argument("--documents", type=int, default=20_000, help="of the generated collection")
    parser.add_argument("--sample", type=int, default=500, help="documents that are searched for")
    parser.add_argument("--write", action="store_true", help="write docs/experiments/stein-figure5.md, and draw")
    options = parser.parse_args()
    collections = []
    for name in options.files:
        path, _, language = name.partition(":")
        collections.append(Collection(Path(path).stem, pq.read_table(path).column("text"), language or None))
    if not collections:
        generated = next(PlantedCorpus(options.documents).tables(options.documents)).column("text")
        collections.append(Collection("generated", generated))
    for collection in collections:
        measure(collection, options.sample)
    text = page(collections, options.sample)
    print(text)
    if options.write:
        (DOCS / "experiments" / "stein-figure5.md").write_text(text + "\n", "utf-8")
        save(draw(collections), "stein-figure5")


if __name__ == "__main__":
    main()
