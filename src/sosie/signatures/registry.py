"""The signature methods by name, and specs rebuilt from the data that artefacts hold."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sosie.errors import StorageError, UsageError
from sosie.features.shingles import Shingles
from sosie.signatures.fuzzy import FuzzyFingerprint
from sosie.signatures.minhash import Minhash
from sosie.signatures.projection import RandomProjection
from sosie.signatures.pstable import PStable
from sosie.signatures.simhash import Simhash
from sosie.signatures.spec import Spec
from sosie.signatures.svd import SvdEmbedding
from sosie.signatures.threshold import ThresholdEmbedding
from sosie.signatures.topsig import TopSig

_KINDS = (
    *(FuzzyFingerprint, Minhash, PStable, RandomProjection, Simhash),
    *(SvdEmbedding, ThresholdEmbedding, TopSig),
)
METHODS: dict[str, type[Spec]] = {kind.method: kind for kind in _KINDS}


def spec_from_dict(data: dict[str, Any]) -> Spec:
    """Rebuild a spec from `Spec.to_dict`; one whose bits this version would not make raises.

    >>> spec_from_dict(Simhash(bits=128).to_dict())
    Simhash(shingles=Shingles(width=3, unit='word', stem=None, stop_words=None), seed=0, bits=128, weighting='tf')
    """
    try:
        kind = METHODS[data["method"]]
        values = {field.name: data[field.name] for field in fields(kind)}
        spec = kind(**{**values, "shingles": Shingles.from_dict(values["shingles"])})
    except UsageError as error:
        raise StorageError(str(error)) from error
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"no spec of this version: {data} ({error!r})") from error
    if spec.to_dict() != data:
        raise StorageError(f"made by another version of Sosie, sign again: {data}, now {spec.to_dict()}")
    return spec
