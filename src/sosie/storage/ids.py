"""Ids as plain arrays: integers as they are, strings as UTF-8 with offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.errors import StorageError

IDS = ("ids", "id_bytes", "id_offsets")


def id_arrays(ids: Any) -> dict[str, NDArray[Any]]:
    """Return an Arrow array of ids as arrays of an artefact.

    >>> {name: array.tolist() for name, array in id_arrays(pa.array(["a", "bc"])).items()}
    {'id_bytes': [97, 98, 99], 'id_offsets': [0, 1, 3]}
    """
    if pa.types.is_integer(ids.type):
        return {"ids": ids.to_numpy()}
    texts = ids.cast(pa.large_string())
    if not len(texts):
        return {"id_bytes": np.empty(0, np.uint8), "id_offsets": np.zeros(1, np.int64)}
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return {"id_bytes": _bytes(data)[offsets[0] : offsets[-1]], "id_offsets": offsets - offsets[0]}


def ids_of(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the ids as an Arrow array, checked; strings become large strings."""
    if "ids" in arrays:
        return pa.array(arrays["ids"])
    offsets, data = arrays["id_offsets"], arrays["id_bytes"]
    if offsets.dtype != np.int64 or offsets.ndim != 1 or not len(offsets) or data.dtype != np.uint8:
        raise StorageError("the ids are not bytes with offsets")
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    ids = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
    ids.validate(full=True)
    return ids


def _bytes(data: Any) -> NDArray[np.uint8]:
    return np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
