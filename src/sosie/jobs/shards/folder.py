"""The folder that the stages of a de-duplication in shards share: what is done there is not done again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sosie.errors import StorageError, UsageError
from sosie.jobs.shards.part import Part
from sosie.report.report import JobReport
from sosie.storage.manifest import MANIFEST, read_artefact, write_artefact
from sosie.storage.output import OutputDirectory

SIGNED, GROUPS, JOINED, CLUSTERED, WRITTEN = "signed", "groups", "joined", "clustered", "written"
_MAKES = {SIGNED: "sign", GROUPS: "collapse", JOINED: "join", CLUSTERED: "cluster", WRITTEN: "write"}


@dataclass(frozen=True, kw_only=True)
class ShardReport(JobReport):
    """What was done by one stage, for one shard where it is cut; `done_before` if there was nothing left to do."""

    stage: str
    shard: str | None
    done_before: bool
    counts: dict[str, int]


@dataclass(frozen=True)
class Stage:
    """What a stage has written: the fields of its manifest, and its arrays, mapped."""

    meta: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    @property
    def key(self) -> str:
        """What it was made of and how, as a digest: what is made of it has another key if this is another one."""
        return str(self.meta["digest"])


@dataclass(frozen=True)
class ShardFolder:
    """The folder of one de-duplication in shards, on a file system that all machines share."""

    path: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> ShardFolder:
        """Return the folder at a path, whether it is there or not."""
        return cls(Path(path))

    def place(self, kind: str, part: Part | None = None) -> Path:
        """Return where a stage writes to."""
        return self.path / kind if part is None else self.path / kind / part.name

    def is_done(self, kind: str, key: str, part: Part | None = None) -> bool:
        """Whether a stage has been done; refuse what was made of other documents or with other options."""
        place = self.place(kind, part)
        if not (place / MANIFEST).exists():
            return False
        meta, _ = read_artefact(place, kind, ())
        if meta["digest"] != key:
            raise UsageError(f"{place}: was made of other documents, or with other options. Name another folder.")
        return True

    @contextmanager
    def writing(self, kind: str, part: Part | None, inputs: list[str]) -> Iterator[OutputDirectory]:
        """Yield the directory of a stage, which appears whole or not at all: one that was killed leaves nothing."""
        with OutputDirectory(self.place(kind, part), inputs=inputs) as directory:
            yield directory

    def save(
        self, directory: OutputDirectory, kind: str, key: str, arrays: Mapping[str, Any], meta: Mapping[str, Any]
    ) -> None:
        """Write what later stages need."""
        write_artefact(directory.path, kind, arrays, digest=key, meta=meta)

    def stage(self, kind: str, part: Part | None = None) -> Stage:
        """Return what a stage has written; say which command writes it, where it is not there."""
        place = self.place(kind, part)
        if not (place / MANIFEST).exists():
            shard = "" if part is None else f" --shard {part}"
            raise UsageError(f"{place}: is not there: run `sosie shards {_MAKES[kind]}`{shard} first")
        return Stage(*read_artefact(place, kind))

    def parts(self, kind: str) -> list[Stage]:
        """Return what all shards of a stage have written, in their order."""
        names = sorted(each.name for each in self.place(kind).glob("*-of-*") if not each.name.startswith("."))
        counts = {name.partition("-of-")[2] for name in names}
        if len(counts) > 1:
            many = " and ".join(sorted(counts))
            raise UsageError(f"{self.place(kind)}: holds shards of {many}: remove those of one cut")
        if not counts:
            raise UsageError(f"{self.place(kind)}: holds no shard: run `sosie shards {_MAKES[kind]}` first")
        (said,) = counts
        if not said.isdecimal():
            raise StorageError(f"{self.place(kind)}: holds a folder that is no shard ({names[0]}): remove it")
        parts = [Part(number, int(said)) for number in range(1, int(said) + 1)]
        missing = [str(part) for part in parts if not (self.place(kind, part) / MANIFEST).exists()]
        if missing:
            shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            raise UsageError(
                f"{self.place(kind)}: {len(missing)} of {len(parts)} shards are missing ({shown}): run `sosie shards "
                f"{_MAKES[kind]}` for them"
            )
        return [self.stage(kind, part) for part in parts]


def key_from(kind: str, *keys: str) -> str:
    """Return the key of what a stage makes of others.

    >>> key_from("groups", "1f", "2e") == key_from("groups", "2e", "1f")
    False
    """
    return hashlib.sha256("\n".join([kind, *keys]).encode()).hexdigest()
