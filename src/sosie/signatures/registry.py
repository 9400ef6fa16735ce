"""The signature methods: one table, from which the public names, the command line and the loader are made.

Importing it loads the standard library only; the module of a method, with its kernels, is loaded when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sosie.errors import StorageError, UsageError

if TYPE_CHECKING:
    from sosie.signatures.spec import Spec

SPECS = {  # the method: its module, and the public name of its spec
    "fuzzy-fingerprint": ("sosie.signatures.fuzzy", "FuzzyFingerprint"),
    "minhash": ("sosie.signatures.minhash", "Minhash"),
    "p-stable": ("sosie.signatures.pstable", "PStable"),
    "projection": ("sosie.signatures.projection", "RandomProjection"),
    "simhash": ("sosie.signatures.simhash", "Simhash"),
    "svd": ("sosie.signatures.svd", "SvdEmbedding"),
    "threshold": ("sosie.signatures.threshold", "ThresholdEmbedding"),
    "topsig": ("sosie.signatures.topsig", "TopSig"),
}


class Methods(Mapping[str, "type[Spec]"]):
    """The class of every method, imported when it is asked for: a job loads the kernels of its own method only."""

    def __getitem__(self, method: str) -> type[Spec]:
        home, name = SPECS[method]
        kind: type[Spec] = getattr(import_module(home), name)
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(SPECS)

    def __len__(self) -> int:
        return len(SPECS)


METHODS = Methods()


def method_named(name: str) -> type[Spec]:
    """Return the spec's class."""
    if name not in METHODS:
        raise UsageError(f"method must be one of {', '.join(METHODS)}, got {name!r}")
    return METHODS[name]


def spec_from_dict(data: dict[str, Any]) -> Spec:
    """Rebuild a spec from `Spec.to_dict`; one whose bits this version would not make raises.

    >>> from sosie.signatures.simhash import Simhash
    >>> spec_from_dict(Simhash(bits=128).to_dict())
    Simhash(shingles=Shingles(width=3, unit='word', stem=None, stop_words=None), seed=0, bits=128, weighting='tf')
    """
    try:
        spec = METHODS[data["method"]].from_dict(data)
    except UsageError as error:
        raise StorageError(str(error)) from error
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(f"no spec of this version: {data} ({error!r})") from error
    if spec.to_dict() != data:
        raise StorageError(f"made by another version of Sosie, sign again: {data}, now {spec.to_dict()}")
    return spec
