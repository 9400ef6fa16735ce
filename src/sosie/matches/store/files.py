"""A store as files: a manifest that lists runs, and a folder for each; a change is in when the manifest is replaced.

Runs never change. A new one is written to a hidden folder, flushed and renamed; then a manifest that lists it takes the
place of the old one, in one step; then runs that were merged into it are removed. Whoever is killed leaves folders that
no manifest lists: nobody reads them, and the next writer removes them.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sosie.errors import SosieError, StorageError, UsageError
from sosie.index.segments import Segments
from sosie.index.untrusted import whole
from sosie.matches.store.ids import NUMBER, TEXT
from sosie.matches.store.run import ROWS, StoreRun
from sosie.matches.store.writing import write_run
from sosie.signatures.signer import KIND as SIGNER_KIND
from sosie.signatures.signer import Signer
from sosie.storage.claim import claimed
from sosie.storage.durable import naming, sync
from sosie.storage.manifest import MANIFEST, checksum_of, read_artefact, read_manifest, write_artefact

KIND, RUN, SIGNER = "store", "store-run", "signer"
_OURS = re.compile(r"\.new-[0-9a-f]{8}|run-[0-9]{1,20}-[0-9]{1,10}|signer")
_RUN_NAME = re.compile(r"run-[0-9]{1,20}-[0-9]{1,10}")
_TRIES = 20
_WIDEST = 1 << 30  # bits


@dataclass(frozen=True, eq=False)
class StoreState:
    """What a store holds: runs one after the other, all of one width and one space. `checksum` is of its manifest."""

    bits: int = 0
    digest: str | None = None
    space: str | None = None
    id_type: str = NUMBER
    runs: Segments[StoreRun] = field(default_factory=Segments)
    signer: int | None = None
    checksum: int | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.runs.rows


def read_store(path: Path, known: StoreState | None = None) -> StoreState:
    """Return what a store holds, every file of it checked; those that are known already are not read again.

    An empty directory is an empty store.
    """
    for _ in range(_TRIES):
        if _is_empty(path):
            return StoreState()
        before = checksum_of(path, KIND)
        if known is not None and known.checksum == before:
            return known
        try:
            return _read(path, known)
        except (SosieError, OSError):
            if checksum_of(path, KIND) == before:
                raise
    raise StorageError(f"{path}: was changed {_TRIES} times while it was read. Try again when nothing writes to it.")


@contextmanager
def changing(path: Path, known: StoreState) -> Iterator[StoreState]:
    """Claim a store, so that no other process changes it meanwhile, and yield what it holds now.

    A store that is not there yet is made, and goes again if nothing is written to it. What writers left behind when
    they were killed is removed.
    """
    with naming(path):
        new = not path.exists()
        path.mkdir(parents=True, exist_ok=True)
        with claimed(path, "store"):
            state = read_store(path, known)
            if state.checksum is None:
                state = _created(path)
            _remove_leftovers(path, state)
            try:
                yield state
            finally:
                if new:
                    _remove_if_empty(path)


def commit(path: Path, state: StoreState, own: StoreRun, signer: Signer | None) -> StoreState:
    """Write a run of new rows to a store that is claimed, merged with those that the rule says; return what it holds.

    It is in or not in: if anything fails, the store is as it was.
    """
    hidden = path / f".new-{secrets.token_hex(4)}"
    merged: tuple[StoreRun, ...] = ()
    placed: list[Path] = []

    def build(first: int, runs: tuple[StoreRun, ...]) -> StoreRun:
        nonlocal merged
        merged = runs
        count = len(own) + sum(map(len, runs))
        if count > ROWS:
            raise UsageError(f"{path}: a run holds up to {ROWS:,} rows: use several stores")
        name = f"run-{first}-{count}"  # no other run of the store begins there and has as many rows
        write_run(hidden / "run", RUN, (*runs, own), hidden)
        _place(hidden / "run", path / name, placed)
        return _opened(path, name, first, state, checksum_of(path / name, RUN))

    try:
        hidden.mkdir(0o700)
        grown = state.runs.grown(len(own), build)
        kept = state.signer
        if signer is not None and kept is None:
            signer.save(hidden / SIGNER)
            _place(hidden / SIGNER, path / SIGNER, placed)
            kept = checksum_of(path / SIGNER, SIGNER_KIND)
        entries = [{"name": run.folder, "crc32": run.checksum, "count": len(run)} for run in grown]
        checksum = _write_manifest(hidden, replace(state, signer=kept), entries)
        _replace_manifest(path, hidden)
    except BaseException:
        for each in placed:
            shutil.rmtree(each, ignore_errors=True)
        raise
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    for run in merged:
        shutil.rmtree(path / run.folder, ignore_errors=True)
    return replace(state, runs=grown, signer=kept, checksum=checksum)


def _place(new: Path, final: Path, placed: list[Path]) -> None:
    os.rename(new, final)
    placed.append(final)


def _created(path: Path) -> StoreState:
    """Write the manifest of a store without rows: from then on, a store whose manifest is missing is damaged."""
    hidden, state = path / f".new-{secrets.token_hex(4)}", StoreState()
    try:
        hidden.mkdir(0o700)
        checksum = _write_manifest(hidden, state, [])
        _replace_manifest(path, hidden)
        sync(path.parent)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return replace(state, checksum=checksum)


def _remove_if_empty(path: Path) -> None:
    """Remove a store that was made for nothing."""
    with suppress(OSError, StorageError):
        if not read_manifest(path, KIND)["runs"]:
            (path / MANIFEST).unlink()
            os.rmdir(path)


def _write_manifest(hidden: Path, state: StoreState, entries: list[dict[str, Any]]) -> int:
    """Write a manifest that lists runs, and return its checksum."""
    described = {name: getattr(state, name) for name in ("bits", "space", "id_type", "signer")}
    write_artefact(hidden / "manifest", KIND, {}, digest=state.digest, meta={**described, "runs": entries})
    return checksum_of(hidden / "manifest", KIND)


def _replace_manifest(path: Path, hidden: Path) -> None:
    """Put the new manifest in the place of the old one, flushed; if that fails, the old one is back."""
    sync(path)  # the folders that it lists have their names before it lists them
    final, old = path / MANIFEST, hidden / "old"
    there = final.exists()
    if there:
        old.write_bytes(final.read_bytes())
    try:
        os.replace(hidden / "manifest" / MANIFEST, final)
        sync(path)
    except BaseException:
        if there:
            os.replace(old, final)
        else:
            final.unlink(missing_ok=True)
        raise


def _read(path: Path, known: StoreState | None) -> StoreState:
    manifest = read_manifest(path, KIND)
    held = {}
    if known is not None:
        held = {(run.folder, run.checksum, run.first, known.bits, known.id_type): run for run in known.runs}
    try:
        least = 1 if manifest["runs"] else 0
        bits, kind = whole("bits", manifest["bits"], least, _WIDEST), manifest["id_type"]
        digest, space, signer, entries = (manifest[name] for name in ("digest", "space", "signer", "runs"))
        if kind not in (NUMBER, TEXT) or not all(each is None or isinstance(each, str) for each in (digest, space)):
            raise StorageError("ids, digest or space are described wrongly")
        state = StoreState(bits, digest, space, kind, signer=signer, checksum=manifest["crc32"])
        runs: list[StoreRun] = []
        for entry in entries:
            first = runs[-1].first + len(runs[-1]) if runs else 0
            name, checksum = entry["name"], entry["crc32"]
            if not isinstance(name, str) or not _RUN_NAME.fullmatch(name):
                raise StorageError(f"{name!r} is no name of a run")
            whole("rows of a run", entry["count"], 1, ROWS)
            run = held.get((name, checksum, first, bits, kind)) or _opened(path, name, first, state, checksum)
            if len(run) != entry["count"]:
                raise StorageError(f"{name} has {len(run)} rows instead of {entry['count']}")
            runs.append(run)
        if signer is not None and checksum_of(path / SIGNER, SIGNER_KIND) != signer:
            raise StorageError("the signer is that of another store")
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, pa.ArrowInvalid, SosieError) as error:
        raise StorageError(f"{path}: is not a store of this version, or damaged ({error}).") from error
    return replace(state, runs=Segments(tuple(runs)))


def _opened(path: Path, name: str, first: int, state: StoreState, checksum: int) -> StoreRun:
    """Return a run as it is on disk, checked and mapped."""
    meta, arrays = read_artefact(path / name, RUN)
    if checksum_of(path / name, RUN) != checksum:
        raise StorageError(f"{name} is not the run that the store was written with")
    count = whole("rows", meta.get("count"), 1, ROWS)
    run = StoreRun.restored(first, count, (state.bits, state.id_type), arrays)
    return replace(run, folder=name, checksum=checksum)


def _is_empty(path: Path) -> bool:
    """Whether there is no manifest yet; a directory that is no store, and holds something else, is refused."""
    try:
        with naming(path):
            names = os.listdir(path)
    except StorageError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return True
        if isinstance(error.__cause__, NotADirectoryError):
            raise UsageError(f"{path}: is a file. Name the directory of a store, or a new one.") from error
        raise
    if MANIFEST in names:
        return False
    if any(_OURS.fullmatch(name) and not name.startswith(".") for name in names):
        raise StorageError(
            f"{path / MANIFEST}: is missing, so nobody knows which runs are whole. Restore a copy of it."
        )
    others = [name for name in names if not _OURS.fullmatch(name)]
    if others:
        raise UsageError(
            f"{path}: is not a store, and holds other files ({sorted(others)[0]}). Name a store, or a new directory."
        )
    return True


def _remove_leftovers(path: Path, state: StoreState) -> None:
    listed = {run.folder for run in state.runs} | ({SIGNER} if state.signer is not None else set())
    for name in os.listdir(path):
        if _OURS.fullmatch(name) and name not in listed:
            shutil.rmtree(path / name, ignore_errors=True)
