"""Signature sets as files: signatures or keys with their ids and the spec that made them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import StorageError
from sosie.signatures.registry import spec_from_dict
from sosie.signatures.spec import Spec
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.types import Keys, Signatures

KIND = "signatures"


def save_signatures(directory: str | os.PathLike[str], signed: Signatures | Keys, spec: Spec) -> None:
    """Write signatures or keys, their ids and their spec to a directory without an artefact."""
    arrays = {"unsigned": signed.unsigned, **_id_arrays(signed.ids)}
    meta: dict[str, Any] = {"spec": spec.to_dict(), "rows": len(signed)}
    if isinstance(signed, Signatures):
        arrays["words"] = signed.words
        meta["bits"] = signed.bits
        if signed.volatility is not None:
            arrays["volatility"] = signed.volatility
    else:
        arrays["keys"] = signed.values
    write_artefact(directory, KIND, arrays, digest=spec.digest, meta=meta)


def load_signatures(directory: str | os.PathLike[str]) -> Signatures | Keys:
    """Read what `save_signatures` wrote, checked and memory-mapped; a spec of other bits raises."""
    meta, arrays = read_artefact(directory, KIND)
    try:
        if spec_from_dict(meta["spec"]).digest != meta["digest"]:
            raise StorageError("the digest is not that of the spec")
        ids = _ids_of(arrays)
        if "keys" in arrays:
            return Keys(arrays["keys"], ids, meta["digest"], arrays["unsigned"])
        return Signatures(
            arrays["words"], meta["bits"], ids, meta["digest"], arrays["unsigned"], arrays.get("volatility")
        )
    except (KeyError, TypeError, ValueError, StorageError, pa.ArrowInvalid) as error:
        raise StorageError(f"{directory}: is not a set of signatures of this version ({error}). Sign again.") from error


def _id_arrays(ids: Any) -> dict[str, Any]:
    if pa.types.is_integer(ids.type):
        return {"ids": ids.to_numpy()}
    texts = ids.cast(pa.large_string())
    encoded = [text.encode() for text in texts.to_pylist()]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return {"id_bytes": np.frombuffer(b"".join(encoded), np.uint8), "id_offsets": offsets}


def _ids_of(arrays: dict[str, Any]) -> Any:
    if "ids" in arrays:
        return pa.array(arrays["ids"])
    offsets, data = arrays["id_offsets"], arrays["id_bytes"]
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(np.ascontiguousarray(data))]
    ids = pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)
    ids.validate(full=True)
    return ids
