"""The verb `link`: which documents of two languages are about the same thing?

read -> count words -> dictionary (given, trained, or learnt from the texts) -> views -> compare -> rank -> write
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sosie.crosslingual.aligner import load_thot
from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Documents, Source, as_source
from sosie.jobs.auto import check_limit, in_memory
from sosie.jobs.inputs import StrPath
from sosie.jobs.link_spec import LinkSpec
from sosie.jobs.link_stages import Linking
from sosie.jobs.warm import prepare
from sosie.report.link_examples import write_link_page
from sosie.report.links import Links
from sosie.report.timing import Progress, Silent, Timing
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.room import Room
from sosie.storage.size import as_size

DICTIONARY = "dictionary"  # below the output, where it was trained or learnt


@dataclass(frozen=True, kw_only=True, eq=False)
class Linker(LinkSpec):
    """How documents of two languages are linked; `run` does it.

    Words are translated by a `dictionary` (or the path of a saved one), by one that is trained on `parallel` text, or
    by one that is learnt from the collections themselves; `translate` is a function that translates texts instead. All
    pairs of a similarity of at least `threshold` are links, or the best `k` of each source; `one_to_one` links each
    document once at most, `mutual` only those that are each other's best. Candidates are found by signatures (`signed`;
    `compared` of each source) and compared truly; with `exact` all pairs are compared, and so they are where that takes
    no longer. A `recall` asks for a share of the links wanted, in the fastest way that finds it. `set_aside_hubs`
    leaves out targets that are the best of very many. `weights` are those of the three parts of a similarity, where not
    those of the dictionary are wanted.
    """

    def run(
        self,
        source: Documents | Source,
        target: Documents | Source,
        output: Output | None = None,
        *,
        memory: int | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Links:
        """Link the documents of two collections, and write the links, a report and a page, if there is an output."""
        timing = Timing(progress or Silent())
        check_limit(memory)
        given = self.dictionary
        if given is not None and not isinstance(given, Dictionary):
            given = load_dictionary(given)
        if given is None and self.translate is None:
            load_thot()  # what is not installed is said before anything is read
        first, second = (as_source(side).batches(threads, None, memory) for side in (source, target))
        with _working(output, self._files(first, second)) as (directory, scratch):
            pages = ["pages"] if first.has_pages or second.has_pages else []
            prepare(*self.needs, *pages, progress=timing.progress, threads=threads, memory=memory)
            room = Room(scratch, in_memory(memory), threads, limit=memory)
            links = Linking(self, timing, room).link((first, second), given)
            if directory is not None:
                with timing.stage("write"):
                    self._write(links, directory.path, threads)
        return links

    def _files(self, *readings: Reading) -> list[StrPath]:
        """Return what is read, which no output may replace."""
        files: list[StrPath] = [place.path for reading in readings for place in reading.inputs]
        if isinstance(self.dictionary, str | os.PathLike):
            files.append(self.dictionary)
        parallel = () if self.parallel is None else self.parallel
        return [*files, *([parallel] if isinstance(parallel, str | os.PathLike) else parallel)]

    def _write(self, links: Links, directory: Path, threads: int | None) -> None:
        links.write(directory)
        if links.dictionary is not None and self.dictionary is None:
            folder = directory / DICTIONARY
            folder.mkdir()
            links.dictionary.write(folder)
        with RejectLog(directory) as log:
            log.add([*links.source.rejects, *links.target.rejects])
        write_link_page(links, directory, self.threshold, threads)


def link(
    source: Documents | Source,
    target: Documents | Source,
    *,
    threshold: float | None = None,
    k: int | None = None,
    dictionary: Dictionary | StrPath | None = None,
    parallel: StrPath | Sequence[StrPath] | None = None,
    memory: int | str | None = None,
    threads: int | None = None,
    **options: Any,
) -> Links:
    """Return links of the documents of one language with those of another that are about the same thing.

    Words are translated by a `dictionary`, one that is trained on `parallel` text, or one that is learnt from the two
    collections. All pairs with a similarity of at least `threshold` are links, or the best `k` of each document: ten,
    if nothing is said. Further `options` are the fields of `Linker`, as `one_to_one` or `exact`.

    >>> import sosie
    >>> german = "rote katze schläft im haus brief an mit gruss".split()
    >>> words = sosie.Dictionary.from_pairs(german, "red cat sleeps in house letter to with regards".split(), [1.0] * 9)
    >>> documents = ["die rote katze schläft im haus", "ein brief an b2 und c3 mit gruss"]
    >>> others = ["a letter to b2 and c3 with regards", "the red cat sleeps in house a1"]
    >>> found = link(documents, others, dictionary=words, k=1)
    >>> found.table.select(["a", "b"]).to_pylist()
    [{'a': 0, 'b': 1}, {'a': 1, 'b': 0}]
    """
    linker = Linker(threshold=threshold, k=k, dictionary=dictionary, parallel=parallel, **options)
    return linker.run(source, target, memory=None if memory is None else as_size(memory), threads=threads)


@contextmanager
def _working(output: Output | None, files: list[StrPath]) -> Iterator[tuple[OutputDirectory | None, StrPath]]:
    """Yield the output, if there is one, and a folder for temporary files."""
    if output is None:
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
            yield None, scratch
        return
    with OutputDirectory(output.path, output.overwrite, files) as directory:
        yield directory, directory.scratch
