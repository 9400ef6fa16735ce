"""Known items: is a document found by a line of it? And how long does one query of a large index take?

usage: python -m benchmarks.known_items FILE... [--text-column text] [--items 300] [--rows 1000000] [--seed 0]

Documents are drawn from each file and looked for by their first line, and by 20 words from their middle. A share of the
queries stands in more than ten documents word for word: of m documents that hold a query, the one that was meant is
among any ten with a chance of 10 / m. The column "ceiling" is what a ranking that knows the query alone can be expected
to reach, the mean of min(1, 10 / m), and "held by <= 10" leaves these queries out. The last table is of single queries,
on one thread, to an index of --rows documents: those of the first file, and as many more as it takes, each made of two
halves of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sosie
from sosie.documents.source import Source
from sosie.text.words import fold

WORDS = 20  # of a query from the middle
TOP = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="documents in any format that Sosie reads")
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--items", type=int, default=300)
    parser.add_argument("--rows", type=int, default=1_000_000, help="0 leaves the table of times out")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    collections = {file: _texts(file, options.text_column) for file in options.files}
    print("| collection | documents | index | query | in the top 10 | ceiling | held by <= 10 | first |")
    print("|---|---|---|---|---|---|---|---|")
    for file, texts in collections.items():
        for line in found(file.rsplit("/", 1)[-1], texts, options.items, options.seed):
            print(line, flush=True)
    if options.rows:
        print(f"\n| query, of {options.rows:,} documents | median | 95 of 100 | longest | milliseconds of |")
        print("|---|---|---|---|---|")
        for line in times(next(iter(collections.values())), options.rows, options.items, options.seed):
            print(line, flush=True)


def found(name: str, texts: list[str], items: int, seed: int) -> Iterator[str]:
    """Yield a row for each index and kind of query: how many of the items are found."""
    chosen = np.random.default_rng(seed).choice(len(texts), min(items, len(texts)), replace=False).tolist()
    asked = {kind: [ask(texts[item]) for item in chosen] for kind, ask in QUERIES.items()}
    folded = [_plain(text) for text in texts]
    holders = {kind: np.array([_holders(folded, query) for query in each]) for kind, each in asked.items()}
    wide = sosie.Simhash(bits=1024, weighting="tf-idf", shingles=sosie.Shingles(width=1)).fit(texts)
    indexes = {
        "words (the default)": sosie.TextIndex.of(texts),
        "1024 bits of single words, tf-idf": sosie.TextIndex(sosie.FlatIndex(wide.sign(texts)), wide),
        "64 bits of word triples (for duplicates)": sosie.TextIndex.of(texts, task="duplicates"),
    }
    for title, index in indexes.items():
        for kind, queries in asked.items():
            ranks = np.array([_rank(index, query, item) for query, item in zip(queries, chosen, strict=True)])
            shares = (ranks < TOP, ceiling(holders[kind]), (ranks < TOP)[holders[kind] <= TOP], ranks < 1)
            said = " | ".join(f"{np.mean(share):.1%}" for share in shares)
            yield f"| {name} | {len(texts):,} | {title} | {kind} | {said} |"


def ceiling(holders: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the chance that an item is among any ten of the documents that hold its query as well as it does.

    >>> ceiling(np.array([0, 1, 10, 40])).tolist()
    [1.0, 1.0, 1.0, 0.25]
    """
    return np.minimum(1.0, TOP / np.maximum(holders, 1))


def times(texts: list[str], rows: int, items: int, seed: int) -> Iterator[str]:
    """Yield a row for each kind of query: what one takes when the index is loaded."""
    rng = np.random.default_rng(seed)
    index = sosie.TextIndex.of(_more(texts, rows, rng))
    chosen = rng.choice(len(texts), min(items, len(texts)), replace=False).tolist()
    kinds: dict[str, Callable[[str], str]] = {**QUERIES, "the whole document": lambda text: text}
    index.search([texts[0]], k=TOP, threads=1)
    for kind, ask in kinds.items():
        spent: dict[str, list[float]] = {"the clock": [], "its thread": []}
        for item in chosen:
            queries = index.sign([ask(texts[item])], threads=1)
            clock, thread = time.perf_counter(), time.thread_time()
            index.search(queries, k=TOP, threads=1)
            spent["the clock"].append(1e3 * (time.perf_counter() - clock))
            spent["its thread"].append(1e3 * (time.thread_time() - thread))
        for what, each in spent.items():
            said = " | ".join(f"{value:.1f}" for value in (np.median(each), np.percentile(each, 95), max(each)))
            yield f"| {kind} | {said} | {what} |"


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), text)


def _middle(text: str) -> str:
    words = text.split()
    start = max(0, (len(words) - WORDS) // 2)
    return " ".join(words[start : start + WORDS])


QUERIES: dict[str, Callable[[str], str]] = {"first line": _first_line, "20 words from the middle": _middle}


def _rank(index: Any, query: str, item: int) -> int:
    """Return the place of an item among the matches of a query, beyond the top if it is not there."""
    found = index.search(index.sign([query], threads=1), k=TOP, threads=1).ids.to_pylist()
    return found.index(item) if item in found else TOP


def _plain(text: str) -> str:
    """Return the folded letters and digits of a text with single spaces, so that a part of it can be looked for."""
    return " " + " ".join("".join(c if c.isalnum() else " " for c in fold(text)).split()) + " "


def _holders(folded: list[str], query: str) -> int:
    sought = _plain(query)
    return sum(sought in text for text in folded)


def _more(texts: list[str], rows: int, rng: np.random.Generator) -> pa.Array:
    """Return so many documents: those that there are, and such as are made of the halves of two of them."""
    words = [text.split() for text in texts]
    made = list(texts[:rows])
    for number, other in enumerate(rng.integers(0, len(texts), max(0, rows - len(texts))).tolist()):
        first, second = words[other], words[number % len(words)]
        made.append(" ".join(first[: len(first) // 2] + second[len(second) // 2 :]))
    return pa.array(made, pa.large_string())


def _texts(file: str, column: str) -> list[str]:
    reading = Source(file, text_column=column).batches()
    return [text for batch in reading for text in batch.texts.to_pylist()]


if __name__ == "__main__":
    main()
