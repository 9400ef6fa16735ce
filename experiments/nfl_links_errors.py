"""NFL 6.3 and Table 3: how many documents have their twin first, what the others have instead, and examples.

usage: python -m experiments.nfl_links_errors [--source FILE --target FILE --dictionary D] [--write]

SOURCE and TARGET are Parquet files with columns key, text and package; twins have the same key. All pairs are compared.
The paper takes the most similar target of each source, by projected vectors; `sosie link` ranks by how far links stand
out. A miss is a source whose first link by the latter is not its twin. Examples are drawn with one seed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.nfl_links_data import PROJECTED, Bilingual, add_sides, read_sides
from experiments.slice_page import percent, publish, table
from sosie import Shingles
from sosie.crosslingual.compared import best_rows, nearest, similarities
from sosie.crosslingual.ranking import Ranked, ranked
from sosie.crosslingual.views import USUAL, Views
from sosie.evaluation.links import measure_links
from sosie.jobs.link_spec import BEST
from sosie.matches.sets.rows import sets_of
from sosie.matches.sets.similarity import Similarity
from sosie.matches.verify import similarities as set_similarities
from sosie.planner.constants.links import COMPARED
from sosie.types import F64, I64, Bools

LEAST = 0.3  # the paper's threshold
NEAR = 0.5  # Jaccard similarity of the words of two targets that are nearly the same text
LENGTHS = 1.5  # times as long or as short as twins are in the middle
PAPER = (130, 401)  # documents whose interwiki link is the most similar article, of those that have one
EXAMPLES = 3
KINDS = frozenset("common core data dbg dev doc docs i18n l10n lang".split())  # parts of names that tell siblings apart
SHOWN = 5  # links of an example


@dataclass(frozen=True, eq=False)
class Missed:
    """Sources whose first link is not the twin: rows, the twin, the first, and the similarity of each."""

    source: I64
    twin: I64
    first: I64
    twin_similarity: F64
    first_similarity: F64
    among: Bools  # whether the twin is among the ten

    @property
    def gap(self) -> F64:
        """How much more similar the first is than the twin; below 0, the twin is more similar but stands out less."""
        return self.first_similarity - self.twin_similarity


def by_similarity(task: Bilingual, views: Views) -> Ranked:
    """Return the most similar targets of each source."""
    best, products = best_rows(views.source, views.target, views.width, BEST, task.room)
    a, place = np.nonzero(best >= 0)
    return Ranked(a, best[a, place], place + 1, products[a, place], products[a, place])


def standing_out(task: Bilingual, views: Views) -> Ranked:
    """Return the first links of each source, ranked as `sosie link` does."""
    links = ranked(nearest(views, COMPARED, task.room))
    return links.take(links.rank <= BEST)


def worth(task: Bilingual, name: str, links: Ranked, views: Views) -> list[Any]:
    """Return a row: how many twins are first and among ten, and how many documents and twins miss the threshold."""
    pairs = pa.table({"a": links.a, "b": links.b, "rank": links.rank, "similarity": links.similarity})
    found = measure_links(pairs, pa.table({"a": task.a, "b": task.b}), LEAST)
    similar = np.zeros(len(task.names[0]), np.bool_)
    similar[links.a[links.similarity >= LEAST]] = True
    below = similarities(views, task.a, task.b) < LEAST
    shares = f"{found.first:,} ({percent(found.precision_at_1)})", percent(found.precision_at_10)
    return [name, f"{found.asked:,}", *shares, f"{int((~similar[task.a]).sum()):,}", f"{int(below.sum()):,}"]


def missed(task: Bilingual, links: Ranked, views: Views) -> Missed:
    """Return the sources whose first link is another than their twin; those without a link are left out."""
    first = links.first
    twins = np.full(len(task.names[0]), -1)
    twins[task.a] = task.b
    wrong = (twins[first.a] >= 0) & (first.b != twins[first.a])
    source, other, similarity = first.a[wrong], first.b[wrong], first.similarity[wrong]
    right = links.a[links.b == twins[links.a]]
    own = similarities(views, source, twins[source])
    return Missed(source, twins[source], other, own, similarity, np.isin(source, right))


def kinds(task: Bilingual, misses: Missed) -> Iterator[tuple[str, Bools]]:
    """Yield why a miss may have happened, each miss once: names, then texts, then lengths."""
    names = task.names[1]
    siblings = np.array(
        [family(names[one]) == family(names[other]) for one, other in zip(misses.twin, misses.first, strict=True)],
        np.bool_,
    )
    near = shared_words(task, misses) >= NEAR
    ratio = lengths(task, task.a, task.b)
    middle = np.median(ratio)
    apart = np.abs(np.log(lengths(task, misses.source, misses.twin) / middle)) > np.log(LENGTHS)
    left = np.ones(len(siblings), np.bool_)
    for name, which in (
        (f"a sibling by name, and at least {NEAR:.0%} of all words are those of both", siblings & near),
        ("a sibling by name, of another text", siblings),
        (f"no sibling by name, but at least {NEAR:.0%} of all words are those of both", near),
        (f"twins whose lengths are {LENGTHS} times off", apart),
        ("others", left),
    ):
        yield name, which & left
        left = left & ~which


def family(name: str) -> str:
    """Return what the names of packages that are made of the same source have in common: the first part, unnumbered.

    >>> family("libgtk2-dev") == family("libgtk-doc")
    True
    """
    return name.partition("-")[0].rstrip("0123456789.")


def told_apart(task: Bilingual, misses: Missed) -> int:
    """Return how many misses have a first link or a twin whose name says that it is a part of something."""
    names = task.names[1]
    pairs = zip(misses.twin.tolist(), misses.first.tolist(), strict=True)
    return sum(not KINDS.isdisjoint([*names[one].split("-"), *names[other].split("-")]) for one, other in pairs)


def shared_words(task: Bilingual, misses: Missed) -> F64:
    """Return how many of the words of the twin and of the first link, both targets, are those of both (Jaccard)."""
    rows = np.unique(np.concatenate([misses.twin, misses.first]))
    texts = task.sides[1].texts(rows)
    sides = [Shingles(1).extract([texts[row] for row in each.tolist()]) for each in (misses.twin, misses.first)]
    sets, split = sets_of(*sides)
    a = np.arange(len(misses.twin))
    return set_similarities(sets, a, a + split, Similarity("jaccard"))


def lengths(task: Bilingual, a: I64, b: I64) -> F64:
    """Return how many different words a source has for each of its target."""
    source, target = (side.terms.sizes for side in task.sides)
    return np.asarray(source[a] / np.maximum(target[b], 1))


def tell_misses(task: Bilingual, misses: Missed) -> str:
    """Return the misses by kind, with how near they are."""
    rows = []
    for name, which in [*kinds(task, misses), ("all", np.ones(len(misses.source), np.bool_))]:
        count = int(which.sum())
        if not count:
            rows.append([name, 0, "", "", "", ""])
            continue
        gap = misses.gap[which]
        quarters = ", ".join(f"{value:.3f}" for value in np.quantile(gap, [0.25, 0.5, 0.75]))
        cells = [int(misses.among[which].sum()), quarters, int((np.abs(gap) < 0.02).sum()), int((gap <= 0).sum())]
        rows.append([name, count, *cells])
    head = ["first instead of the twin", "misses", "twin among ten", "gap, quartiles", "gap below .02", "twin not less"]
    ratio, own = lengths(task, task.a, task.b), lengths(task, misses.source, misses.twin)
    off = [float((np.abs(np.log(each / np.median(ratio))) > np.log(LENGTHS)).mean()) for each in (ratio, own)]
    said = (
        f"The gap is the similarity of the first less that of the twin. A source has {np.median(ratio):.2f} different "
        f"words for each of its twin (median); {LENGTHS} times off that are {percent(off[0])} of all twins, and "
        f"{percent(off[1])} of the missed. Of the misses, {told_apart(task, misses)} have a name, the first's or the "
        f"twin's, with one of the parts {', '.join(sorted(KINDS))}."
    )
    return f"{table(head, rows)}\n\n{said}"


def examples(task: Bilingual, links: Ranked, misses: Missed) -> str:
    """Return some sources with their first targets, by name: found ones and missed ones; the twin is in bold."""
    draw, rows = np.random.default_rng(0), []
    twins = dict(zip(task.a.tolist(), task.b.tolist(), strict=True))
    linked = np.intersect1d(task.a, links.a)
    for each in (np.setdiff1d(linked, misses.source), misses.source):
        for row in np.sort(draw.choice(each, min(EXAMPLES, len(each)), replace=False)).tolist():
            own = links.take((links.a == row) & (links.rank <= SHOWN))
            said = [
                f"{rank}. {_bold(task.names[1][b], b == twins[row])} {similarity:.2f}"
                for b, rank, similarity in zip(own.b.tolist(), own.rank, own.similarity, strict=True)
            ]
            rows.append([task.names[0][row], ", ".join(said)])
    return table(["source", "targets that stand out most, and their similarity"], rows)


def _bold(name: str, strong: bool) -> str:
    return f"**{name}**" if strong else name


def main() -> None:
    """Measure and print; write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_sides(parser)
    parser.add_argument("--write", action="store_true", help="write into docs/experiments")
    options = parser.parse_args()
    with read_sides(options) as task:
        rows = []
        for formula in ("paper", "later"):
            views = task.views(PROJECTED, formula)
            name = f"projected, {'the paper' if formula == 'paper' else 'the later'} formula, by similarity"
            rows.append(
                worth(task, name.replace("paper formula", "paper's formula"), by_similarity(task, views), views)
            )
        views = task.views(USUAL)
        links = standing_out(task, views)
        rows.append(worth(task, "both directions and letters, by similarity", by_similarity(task, views), views))
        rows.append(worth(task, "the same, by how far links stand out", links, views))
        rows.append(["the paper", PAPER[1], f"{PAPER[0]} (33 %)", "", "", ""])
        misses = missed(task, links, views)
        head = ["", "twins", "first", "among ten", f"no link of {LEAST}", f"twin below {LEAST}"]
        text = [f"{task.title}.", table(head, rows), tell_misses(task, misses), examples(task, links, misses)]
        publish("nfl-links.md", "errors", "\n\n".join(text), options.write)


if __name__ == "__main__":
    main()
