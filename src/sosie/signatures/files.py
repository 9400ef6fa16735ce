"""Signatures and signers as files: signatures or keys with their ids, what made them, and on request the features."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.arrays import check_column, check_rows
from sosie.errors import MismatchError, StorageError
from sosie.features.shingles import Shingles
from sosie.signatures.registry import spec_from_dict
from sosie.signatures.signer import FREQUENCIES, PREFIX, Signer, digest_of, named_space, state_of, statistics_of
from sosie.signatures.signer import KIND as SIGNER
from sosie.signatures.spec import Spec
from sosie.storage.ids import IDS, given_ids, id_arrays, ids_of
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.types import Features, Keys, Signatures

KIND = "signatures"
SIGNED = ("words", "keys", "volatility", "unsigned", *IDS)
FEATURES = ("features", "feature_offsets")
_OTHER_DIGEST = "the digest is not that of the signer. Sign again."


def save_signatures(
    directory: str | os.PathLike[str],
    signed: Signatures | Keys,
    signer: Spec | Signer,
    features: Features | None = None,
) -> None:
    """Write signatures or keys, their ids and the signer (or spec) that made them to a directory without an artefact.

    `features`, a row for each row that is signed, are for verification later; see `load_features`.
    """
    spec, statistics = (signer, None) if isinstance(signer, Spec) else (signer.spec, signer.statistics)
    if signed.digest not in (None, signer.digest):
        raise MismatchError(f"these were made by {signed.digest}, not by {signer.digest}: pass the signer of them")
    if isinstance(signer, Signer) and signed.space not in (None, signer.space or signer.digest):
        raise MismatchError(
            f"these are for comparison with {signed.space}, and the signer for {signer.space or signer.digest}: "
            "pass the signer of them"
        )
    meta, arrays = state_of(spec, statistics)
    meta |= named_space(signed if isinstance(signer, Spec) else signer)
    arrays.update({"unsigned": signed.unsigned, **id_arrays(signed.ids)})
    if features is not None:
        if len(features) != len(signed):
            raise MismatchError(f"features of {len(features)} documents for {len(signed)} that are signed")
        arrays.update(zip(FEATURES, (features.hashes, features.offsets), strict=True))
    if isinstance(signed, Signatures):
        arrays["words"] = signed.words
        meta["bits"] = signed.bits
        if signed.volatility is not None:
            arrays["volatility"] = signed.volatility
    else:
        arrays["keys"] = signed.values
    write_artefact(directory, KIND, arrays, digest=signer.digest, meta={**meta, "rows": len(signed)})


def load_signatures(directory: str | os.PathLike[str]) -> Signatures | Keys:
    """Read what `save_signatures` wrote, checked and memory-mapped; a spec of other bits raises."""
    return load_mapped(directory)[0]


def load_mapped(directory: str | os.PathLike[str]) -> tuple[Signatures | Keys, list[NDArray[Any]]]:
    """Read signatures as `load_signatures` does; the arrays that are mapped beside them, for `storage.resident`."""
    meta, arrays = read_artefact(directory, KIND, SIGNED)
    with _naming(directory, "set of signatures"):
        fitted = [meta[name]["digest"] for name in ("frequencies", "statistics") if name in meta]
        if digest_of(spec_from_dict(meta["spec"]), fitted[0] if fitted else None) != meta["digest"]:
            raise StorageError(_OTHER_DIGEST)
        ids = given_ids(arrays)
        check_column("the rows without features", arrays["unsigned"], np.int64)
        check_rows("the rows without features", arrays["unsigned"])
        if "keys" in arrays:
            return Keys(arrays["keys"], ids, meta["digest"], arrays["unsigned"], _space(meta)), list(arrays.values())
        volatility = arrays.get("volatility")
        signed = Signatures(
            arrays["words"], meta["bits"], ids, meta["digest"], arrays["unsigned"], volatility, _space(meta)
        )
        if volatility is not None and (
            volatility.dtype != np.float32 or volatility.shape != (len(signed), signed.bits)
        ):
            raise StorageError("the volatility is not that of the signatures. Sign again.")
        return signed, list(arrays.values())


def load_signer(directory: str | os.PathLike[str]) -> Signer:
    """Read a signer that was saved, by itself or with the signatures it made; its statistics are memory-mapped.

    >>> import tempfile
    >>> from sosie.signatures.simhash import Simhash
    >>> signer, folder = Simhash(weighting="bm25").fit(["the cat sat", "the dog ran"]), tempfile.mkdtemp()
    >>> signer.save(folder)
    >>> load_signer(folder).digest == signer.digest
    True
    """
    meta, arrays = read_artefact(directory, (SIGNER, KIND), (*FREQUENCIES, f"{PREFIX}*"))
    with _naming(directory, "signer"):
        spec = spec_from_dict(meta["spec"])
        signer: Signer = spec.fit(statistics_of(spec, meta, dict(arrays)))
        if signer.digest != meta["digest"]:
            raise StorageError(_OTHER_DIGEST)
        return signer if _space(meta) is None else signer.within(meta["space"])


def load_features(directory: str | os.PathLike[str]) -> tuple[Features, Any, Shingles]:
    """Read the distinct features that are stored with signatures, the ids of their rows, and what they are made of."""
    meta, arrays = read_artefact(directory, KIND, (*FEATURES, *IDS))
    if not arrays.keys() >= set(FEATURES):
        raise StorageError(f"{directory}: holds no features of its documents. Sign again with --features.")
    with _naming(directory, "set of signatures"):
        shingles, ids = spec_from_dict(meta["spec"]).shingles, ids_of(arrays)
        hashes, offsets = (arrays[name] for name in FEATURES)
        if hashes.dtype != np.uint64 or offsets.dtype != np.int64 or offsets.shape != (len(ids) + 1,):
            raise StorageError("the features are not those of the rows. Sign again.")
        if offsets[0] != 0 or offsets[-1] != len(hashes) or np.any(np.diff(offsets) < 0):
            raise StorageError("the offsets of the features do not ascend. Sign again.")
        return Features(hashes, offsets), ids, shingles


def _space(meta: dict[str, Any]) -> str | None:
    """Return the space that a manifest names, None where it is that of the digest."""
    space = meta.get("space")
    if space is not None and not (isinstance(space, str) and space):
        raise StorageError(f"the space is no name: {space!r}. Sign again.")
    return space


@contextmanager
def _naming(directory: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever does not fit together into an error that names the directory."""
    try:
        yield
    except StorageError as error:
        raise StorageError(f"{directory}: {error}") from error
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError, pa.ArrowInvalid) as error:
        raise StorageError(f"{directory}: is not a {what} of this version ({error}). Sign again.") from error
