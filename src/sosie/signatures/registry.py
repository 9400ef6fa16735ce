"""The signature methods by name, and specs rebuilt from the data that artefacts hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

from sosie.errors import StorageError, UsageError
from sosie.features.shingles import Shingles
from sosie.signatures.spec import Spec

_HOMES = {
    "fuzzy-fingerprint": ("fuzzy", "FuzzyFingerprint"),
    "minhash": ("minhash", "Minhash"),
    "p-stable": ("pstable", "PStable"),
    "projection": ("projection", "RandomProjection"),
    "simhash": ("simhash", "Simhash"),
    "svd": ("svd", "SvdEmbedding"),
    "threshold": ("threshold", "ThresholdEmbedding"),
    "topsig": ("topsig", "TopSig"),
}


class Methods(Mapping[str, type[Spec]]):
    """The class of every method, imported when it is asked for: a job loads the kernels of its own method only."""

    def __getitem__(self, method: str) -> type[Spec]:
        home, name = _HOMES[method]
        kind: type[Spec] = getattr(import_module(f"sosie.signatures.{home}"), name)
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


METHODS = Methods()


def spec_from_dict(data: dict[str, Any]) -> Spec:
    """Rebuild a spec from `Spec.to_dict`; one whose bits this version would not make raises.

    >>> from sosie.signatures.simhash import Simhash
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
