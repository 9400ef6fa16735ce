"""Where a job over documents works: a folder for temporary files, the folder that becomes its output, checkpoints."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sosie.documents.identity import identity, why_unrepeatable
from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.storage.checkpoint import Checkpoints, key_of
from sosie.storage.output import Output, OutputDirectory


@dataclass(frozen=True, eq=False)
class Workplace:
    """A folder for temporary files, the folder that becomes the output, if there is one, and the checkpoints."""

    scratch: Path
    target: Path | None
    checkpoints: Checkpoints
    annotate: bool = False


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
    files = [*other_files, *(place.path for reading in readings for place in reading.inputs)]
    key = _key(job, sources, output.resume)
    with OutputDirectory(output.path, output.overwrite, files, key=key, resume=output.resume) as directory:
        yield Workplace(directory.scratch, directory.path, directory.checkpoints, output.annotate)


def _key(job: Any, sources: list[tuple[Source, Reading]], resume: bool) -> str | None:
    reasons = [reason for _, reading in sources if (reason := why_unrepeatable(reading)) is not None]
    if not reasons:
        return key_of(pa.__version__, job, [identity(source, reading) for source, reading in sources])
    if resume:
        raise UsageError(f"{reasons[0]} cannot be compared with that of an earlier run. Write it to files to resume.")
    return None
