"""Links across two languages: how often the true one comes first, by what is compared, how it is ranked, and by bits.

usage: python -m benchmarks.crosslingual SOURCE TARGET --truth FILE [--dictionary D | --parallel FILE...] [--bootstrap]

Every document of SOURCE that the truth names is looked for among all of TARGET. Parts of the similarity are compared
alone and together; all pairs are compared, or the nearest by signatures. Each way is ranked twice: by similarity, and
by how far a link stands out, which is what `sosie link` does. P@1 and P@10 are the shares of the documents with a true
link first and among the first ten, MRR is the mean of 1 / rank. Seconds are of one processor, for vectors, comparisons
and ranks, without reading and training. Signatures are of one seed. Results are kept in benchmarks/crosslingual.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.crosslingual.bootstrap import bootstrap
from sosie.crosslingual.compared import Compared, nearest
from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.ranking import Ranked, ranked, selected
from sosie.crosslingual.sides import Read, read_side
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.views import USUAL, Languages, Views, Weights, letter_views, word_views
from sosie.documents.source import Source
from sosie.evaluation.links import measure_links
from sosie.evaluation.truth_file import read_truth
from sosie.jobs.dictionary import Columns, trained
from sosie.jobs.link_alarms import oriented
from sosie.planner.constants.links import COMPARED
from sosie.report.timing import Silent, Timing
from sosie.storage.room import Room
from sosie.types import I64

RESULT = Path(__file__).with_name("crosslingual.json")
BITS = (1000, 2000)
TOP = 10
PARTS = {  # what is compared alone
    "words, sources projected": Weights(1, 0, 0),
    "words, targets projected": Weights(0, 1, 0),
    "words, both directions": Weights(0.5, 0.5, 0),
}
ALL = "words of both directions and letters"


@dataclass(frozen=True, eq=False)
class Task:
    """Two collections, their true links, and what works on them may use."""

    sides: tuple[Read, Read]
    both: Languages
    truth: Any
    room: Room

    def measured(self, name: str, make: Callable[[], Views], by: Signed | None = None) -> Iterator[dict[str, Any]]:
        """Compare what `make` returns, and yield what the links are worth, all and one to one."""
        began = time.process_time()
        compared = nearest(make(), COMPARED, self.room, by)
        links = ranked(compared)
        seconds = time.process_time() - began
        row = {"way": name, "candidates": "all" if by is None else f"{by.bits} bits", "seconds": round(seconds, 1)}
        yield row | {"similarity": self._worth(by_similarity(compared)), "standing": self._worth(links)}
        if name == ALL:
            yield row | {"way": f"{name}, one to one", "standing": self._worth(selected(links, one_to_one=True))}

    def _worth(self, links: Ranked) -> dict[str, float]:
        links = links.take(links.rank <= TOP)
        ids = {"a": self.sides[0].ids(links.a), "b": self.sides[1].ids(links.b)}
        found = measure_links(pa.table({**ids, "rank": links.rank, "similarity": links.similarity}), self.truth)
        worth = {"p1": found.precision_at_1, "p10": found.precision_at_10, "mrr": found.reciprocal}
        return {name: round(value, 4) for name, value in worth.items()}


def by_similarity(compared: Compared) -> Ranked:
    """Rank pairs by nothing but their similarity.

    >>> by_similarity(Compared(np.array([0, 0, 1]), np.array([4, 5, 5]), np.array([0.2, 0.6, 0.9]))).b.tolist()
    [5, 4, 5]
    """
    order = np.lexsort((compared.b, -compared.similarity, compared.a))
    a, b, similarity = compared.a[order], compared.b[order], compared.similarity[order]
    return Ranked(a, b, np.arange(len(a)) - np.searchsorted(a, a) + 1, similarity, similarity)


def ways(task: Task, dictionary: Dictionary) -> Iterator[dict[str, Any]]:
    """Yield a row for each way to link: first the parts, then all of them by each formula, and by signatures."""

    def views(weights: Weights, **options: Any) -> Callable[[], Views]:
        return lambda: word_views(task.both, dictionary, task.room, weights, **options)

    yield from task.measured("letters, no dictionary", lambda: letter_views(task.both, task.room))
    for name, weights in PARTS.items():
        yield from task.measured(name, views(weights))
        if name == next(iter(PARTS)):
            yield from task.measured(f"{name}, the paper's formula", views(weights, formula="paper"))
    yield from task.measured(f"{ALL}, the paper's formula", views(USUAL, formula="paper"))
    for by in (None, *map(Signed, BITS)):
        yield from task.measured(ALL, views(USUAL), by)


def learnt(task: Task) -> Iterator[dict[str, Any]]:
    """Yield a row for a dictionary that is learnt from the collections themselves, and what learning it took."""
    began = time.process_time()

    def texts(side: int, rows: I64) -> dict[int, str]:
        return task.sides[side].texts(rows, task.room.threads)

    found = bootstrap(task.both, texts, task.room, by=Signed())
    spent = round(time.process_time() - began)
    name = f"no dictionary: {len(found.rounds)} rounds of learning, {spent} s"
    yield from task.measured(name, lambda: word_views(task.both, found.dictionary, task.room), Signed())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", metavar="SOURCE")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--truth", required=True, help="true pairs: ids of SOURCE and TARGET")
    words = parser.add_mutually_exclusive_group(required=True)
    words.add_argument("--dictionary", help="that `sosie dictionary` made")
    words.add_argument("--parallel", nargs="+", help="parallel text that a dictionary is trained on")
    parser.add_argument("--bootstrap", action="store_true", help="learn a dictionary from the collections, too")
    parser.add_argument("--id-column", default="id")
    parser.add_argument("--text-column", default="text")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        room = Room(scratch, threads=options.threads)
        task = _task(options, room)
        names = [Path(file).name for file in (options.source, options.target)]
        sizes = [len(side.terms) for side in task.sides]
        asked = len(task.truth["a"].unique())
        result: dict[str, Any] = {"task": names, "asked": asked, "documents": sizes, "rows": []}
        more = learnt(task) if options.bootstrap else iter(())
        for row in chain(ways(task, _dictionary(options, task)), more):
            print(json.dumps(row), flush=True)
            result["rows"].append(row)
            RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print("\n".join(lines(result)))


def lines(result: dict[str, Any]) -> list[str]:
    """Return what each way is worth, for people to read."""
    (name, other), (count, among) = result["task"], result["documents"]
    said = [
        f"Links across languages: {result['asked']:,} of {count:,} documents of {name}, whose twin is known, among",
        f"{among:,} of {other}; ranked by similarity, and by how far links stand out, as `sosie link`",
        "ranks them. Seconds are of one processor, for vectors, comparisons and ranks; signatures are of one seed:",
        "",
        "| what is compared | candidates | P@1 | P@10 | MRR | P@1, standing out | P@10 | MRR | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        cells = [f"{row[by][name]:.4f}" if by in row else "" for by in ("similarity", "standing") for name in _MEASURES]
        said.append(f"| {row['way']} | {row['candidates']} | {' | '.join(cells)} | {row['seconds']:.1f} |")
    return said


_MEASURES = ("p1", "p10", "mrr")


def _task(options: argparse.Namespace, room: Room) -> Task:
    columns = {"id_column": options.id_column, "text_column": options.text_column}
    source, target = (
        read_side(Source(file, **columns).batches(room.threads), room) for file in (options.source, options.target)
    )
    first = np.zeros(1, np.int64)
    truth = read_truth(options.truth, source.ids(first).type, target.ids(first).type)
    return Task((source, target), Languages.of(source.terms, target.terms, room.threads), truth, room)


def _dictionary(options: argparse.Namespace, task: Task) -> Dictionary:
    if options.dictionary:
        made = load_dictionary(options.dictionary)
    else:
        columns = Columns(id_column=options.id_column)
        made, _ = trained(options.parallel, columns, TrainingSpec(), task.room, Timing(Silent()))
    return oriented(made, task.both.source, task.both.target)[0]


if __name__ == "__main__":
    main()
