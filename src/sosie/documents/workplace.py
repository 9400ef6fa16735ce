"""Where a job over documents works: temporary files, the folder that becomes its output, and checkpoints."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sosie.documents.places.remote import is_url
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.documents.standard_input import LABEL
from sosie.errors import UsageError
from sosie.storage.checkpoint import Checkpoints, key_of
from sosie.storage.output import Output, OutputDirectory

# The inputs stand for the paths and for how files are found and read; batches never change results.
_IRRELEVANT = ("paths", "_given", "batch_size", "format", "include", "exclude", "delimiter", "encoding", "strict")


@dataclass(frozen=True, eq=False)
class Workplace:
    """A folder for temporary files, the folder that becomes the output, if there is one, and the checkpoints.

    What an earlier try of the same run has finished need not be written again: `is_finished`.
    """

    scratch: Path
    target: Path | None
    checkpoints: Checkpoints
    annotate: bool = False
    is_finished: bool = False


@contextmanager
def workplace(
    job: Any, sources: list[tuple[Source, Reading]], output: Output | None, other_files: Iterable[Any] = ()
) -> Iterator[Workplace]:
    """Yield where a job works; it is cleared when the block ends, but for what a later run may resume.

    The checkpoints are those of this very job on these very inputs: `job` is data, all of which counts. `other_files`
    are read, too, and so must not lie in the output.
    """
    if output is None:
        with tempfile.TemporaryDirectory(prefix="sosie-") as folder:
            yield Workplace(Path(folder), None, Checkpoints(Path(folder), None))
        return
    readings = [reading for _, reading in sources if reading.table is None]
    paths = [place.path for reading in readings for place in reading.inputs]
    files = [*other_files, *(path for path in paths if not is_url(path))]
    key = _key(job, sources, output.resume)
    with OutputDirectory(output.path, output.overwrite, files, key=key, resume=output.resume) as directory:
        checkpoints, finished = directory.checkpoints, directory.is_finished
        yield Workplace(directory.scratch, directory.path, checkpoints, output.annotate, finished)


def _key(job: Any, sources: list[tuple[Source, Reading]], resume: bool) -> str | None:
    reasons = [reason for _, reading in sources if (reason := why_unrepeatable(reading)) is not None]
    if not reasons:
        return key_of(pa.__version__, job, [identity(source, reading) for source, reading in sources])
    if resume:
        raise UsageError(f"{reasons[0]} cannot be compared with that of an earlier run. Write it to files to resume.")
    return None


def identity(source: Source, reading: Reading) -> list[Any]:
    """Return the options of a source, as they were resolved, and all its inputs in order.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     source = Source(file.name)
    ...     identity(source, source.batches())[0]
    {'text_column': 'text', 'id_column': None, 'on_error': 'raise', 'html': None, 'max_expansion': 200}
    """
    options = {field.name: getattr(source, field.name) for field in dataclasses.fields(source)}
    given = {name: value for name, value in options.items() if name not in _IRRELEVANT}
    columns = [*reading.columns.names, str(reading.columns.id_type)]
    paths = [place.path if is_url(place.path) else os.path.abspath(place.path) for place in reading.inputs]
    return [given, columns, paths, reading.inputs]


def why_unrepeatable(reading: Reading) -> str | None:
    """Say why a later run cannot know that its documents are those of this one, None if it can."""
    if reading.table is not None:
        return "Arrow data in memory"
    if any(place.title == LABEL for place in reading.inputs):
        return "standard input"
    return None
