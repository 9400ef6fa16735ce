"""A collection in numbers before anything is done with it: lengths, scripts, emptiness, duplicates.

One pass over the documents; of each, two lengths and two digests of 128 bits are kept, never its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sosie.documents.reading import Reading
from sosie.features.shingles import Shingles
from sosie.kernels.sets.distinct import distinct
from sosie.kernels.tables.equal import set_digests
from sosie.kernels.text.facts import text_digests
from sosie.parallel import ordered_map, spans
from sosie.text.column import TextColumn, as_column
from sosie.text.scripts import SCRIPTS, letters_by_script
from sosie.types import I64, U64

SPAN = 1 << 18  # bytes of text that one task looks at
AHEAD = 16  # tasks per thread that wait while the next batch is read


@dataclass(frozen=True)
class Lengths:
    """The least, the median, the mean, the 95th percentile and the greatest of some lengths.

    >>> Lengths.of(np.array([3, 1, 8, 2]))
    Lengths(least=1, median=2.5, mean=3.5, percentile_95=8, greatest=8)
    """

    least: int
    median: float
    mean: float
    percentile_95: int
    greatest: int

    @classmethod
    def of(cls, lengths: I64) -> Lengths:
        """Measure; of no lengths all numbers are 0. The percentile is one of the lengths: 95 % are not above it."""
        if not len(lengths):
            return cls(0, 0.0, 0.0, 0, 0)
        high = np.percentile(lengths, 95, method="inverted_cdf")
        return cls(int(lengths.min()), float(np.median(lengths)), float(lengths.mean()), int(high), int(lengths.max()))


@dataclass(frozen=True)
class Repeats:
    """`documents` are the same as an earlier one; the largest of the `groups` has `largest` documents."""

    documents: int
    groups: int
    largest: int

    @classmethod
    def of(cls, digests: U64) -> Repeats:
        """Count equal rows of two words each.

        >>> Repeats.of(np.array([[1, 2], [1, 3], [1, 2]], np.uint64))
        Repeats(documents=1, groups=1, largest=2)
        """
        order = np.lexsort((digests[:, 1], digests[:, 0]))
        ordered = digests[order]
        opens = np.flatnonzero(np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(ordered)])
        sizes = np.diff(np.append(opens, len(ordered)))
        return cls(len(ordered) - len(sizes), int((sizes > 1).sum()), int(sizes.max(initial=0)))


@dataclass(frozen=True)
class Inspection:
    """What is known of a collection: counts, lengths, scripts and duplicates.

    `documents` counts all records, `rejected` those that cannot be used, by reason. `empty` texts have no bytes,
    `wordless` ones nothing that shingles are made of (empty ones included). `words` counts words, or tokens of code
    where shingles are of these. `letters` and `mainly` count letters and documents by script. `identical` texts have
    the same bytes; `same_features` have the same shingles once folded, or are identical and wordless: whatever is
    identical is among them. `features` is the number of distinct shingles, summed over the documents.
    """

    documents: int
    rejected: Mapping[str, int]
    empty: int
    wordless: int
    text_bytes: Lengths
    words: Lengths
    letters: Mapping[str, int]
    mainly: Mapping[str, int]
    identical: Repeats
    same_features: Repeats
    features: int

    @property
    def usable(self) -> int:
        """The documents that were not rejected."""
        return self.documents - sum(self.rejected.values())


@dataclass(frozen=True, eq=False)
class _Facts:
    """What one task found out about some texts; one row per text in all but `letters`."""

    lengths: I64
    words: I64
    sizes: I64
    letters: I64
    mainly: NDArray[np.uint8]
    texts: U64
    sets: U64


def inspect(
    reading: Reading,
    shingles: Shingles = Shingles(),
    *,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Inspection:
    """Look at every document once.

    >>> import pyarrow as pa
    >>> from sosie.documents.source import Source
    >>> found = inspect(Source(pa.table({"text": ["One fox.", "one FOX", "", "two foxes"]})).batches())
    >>> found.documents, found.empty, found.identical.documents, found.same_features.documents, found.features
    (4, 1, 0, 1, 3)
    """
    rejected: Counter[str] = Counter()

    def texts() -> Iterator[tuple[TextColumn, tuple[int, int]]]:
        for batch in reading:
            column = as_column(batch.texts)
            rejected.update(_kind(reject.reason) for reject in batch.rejects)
            advance(len(batch) + len(batch.rejects))
            yield from ((column, span) for span in spans(column.offsets, SPAN))

    facts = [_NOTHING, *ordered_map(lambda piece: _facts(shingles, *piece), texts(), threads, ahead=AHEAD)]
    words, sizes = np.concatenate([part.words for part in facts]), np.concatenate([part.sizes for part in facts])
    lengths = np.concatenate([part.lengths for part in facts])
    mainly = np.bincount(np.concatenate([part.mainly for part in facts]), minlength=len(SCRIPTS))
    return Inspection(
        documents=reading.documents,
        rejected=dict(rejected.most_common()),
        empty=int((lengths == 0).sum()),
        wordless=int((sizes == 0).sum()),
        text_bytes=Lengths.of(lengths),
        words=Lengths.of(words),
        letters=_by_script(sum((part.letters for part in facts), np.zeros(len(SCRIPTS), np.int64))),
        mainly=_by_script(mainly),
        identical=Repeats.of(np.concatenate([part.texts for part in facts])),
        same_features=Repeats.of(np.concatenate([part.sets for part in facts])),
        features=int(sizes.sum()),
    )


def _facts(shingles: Shingles, column: TextColumn, span: tuple[int, int]) -> _Facts:
    start, stop = span
    letters, mainly = letters_by_script(column, start, stop)
    _, words = Shingles(1, "code" if shingles.unit == "code" else "word").occurrences(column, start, stop)
    hashes, offsets, _ = distinct(*shingles.occurrences(column, start, stop))
    sizes, texts = np.diff(offsets), text_digests(column.data, column.offsets, start, stop)
    return _Facts(
        lengths=np.diff(column.offsets[start : stop + 1]),
        words=np.diff(words),
        sizes=sizes,
        letters=letters,
        mainly=mainly,
        texts=texts,
        sets=np.where(sizes[:, None] > 0, _set_digests(hashes, offsets), texts),
    )


def _set_digests(hashes: U64, offsets: I64) -> U64:
    """Return two 64-bit digests of each row: the sums of its features, which are hashes, and of their squares."""
    both = []
    for values in (hashes, hashes * hashes):
        for array in (values, offsets):
            array.flags.writeable = False
        both.append(set_digests(values, offsets[:-1], offsets[1:]))
    return np.stack(both, axis=1)


def _by_script(counts: I64) -> dict[str, int]:
    """Return the scripts that occur, the most frequent first."""
    order = np.argsort(-counts, kind="stable")
    return {SCRIPTS[i]: int(counts[i]) for i in order if counts[i]}


def _kind(reason: str) -> str:
    """Return a reason without what differs from record to record, so that reasons can be counted."""
    return "duplicate id" if reason.startswith("duplicate id") else re.split(r" \(| \\u", reason)[0]


_NOTHING = _Facts(
    lengths=np.empty(0, np.int64),
    words=np.empty(0, np.int64),
    sizes=np.empty(0, np.int64),
    letters=np.zeros(len(SCRIPTS), np.int64),
    mainly=np.empty(0, np.uint8),
    texts=np.empty((0, 2), np.uint64),
    sets=np.empty((0, 2), np.uint64),
)
