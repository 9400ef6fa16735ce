"""What a de-duplication works with: its inputs, opened; a folder, memory and threads; checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from sosie import __version__
from sosie.documents.reading import Reading
from sosie.documents.source import Source, as_source
from sosie.documents.workplace import Workplace, workplace
from sosie.features.tags import NO_KEY, draw_key
from sosie.jobs.auto import in_memory
from sosie.jobs.parameters import DedupParameters
from sosie.matches.reference import OpenReference, as_reference
from sosie.storage.output import Output
from sosie.storage.resident import within
from sosie.storage.room import Room
from sosie.types import U64


@dataclass(frozen=True, eq=False)
class DedupInputs:
    """The documents, listed and not yet read, and what they are held against."""

    source: Source
    reading: Reading
    reference: OpenReference | None


@dataclass(frozen=True, eq=False)
class Work:
    """Where a run works: the folders, room for arrays, and the limit of memory that it keeps to.

    `key` is that of the tags by which the words of equal hashes are compared; empty where texts are, byte for byte.
    """

    place: Workplace
    room: Room
    memory: int | None
    key: U64
    _stack: ExitStack

    @property
    def writes(self) -> bool:
        """Whether there is an output to write."""
        return self.place.target is not None

    def watch(self, arrays: Iterable[NDArray[Any] | None]) -> None:
        """Give back the pages of these arrays, until the work is done, whenever the process comes near the limit."""
        self._stack.enter_context(within(self.memory, arrays))


def open_inputs(
    job: DedupParameters, documents: Any, against: Any, threads: int | None, memory: int | None = None
) -> DedupInputs:
    """List the inputs and find their columns."""
    source = as_source(documents)
    reading = source.batches(threads, job.order, memory)
    return DedupInputs(source, reading, None if against is None else as_reference(against).open(threads, memory))


@contextmanager
def working(
    job: DedupParameters, inputs: DedupInputs, output: Output | None, memory: int | None, threads: int | None
) -> Iterator[Work]:
    """Yield where a run works; its output appears whole when the block ends, and all else goes.

    The checkpoints are those of this very job, by this version, on these very inputs.
    """
    key: list[Any] = [__version__, job, output is not None and output.annotate]
    sources, reference = [(inputs.source, inputs.reading)], inputs.reference
    if reference is not None:
        key += [reference.only, reference.described()]
        if reference.source is not None and reference.reading is not None:
            sources.append((reference.source, reference.reading))
    others = [] if reference is None else reference.paths
    with workplace(key, sources, output, others) as place, ExitStack() as stack:
        secret = NO_KEY if job.identical else draw_key()
        yield Work(place, Room(place.scratch, in_memory(memory), threads), memory, secret, stack)


def as_output(output: str | os.PathLike[str] | Output | None, overwrite: bool) -> Output | None:
    """Return where to write to, from a path or from all that can be said of an output."""
    if isinstance(output, Output):
        return replace(output, overwrite=output.overwrite or overwrite)
    return None if output is None else Output(output, overwrite)
