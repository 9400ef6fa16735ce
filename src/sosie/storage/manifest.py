"""A directory of plain little-endian arrays with a manifest: checked before it is mapped, no pickle."""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sosie.errors import StorageError, UsageError
from sosie.parallel import ordered_map
from sosie.storage.durable import naming, sync
from sosie.storage.folder import Folder, read_folder

FORMAT = "sosie-artefact"
VERSION = 1
MANIFEST = "manifest.json"
_DTYPES = frozenset({"|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"})
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}")
_RESERVED = frozenset({"format", "version", "kind", "files", "crc32"})
_CHUNK = 1 << 24
_PIECE = 1 << 20  # what is read at a time stays in the cache
_LARGE = 1 << 24  # bytes, from which on files are checked side by side


def write_artefact(
    directory: str | os.PathLike[str],
    kind: str,
    arrays: Mapping[str, NDArray[Any]],
    *,
    digest: str | None = None,
    meta: Mapping[str, Any] | None = None,
    moved: Mapping[str, Path] | None = None,
) -> None:
    """Write arrays and then the manifest, flushed, into a directory without one.

    `meta` (JSON: spec, rows, ...) becomes part of the manifest. Use it inside an `OutputDirectory`, so that the
    artefact appears whole. `moved` names the files of the same file system that already hold some of the arrays, each
    from its first to its last byte: they become part of the artefact and are not copied.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_artefact(folder, "signatures", {"words": np.arange(3, dtype=np.uint64)}, digest="1f", meta={"rows": 3})
    >>> meta, arrays = read_artefact(folder, "signatures")
    >>> meta, arrays["words"].tolist()
    ({'digest': '1f', 'rows': 3}, [0, 1, 2])
    """
    folder, meta, moved = Path(directory), dict(meta or {}), moved or {}
    if taken := (_RESERVED | {"digest"}) & meta.keys():
        raise UsageError(f"{', '.join(sorted(taken))}: reserved in a manifest, choose other names")
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / MANIFEST).exists():
            raise UsageError(f"{folder}: already holds an artefact. Choose another directory.")
        files = {name: _write_array(folder, name, array, moved.get(name)) for name, array in arrays.items()}
        manifest = {"format": FORMAT, "version": VERSION, "kind": kind, "digest": digest, **meta, "files": files}
        manifest["crc32"] = _checksum(manifest)
        with open(folder / MANIFEST, "x", encoding="utf-8") as file:
            json.dump(manifest, file, indent=1, allow_nan=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        sync(folder)


def read_artefact(
    directory: str | os.PathLike[str], kind: str | Collection[str], names: Collection[str] | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the manifest's own fields (digest, spec, rows, ...) and the arrays, memory-mapped read-only.

    Several kinds may be welcome. With `names`, which may be patterns ("part_*"), only those arrays are read; others may
    be large. Sizes and checksums are verified first; every damage is a `StorageError` naming the file. A directory that
    is replaced meanwhile is read as it was, or as it is then: never some of both. One that is open is a `Folder`.
    """
    return read_folder(directory, lambda folder: _read_artefact(folder, kind, names))


def read_manifest(directory: str | os.PathLike[str], kind: str | Collection[str]) -> dict[str, Any]:
    """Return the whole manifest, checked; of the arrays it lists nothing is read."""
    return read_folder(directory, lambda folder: _read_manifest(folder, kind))


def checksum_of(directory: str | os.PathLike[str], kind: str) -> int:
    """Return the checksum of a manifest, which covers those of all files that it lists."""
    return int(read_manifest(directory, kind)["crc32"])


def artefact_kind(directory: str | os.PathLike[str]) -> str | None:
    """Return what Sosie wrote to a directory, by the kind that its manifest says; None if that is not Sosie's.

    Nothing else is checked. A manifest that names Sosie's format and is damaged raises.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / MANIFEST).write_text('{"name": "an extension of a browser"}')
    >>> artefact_kind(folder) is artefact_kind(folder / "nowhere") is None
    True
    """
    path = Path(directory) / MANIFEST
    try:
        content = path.read_bytes()
    except OSError:
        return None  # no directory, or one without a manifest
    try:
        manifest = json.loads(content)
    except (ValueError, RecursionError) as error:
        if FORMAT.encode() in content:
            raise StorageError(f"{path}: is damaged: not JSON ({error}). Build the artefact again.") from error
        return None
    ours = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    return str(manifest.get("kind")) if ours else None


def _write_array(folder: Path, name: str, array: NDArray[Any], moved: Path | None) -> dict[str, Any]:
    array = np.asarray(array)
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    if little.dtype.str not in _DTYPES or not _NAME.fullmatch(name) or name == MANIFEST:
        raise UsageError(f"{name}: cannot be stored as {array.dtype}. Plain numbers and plain names only.")
    crc = _write_data(folder / name, little) if moved is None else _take_over(moved, folder / name)
    return {"dtype": little.dtype.str, "shape": list(array.shape), "bytes": little.nbytes, "crc32": crc}


def _write_data(path: Path, array: NDArray[Any]) -> int:
    """Write an array to a new file, flushed, and return the checksum."""
    data = array.reshape(-1).view(np.uint8).data if array.size else memoryview(b"")
    crc = 0
    with open(path, "xb", buffering=0) as file:
        for start in range(0, len(data), _CHUNK):
            left = data[start : start + _CHUNK]
            crc = zlib.crc32(left, crc)
            while left:
                left = left[file.write(left) :]
        os.fsync(file.fileno())
    return crc


def _take_over(moved: Path, path: Path) -> int:
    """Give a file another name, flushed, and return the checksum; read, not mapped, so that it takes no memory."""
    os.rename(moved, path)
    with open(path, "rb", buffering=0) as file:
        os.fsync(file.fileno())
        return _checksum_of(file)


def _checksum_of(file: IO[bytes]) -> int:
    crc, piece = 0, memoryview(bytearray(_PIECE))
    while size := file.readinto(piece):  # type: ignore[attr-defined]
        crc = zlib.crc32(piece[:size], crc)
    return crc


def _read_artefact(
    folder: Folder, kind: str | Collection[str], names: Collection[str] | None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    manifest = _read_manifest(folder, kind)
    with naming(folder):
        wanted = {name: entry for name, entry in manifest["files"].items() if _is_wanted(name, names)}
        large = sum(entry["bytes"] for entry in wanted.values() if _is_sized(entry)) > _LARGE
        read = ordered_map(lambda item: _read_array(folder, *item), wanted.items(), None if large else 1)
        arrays = dict(zip(wanted, read, strict=True))
    return {name: value for name, value in manifest.items() if name not in _RESERVED}, arrays


def _read_manifest(folder: Folder, kind: str | Collection[str]) -> dict[str, Any]:
    path, kinds = folder.path / MANIFEST, [kind] if isinstance(kind, str) else list(kind)
    try:
        with naming(folder), folder.open(MANIFEST) as file:
            manifest = json.loads(file.read().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise StorageError(f"{path}: is damaged: not JSON ({error}). Build the artefact again.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StorageError(f"{path}: is not a Sosie artefact.")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise StorageError(f"{path}: is damaged: the version is {version!r}. Build the artefact again.")
    if version > VERSION:
        raise StorageError(f"{path}: has format version {version}, newer than {VERSION}. Update Sosie.")
    if manifest.get("crc32") != _checksum({name: value for name, value in manifest.items() if name != "crc32"}):
        raise StorageError(f"{path}: is damaged: the checksum differs. Build the artefact again.")
    if manifest.get("kind") not in kinds:
        expected = " or ".join(map(repr, kinds))
        remedy = _MADE_BY.get(kinds[0], "Give another directory.")
        raise StorageError(f"{path.parent}: holds {manifest.get('kind')!r}, not {expected}. {remedy}")
    if not isinstance(manifest.get("files"), dict):
        raise StorageError(f"{path}: is damaged: no list of files. Build the artefact again.")
    return manifest


# What to do where another artefact, or none, was found.
_MADE_BY = {
    "dictionary": "`sosie dictionary train` makes one.",
    "index": "`sosie index build` makes one.",
    "signatures": "`sosie sign` makes them.",
    "store": "`sosie batch` makes one.",
    "signer": "`sosie sign` and `sosie index build` write one beside what they make.",
}


def _is_wanted(name: str, names: Collection[str] | None) -> bool:
    return names is None or any(fnmatchcase(name, pattern) for pattern in names)


def _read_array(folder: Folder, name: str, entry: Any) -> NDArray[Any]:
    if not _NAME.fullmatch(name) or name == MANIFEST:
        raise StorageError(f"{folder.path / MANIFEST}: {name!r} is not a plain file name. Build the artefact again.")
    path = folder.path / name
    dtype, shape, size = _checked_entry(path, entry)
    with folder.open(name) as file:
        found = os.fstat(file.fileno()).st_size
        if found != size:
            raise StorageError(f"{path}: is damaged: {found} bytes instead of {size}. Build the artefact again.")
        if _checksum_of(file) != entry.get("crc32"):
            raise StorageError(f"{path}: is damaged: the checksum differs. Build the artefact again.")
        if size:
            return np.memmap(file, dtype, "r", shape=shape)
    try:
        empty = np.empty(shape, dtype)
    except ValueError as error:
        raise StorageError(f"{path}: has an impossible shape in {MANIFEST}. Build the artefact again.") from error
    empty.flags.writeable = False
    return empty


def _checked_entry(path: Path, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    fields = entry if isinstance(entry, dict) else {}
    dtype, shape, size = (fields.get(name) for name in ("dtype", "shape", "bytes"))
    plain = (
        isinstance(shape, list) and len(shape) <= 8 and all(type(side) is int and 0 <= side < 2**40 for side in shape)
    )
    if not isinstance(dtype, str) or dtype not in _DTYPES or not plain or type(size) is not int:
        raise StorageError(f"{path}: is described wrongly in {MANIFEST}. Build the artefact again.")
    assert isinstance(shape, list)
    if math.prod(shape) * np.dtype(dtype).itemsize != size:
        raise StorageError(f"{path}: shape and size disagree in {MANIFEST}. Build the artefact again.")
    return np.dtype(dtype), tuple(shape), size


def _is_sized(entry: Any) -> bool:
    return isinstance(entry, dict) and type(entry.get("bytes")) is int


def _checksum(manifest: Mapping[str, Any]) -> int:
    plain = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return zlib.crc32(plain.encode("utf-8", "surrogatepass"))
