"""Two collections in two languages for the figures of NFL: which documents are twins, and a dictionary."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.sides import Read, read_side
from sosie.crosslingual.views import USUAL, Formula, Languages, Views, Weights, word_views
from sosie.documents.source import Source
from sosie.evaluation.planted import PlantedCorpus
from sosie.kernels.vectors.dots import SparseRows
from sosie.storage.room import Room
from sosie.types import I64, offsets_of

PROJECTED = Weights(1, 0, 0)  # what the paper compares: sources projected into the language of the targets
SIMILARITIES = {"sources projected": PROJECTED, "both directions and letters": USUAL}
_ID, _TEXT, _NAME = "key", "text", "package"
_LEFT_OUT = 5  # of generated sources, one word in so many


@dataclass(frozen=True, eq=False)
class Bilingual:
    """Both sides, with a name for each row; the rows `a` and `b` of documents with the same id; and a dictionary."""

    title: str
    sides: tuple[Read, Read]
    names: tuple[list[str], list[str]]
    a: I64
    b: I64
    both: Languages
    dictionary: Dictionary
    room: Room

    def views(self, weights: Weights, formula: Formula = "later") -> Views:
        """Return the vectors of both sides."""
        return word_views(self.both, self.dictionary, self.room, weights, formula)


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which documents."""
    parser.add_argument("--source", help=f"a Parquet file with columns {_ID}, {_TEXT} and {_NAME}; default: generated")
    parser.add_argument("--target", help="the same of the other language; twins have the same key")
    parser.add_argument("--dictionary", help="that `sosie dictionary train` made")
    parser.add_argument("--documents", type=int, default=20_000, help="of a generated target side (20,000)")


@contextmanager
def read_sides(options: argparse.Namespace) -> Iterator[Bilingual]:
    """Yield the collections that the options name."""
    files = [options.source, options.target, options.dictionary]
    if any(files) and not all(files):
        raise SystemExit("give --source, --target and --dictionary, or none of them")
    with TemporaryDirectory() as scratch:
        room = Room(scratch)
        if any(files):
            yield _read(files[:2], load_dictionary(files[2]), room, " and ".join(Path(file).name for file in files[:2]))
        else:
            made = generated(options.documents, Path(scratch))
            yield _read(made[:2], made[2], room, "generated texts")


def _read(files: list[str] | tuple[Path, Path], dictionary: Dictionary, room: Room, title: str) -> Bilingual:
    source, target = (
        read_side(Source(file, id_column=_ID, text_column=_TEXT).batches(room.threads), room) for file in files
    )
    names = (_names(files[0], source), _names(files[1], target))
    ids, others = (side.ids(np.arange(len(side.terms))) for side in (source, target))
    places = pc.fill_null(pc.index_in(ids, value_set=others), -1).to_numpy(zero_copy_only=False).astype(np.int64)
    rows = np.flatnonzero(places >= 0)
    both = Languages.of(source.terms, target.terms, room.threads)
    sizes = f"{len(source.terms):,} x {len(target.terms):,}"
    return Bilingual(f"{sizes} of {title}", (source, target), names, rows, places[rows], both, dictionary, room)


def _names(file: str | Path, side: Read) -> list[str]:
    columns = pq.read_table(file, columns=[_ID, _NAME])
    named = dict(zip(columns[_ID].to_pylist(), columns[_NAME].to_pylist(), strict=True))
    return [named[document] for document in side.ids(np.arange(len(side.terms))).to_pylist()]


def generated(documents: int, folder: Path) -> tuple[Path, Path, Dictionary]:
    """Write generated texts, and every tenth in a made-up language; return both files and a dictionary.

    A word of that language is one of the other written backwards. It lacks every fifth word, and one translation in
    five goes to another word.
    """
    texts = [text.lower() for table in PlantedCorpus(documents).tables() for text in table["text"].to_pylist()]
    rows = range(0, documents, 10)
    turned = [" ".join(word[::-1] for n, word in enumerate(texts[row].split()) if n % _LEFT_OUT) for row in rows]
    words = sorted({word for text in texts for word in text.split()})
    pairs = [(word[::-1], other, p) for i, word in enumerate(words) for other, p in ((word, 0.8), (words[i - 1], 0.2))]
    source, target = folder / "source.parquet", folder / "target.parquet"
    for file, own, held in ((source, rows, turned), (target, range(documents), texts)):
        names = [f"text{row // 3}-{row % 3}" for row in own]
        pq.write_table(pa.table({_ID: [f"d{row}" for row in own], _NAME: names, _TEXT: held}), file)
    first, second, chances = zip(*pairs, strict=True)
    return source, target, Dictionary.from_pairs(first, second, chances)


def rows_of(vectors: SparseRows, rows: I64) -> SparseRows:
    """Return some rows of vectors, numbered from 0 on.

    >>> rows_of(SparseRows(np.array([0, 1, 3]), np.array([4, 5, 6]), np.ones(3)), np.array([1])).columns.tolist()
    [5, 6]
    """
    sizes = np.diff(vectors.offsets)[rows]
    offsets = offsets_of(sizes)
    places = np.repeat(vectors.offsets[rows] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return SparseRows(offsets, vectors.columns[places], vectors.weights[places])


def worded(vectors: SparseRows) -> Any:
    """Return the rows that are not empty."""
    return np.flatnonzero(np.diff(vectors.offsets))
