"""What a format is: how its files are told, looked at, read, decoded and written. One object for each; see `formats`.

A `Format` knows the files of its kind and nothing of the others. What is common to all (numbers and ids of documents,
rejects, threads, batches, decisions) is done by `reading`, `fetch`, `probe` and `write`, which ask the format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from sosie.documents.batch import Records
from sosie.documents.columns import Columns, Parsed
from sosie.documents.input import Input
from sosie.documents.share import Share
from sosie.types import I64

# A piece of an input: any object that `read` yields and `decode` takes; decoding is done on threads.
P = TypeVar("P")


# How a file may be compressed as a whole: see `blocks.read_chunks` and `write_blocks`.
STREAMS = ("gzip", "zstd", "bz2", "xz")


class NoDocumentsError(Exception):
    """A file that seems to hold no documents; `source` is how to read it nevertheless, None if that is impossible."""

    def __init__(self, reason: str, source: Input | None = None) -> None:
        super().__init__(reason)
        self.source = source


class Sample(Protocol):
    """One of the first documents of an input whose documents name their own columns."""

    def names(self) -> list[str]:
        """Return the names of its columns."""

    def find(self, name: str) -> list[Any]:
        """Return the values of a column: none if it is not there, several if it is there more than once."""

    def parse(self, columns: Columns) -> Parsed | str:
        """Return the document as `Format.decode` would, or the reason why it is none."""


@dataclass(frozen=True, eq=False)
class Probe:
    """What an input says of its columns before it is read.

    `schema` is an Arrow schema, where the whole input has one. Else `samples` gives the first documents, each with
    columns of its own, None for a record that is no document at all; it may be called more than once. An input that
    has neither is empty, or of a format without columns.
    """

    schema: Any = None
    samples: Callable[[], Iterator[Sample | None]] | None = None


@dataclass(frozen=True)
class Naming:
    """What documents of a format without columns are called: in messages, the files and their ids.

    `column` names the ids where they stand in for a column; without it, ids are made from the names of the files.
    """

    files: str
    ids: str
    column: str | None = None


class Format(ABC, Generic[P]):
    """A kind of files, which hold documents.

    `suffixes` says which files: each suffix, in small letters and with its dot, and what an `Input` of it has as its
    `format`: `name`, or another word where the format has to tell its files apart. `remark` explains the suffixes where
    a message lists them.

    `compressions`: the suffix may be followed by one of these (see `formats.COMPRESSIONS`), and `Input.compression`
    says so. `is_whole`: a file is one document, and an input is a run of such files (`Input.files`). `options` names
    the fields of `Input` that tell how to read it, `delimiter` and `encoding`, as far as the format heeds them.

    `unit` is what a record is called in messages. `naming` is None if documents have columns, one of which is the text:
    then it may hold HTML, whose text is extracted from what `decode` returns, others may hold ids and the order, and
    columns can be added. Formats with a `naming` find their texts themselves, and columns that are added to documents
    are listed beside them (`Share.listing`).
    """

    name: ClassVar[str]
    suffixes: ClassVar[Mapping[str, str]]
    remark: ClassVar[str] = ""
    compressions: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ()
    is_whole: ClassVar[bool] = False
    unit: ClassVar[str] = "row"
    naming: ClassVar[Naming | None] = None

    @property
    def kinds(self) -> set[str]:
        """What the inputs of this format may have as their `format`."""
        return {self.name, *self.suffixes.values()}

    def settle(self, source: Input, texts: Sequence[str]) -> Input:
        """Return an input as its beginning says it is, where its name leaves that open: in another format, say.

        `texts` are the columns that will be read. A file that holds no documents raises `NoDocumentsError`.
        """
        return source

    def load(self, source: Input) -> None:
        """Import the optional packages that this input needs; raise `UsageError` saying what to install."""

    def probe(self, source: Input) -> Probe:
        """Look at the columns of an input, which formats without columns do not have.

        A file that is damaged raises `DataError`, as in `read`.
        """
        return Probe()

    @abstractmethod
    def read(
        self, source: Input, names: list[str] | None, threads: int | None, watch: Callable[[int], None]
    ) -> Iterator[P]:
        """Yield the records of an input in pieces of a few MiB, in their order, on one thread.

        `names` are the columns that are wanted, the text first: others need not be read. `threads` may be used to read
        a piece. `watch` is told how far in the file, as it lies on disk, reading has come; an input of many files
        counts the bytes of all. Raise `DataError`, with the path and what to do, for a file that cannot be read, has
        changed (`Input.check_unchanged`, before and after) or expands too far (`Input.check_expansion`). A record that
        cannot be used is no error here: it is told by `decode`.
        """

    def count(self, source: Input) -> int | None:
        """Return how many records an input has, where that is told without reading them; None where it is not."""
        return None

    def scattered(
        self, source: Input, names: list[str] | None, places: Sequence[float], size: int
    ) -> Iterator[tuple[P, int]] | None:
        """Yield pieces of about `size` bytes from some places of an input, and how many bytes of its file each takes.

        A place is a share of the file, from 0 to 1, and they ascend. None where a file can only be read from its
        beginning; a format yields nothing from a place where it cannot tell where a record begins. What is read here is
        a sample: nobody relies on its line numbers.
        """
        return None

    @abstractmethod
    def decode(self, piece: P, columns: Columns) -> Records:
        """Return the records of a piece, each accepted or with the reason why not; called on several threads at once.

        Where `columns` has an id, `ids` are of its type (with a `naming`, what the documents are called); where it has
        an order, there is one, as `order.decode_order` gives it. Raise nothing: whatever a record holds, it is a
        document or a problem.
        """

    def held(self, piece: P) -> int:
        """Return about how many bytes of the input a piece holds: of large ones, one is decoded at a time."""
        return 0

    def fetch(self, piece: P, wanted: I64, columns: Columns) -> tuple[int, list[tuple[I64, Records]]]:
        """Return how many records a piece has, and those at the wanted positions, decoded.

        `wanted` ascends and may go beyond the piece; `columns` has nothing but the text. With each `Records` come the
        positions that its records have in the piece. This decodes the whole piece; formats that can choose before they
        decode do better.
        """
        records = self.decode(piece, columns)
        chosen = np.isin(records.accepted, wanted)
        found = replace(records, texts=records.texts.filter(pa.array(chosen)), accepted=records.accepted[chosen])
        return records.count, [(np.arange(records.count), found)]

    @abstractmethod
    def write(self, share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
        """Write the documents of one input to their places, in its format and compression, in their order.

        The input is read again: `share.places` says what becomes of the next records, and raises if there are more
        than there were. Those COPIED go to `share.copies` as they are, byte for byte where each has bytes of its own;
        those ANNOTATED go to `share.annotated` with the columns of `share.columns`, under names that are free there
        (`free_names`). Either may be None. `advance` is told how many records were dealt with. Return how many there
        were: the caller compares them.
        """
