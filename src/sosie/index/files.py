"""Indexes as files: their structure as it is in memory, so that an index that is loaded need not be built."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.errors import SosieError, StorageError, UsageError
from sosie.index.ids import RowIds
from sosie.index.registry import CLASSES
from sosie.storage.folder import Folder, read_folder
from sosie.storage.ids import id_arrays, ids_of
from sosie.storage.manifest import MANIFEST, checksum_of, read_artefact, write_artefact
from sosie.storage.output import OutputDirectory

if TYPE_CHECKING:
    from sosie.index.hamming import HammingIndex
    from sosie.index.keys import KeyIndex
    from sosie.index.words import WordIndex

KIND = "index"
_ID_TYPES = {str(kind): kind for kind in (pa.string(), pa.large_string())}


@dataclass(frozen=True, eq=False)
class SavedIndex:
    """All that is saved of an index of the class `name`: parameters, as JSON has them, and arrays."""

    name: str
    ids: RowIds
    digest: str | None
    space: str | None
    parameters: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def load_index(directory: str | os.PathLike[str]) -> HammingIndex | KeyIndex | WordIndex:
    """Read an index that was saved: checked, then memory-mapped, not built again.

    It can be searched, changed and saved again; what a change touches is copied to memory, the files stay as they are.

    >>> import tempfile
    >>> from sosie.index.flat import FlatIndex
    >>> from sosie.types import Signatures
    >>> index, folder = FlatIndex(Signatures(np.array([5, 6], np.uint64), ids=["a", "b"])), tempfile.mkdtemp()
    >>> index.save(folder)
    >>> load_index(folder).ids.to_pylist()
    ['a', 'b']
    """
    return read_folder(directory, _load)


def _load(directory: Folder) -> HammingIndex | KeyIndex | WordIndex:
    meta, arrays = read_artefact(directory, KIND)
    check_parts(directory, meta.get("parts"))
    name = meta.get("class")
    if not isinstance(name, str) or name not in CLASSES:
        raise StorageError(f"{directory}: holds an index of the class {name!r}, unknown to this version. Update Sosie.")
    made: type[HammingIndex] | type[KeyIndex] | type[WordIndex] = CLASSES[name].load()
    try:
        ids = _restored_ids(meta["rows"], meta["id_type"], arrays)
        digest, space = meta["digest"], meta.get("space", meta["digest"])
        return made.restored(SavedIndex(name, ids, digest, space, meta["parameters"], arrays))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, SosieError, pa.ArrowInvalid) as error:
        message = f"{directory}: is not an index of this version ({error}). Build it again."
        raise StorageError(message) from error


def write_index(directory: str | os.PathLike[str], saved: SavedIndex, *, overwrite: bool) -> None:
    """Write an index so that it appears whole."""
    with OutputDirectory(directory, overwrite) as output:
        write_index_files(output.path, saved)


def write_index_files(directory: Path, saved: SavedIndex, parts: Mapping[str, int] | None = None) -> None:
    """Write the files of an index to a directory without an artefact, last its manifest.

    `parts` are the checksums of the manifests of the folders there that belong to it, by name.
    """
    arrays, ids, kind = saved.arrays, saved.ids, None
    if not ids.numbered:
        kind = str(ids.type)
        if kind not in _ID_TYPES and not pa.types.is_integer(ids.type):
            raise UsageError(f"ids of type {kind} cannot be saved: use strings or integers")
        arrays = {**arrays, **id_arrays(ids.all)}
    meta = {"class": saved.name, "parameters": saved.parameters, "rows": len(ids), "id_type": kind}
    if saved.space != saved.digest:
        meta["space"] = saved.space
    if parts is not None:
        meta["parts"] = dict(parts)
    write_artefact(directory, KIND, arrays, digest=saved.digest, meta=meta)


def check_parts(folder: Folder, parts: Any) -> None:
    """Refuse folders of an index that are not those it was written with.

    `parts` is what its manifest says of them: by the name of each, which is also its kind, the checksum of its own
    manifest, which covers those of its files. Manifests of versions that did not say it have None.
    """
    if parts is None:
        return
    if not isinstance(parts, dict) or not all(name.isidentifier() and type(parts[name]) is int for name in parts):
        raise StorageError(f"{folder.path / MANIFEST}: describes its parts wrongly. Build the index again.")
    for name, checksum in parts.items():
        with folder.inside(name) as part:
            if checksum_of(part, name) != checksum:
                raise StorageError(f"{part}: does not fit the index: it is that of another. Build the index again.")


def check_array(array: NDArray[Any], dtype: type, shape: tuple[int, ...]) -> None:
    """Refuse an array from a file that is not what the rows need."""
    if array.dtype != dtype or array.shape != shape:
        raise StorageError(f"an array is {array.dtype}{list(array.shape)}, not {np.dtype(dtype)}{list(shape)}")


def check_starts(starts: NDArray[Any], count: int) -> None:
    """Refuse a table from a file whose parts do not follow each other, or are not all of its rows."""
    if np.any(starts[:, 0] != 0) or np.any(starts[:, -1] != count) or np.any(starts[:, 1:] < starts[:, :-1]):
        raise StorageError("the parts of a table do not follow each other")


def _restored_ids(rows: int, kind: str | None, arrays: Mapping[str, NDArray[Any]]) -> RowIds:
    removed = arrays["removed"]
    if rows < 0:
        raise StorageError(f"{rows} rows")
    if removed.dtype != np.int64 or removed.ndim != 1 or len(np.unique(removed)) < len(removed):
        raise StorageError("the removed rows are not distinct numbers")
    if len(removed) and not (0 <= removed.min() and removed.max() < rows):
        raise StorageError("a row was removed that is not there")
    if kind is None:
        return RowIds.restored(rows, None, removed)
    ids = ids_of(arrays)
    if len(ids) != rows:
        raise StorageError(f"{len(ids)} ids for {rows} rows")
    return RowIds.restored(rows, ids.cast(_ID_TYPES.get(kind, ids.type)), removed)
