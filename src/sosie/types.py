"""What flows between the stages: frozen, columnar, without Python objects per document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.arrays import F64 as F64
from sosie.arrays import I32 as I32
from sosie.arrays import I64 as I64
from sosie.arrays import U32 as U32
from sosie.arrays import U64 as U64
from sosie.arrays import Bools as Bools
from sosie.arrays import check_column, check_offsets, check_rows, read_only
from sosie.errors import MismatchError
from sosie.found import Clusters as Clusters
from sosie.found import Counters as Counters
from sosie.found import Matches as Matches
from sosie.found import Pairs as Pairs
from sosie.found import VerifiedPairs as VerifiedPairs
from sosie.shown import counted

F32 = NDArray[np.float32]
_IDS = "_ids"  # where the ids of rows are kept
_PIECE = 1 << 20  # rows that are checked at a time


def offsets_of(lengths: Any) -> I64:
    """Return where rows of these lengths start and end, one after the other.

    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class Features:
    """The hashed features of documents, as CSR: row i holds `hashes[offsets[i]:offsets[i + 1]]`, sorted and distinct.

    `counts` says how often each occurs in its document (term counts), where they were asked for. `tags` tell features
    with the same hash apart by their words, in the run that made them (`kernels/text/tags.py`).

    >>> features = Features(np.array([3, 7, 9], np.uint64), np.array([0, 2, 2, 3]))
    >>> len(features), features.sizes.tolist()
    (3, [2, 0, 1])
    """

    hashes: U64
    offsets: I64
    counts: I32 | None = None
    tags: U32 | None = None

    def __post_init__(self) -> None:
        check_column("the hashes of features", self.hashes, np.uint64)
        check_column("the offsets of features", self.offsets, np.int64)
        check_offsets("the offsets of features", self.offsets, len(self.hashes))
        for name, column, dtype in (("counts", self.counts, np.int32), ("tags", self.tags, np.uint32)):
            if column is not None:
                check_column(f"the {name} of features", column, dtype, len(self.hashes))
        for name in ("hashes", "offsets", "counts", "tags"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        with_counts = "" if self.counts is None else ", with counts"
        return f"Features({counted(len(self), 'document')}, {counted(len(self.hashes), 'feature')}{with_counts})"

    @property
    def sizes(self) -> I64:
        """How many distinct features each document has."""
        return np.diff(self.offsets)

    def rows(self, start: int, stop: int) -> Features:
        """Return the features of rows start..stop, numbered from 0 on."""
        offsets = self.offsets[start : stop + 1]
        span = slice(offsets[0], offsets[-1])
        return Features(self.hashes[span], offsets - offsets[0], *self._columns(span))

    def take(self, rows: I64) -> Features:
        """Return the features of some rows, in the order of their numbers as given; without a copy if they adjoin.

        >>> features = Features(np.arange(6, dtype=np.uint64), np.array([0, 3, 4, 6]))
        >>> some = features.take(np.array([2, 0]))
        >>> some.hashes.tolist(), some.offsets.tolist()
        ([4, 5, 0, 1, 2], [0, 2, 5])
        """
        check_rows("rows", rows, len(self))
        starts, stops = self.offsets[rows], self.offsets[rows + 1]
        ends = offsets_of(stops - starts)
        if len(rows) and (starts[1:] == stops[:-1]).all():
            places: Any = slice(starts[0], stops[-1])
        else:
            places = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], stops - starts)
        return Features(self.hashes[places], ends, *self._columns(places))

    def _columns(self, places: Any) -> list[Any]:
        """Return the counts and the tags at some places, as far as there are any."""
        return [None if column is None else column[places] for column in (self.counts, self.tags)]

    @classmethod
    def joined(cls, parts: Sequence[Features]) -> Features:
        """Return the rows of one part after the other, with counts if all parts have them; there is at least one."""
        columns: list[Any] = []
        for name in ("counts", "tags"):
            held = [column for part in parts if (column := getattr(part, name)) is not None]
            columns.append(np.concatenate(held) if len(held) == len(parts) else None)
        hashes = np.concatenate([part.hashes for part in parts])
        return cls(hashes, offsets_of(np.concatenate([part.sizes for part in parts])), *columns)


class _Ids:
    """The ids of rows, a field: as they were given, or row numbers, which are made when somebody asks for them.

    A hundred million numbers are 800 MB, and most work needs none of them.
    """

    def __get__(self, rows: Any, owner: type | None = None) -> Any:
        if rows is None:
            return None  # the default of the field
        if vars(rows)[_IDS] is None:
            self.__set__(rows, pa.array(np.arange(len(rows), dtype=np.int64)))
        return vars(rows)[_IDS]

    def __set__(self, rows: Any, ids: Any) -> None:
        vars(rows)[_IDS] = ids


@dataclass(frozen=True, eq=False)
class Signatures:
    """Binary signatures: bit j of row i is bit (j mod 64) of `words[i, j // 64]`; padding bits are 0.

    `ids` (an Arrow array) default to row numbers. `unsigned` lists the input rows that had no features and so have no
    signature. `digest` names the signer that made them, None for raw bits from elsewhere. `space` names the comparison
    they are made for: by default the digest, so that only what one signer made is compared; signers that are made for
    each other (a German and an English one) name the same. `numbered` says that no ids were given.

    >>> raw = Signatures(np.array([[5], [7]], np.uint64), bits=3)
    >>> len(raw), raw.bits
    (2, 3)
    """

    words: U64
    bits: int = 0
    ids: Any = _Ids()
    digest: str | None = None
    unsigned: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    volatility: F32 | None = None
    space: str | None = None
    numbered: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        _check_matrix("signatures", self.words)
        words = self.words.reshape(-1, 1) if self.words.ndim == 1 else self.words
        if words.ndim != 2 or words.dtype != np.uint64 or words.shape[1] == 0:
            raise MismatchError(f"signatures are uint64[n, words], got {self.words.dtype}{list(self.words.shape)}")
        object.__setattr__(self, "words", np.ascontiguousarray(words))
        width = 64 * words.shape[1]
        bits = self.bits or width
        if isinstance(bits, bool) or not isinstance(bits, int | np.integer):
            raise MismatchError(f"the bits of a signature are a whole number, got {bits!r}")
        if not width - 64 < bits <= width:
            raise MismatchError(f"{bits} bits do not fit {words.shape[1]} words: expected {width - 63} to {width}")
        last, beyond = words[:, -1], np.uint64(bits % 64)
        if bits < width and any(np.any(last[i : i + _PIECE] >> beyond) for i in range(0, len(last), _PIECE)):
            raise MismatchError(f"padding bits beyond bit {bits} must be 0")
        object.__setattr__(self, "bits", int(bits))
        _check_ids(self, len(words))
        object.__setattr__(self, "space", self.space or self.digest)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Signatures({counted(len(self), 'row')} of {counted(self.bits, 'bit')}{_origin(self)})"

    def take(self, rows: I64) -> Signatures:
        """Return some of the rows, in the order of their numbers as given."""
        volatility = None if self.volatility is None else self.volatility[rows]
        ids = self.ids.take(pa.array(rows))
        return Signatures(self.words[rows], self.bits, ids, self.digest, volatility=volatility, space=self.space)


@dataclass(frozen=True, eq=False)
class Keys:
    """Multi-valued hashes: `values[i, t]` is the key of row i in table t; equal keys in one table make a candidate.

    Ids, digest, space and `unsigned` are as those of `Signatures`.
    """

    values: U64
    ids: Any = _Ids()
    digest: str | None = None
    unsigned: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    space: str | None = None
    numbered: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        _check_matrix("keys", self.values)
        if self.values.ndim != 2 or self.values.dtype != np.uint64 or self.values.shape[1] == 0:
            raise MismatchError(f"keys are uint64[n, tables], got {self.values.dtype}{list(self.values.shape)}")
        _check_ids(self, len(self.values))
        object.__setattr__(self, "space", self.space or self.digest)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Keys({counted(len(self), 'row')} in {counted(self.values.shape[1], 'table')}{_origin(self)})"


@dataclass(frozen=True, eq=False)
class Bags:
    """The features of documents as they are, without any signature: which of them each row has.

    Ids, digest, space and `unsigned` are as those of `Signatures`; a document without features is no row.
    """

    features: Features
    ids: Any = _Ids()
    digest: str | None = None
    unsigned: I64 = field(default_factory=lambda: np.empty(0, np.int64))
    space: str | None = None
    numbered: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        if not isinstance(self.features, Features):
            raise MismatchError(f"bags are made of Features, got {type(self.features).__name__}")
        _check_ids(self, len(self.features))
        object.__setattr__(self, "space", self.space or self.digest)

    def __len__(self) -> int:
        return len(self.features)


def meet(a: Signatures | Keys, b: Signatures | Keys) -> bool:
    """Whether two collections may be compared: their spaces are the same, or one is unknown.

    >>> raw, german = Signatures(np.zeros(1, np.uint64)), Signatures(np.zeros(1, np.uint64), digest="g", space="both")
    >>> english = Signatures(np.zeros(1, np.uint64), digest="e", space="both")
    >>> meet(german, english), meet(raw, german), meet(german, Signatures(np.zeros(1, np.uint64), digest="g"))
    (True, True, False)
    """
    return a.space is None or b.space is None or a.space == b.space


def _check_matrix(what: str, values: Any) -> None:
    if not isinstance(values, np.ndarray):
        raise MismatchError(f"{what} are a NumPy array, got {type(values).__name__}")


def _origin(of: Signatures | Keys) -> str:
    unsigned = f", {len(of.unsigned):,} unsigned" if len(of.unsigned) else ""
    return unsigned if of.digest is None else f"{unsigned}, digest {of.digest[:8]}"


def _check_ids(of: Signatures | Keys | Bags, count: int) -> None:
    """Keep the ids that were given, checked, and whether there were any."""
    ids = vars(of)[_IDS]
    object.__setattr__(of, "numbered", ids is None)
    if ids is None:
        return
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    ids = ids if isinstance(ids, pa.Array) else pa.array(ids)
    if len(ids) != count:
        raise MismatchError(f"{len(ids)} ids for {count} rows")
    object.__setattr__(of, "ids", ids)
