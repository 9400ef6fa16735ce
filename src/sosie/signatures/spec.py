"""What every signature method shares: a spec is frozen data, a signer turns texts into bits or keys.

A spec's digest names the bits it makes. It covers every field, the method's version and the Unicode version of the
tables, and it is stored in every artefact. Golden vectors pin the bits: a change of bits is a new version.

Every method takes three steps (STEIN 2.2), and its spec names them: an *embedding* of the features in few real numbers,
a *quantisation* of these to few values, an *encoding* of the values as bits or as a key. Longer codes are more precise
(`code_length`), more codes for each document find more (`multiplicity`).
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sosie.errors import StorageError, UsageError
from sosie.features.shingles import Shingles
from sosie.planner.models.bands import radius_chance, radius_for
from sosie.text import UNICODE_VERSION
from sosie.types import F64

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # what a manifest says, as JSON has it, and arrays


class Statistics(Protocol):
    """What a signer may know of a collection beyond its spec; `Spec.restore` makes it again from its state."""

    @property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits of everything that changes a bit."""

    def state(self) -> State:
        """Return what is stored."""


@dataclass(frozen=True, kw_only=True)
class Spec(ABC):
    """The parameters of a signature method, as data."""

    method: ClassVar[str]
    version: ClassVar[int]
    makes: ClassVar[tuple[str, ...]] = ("signatures",)  # or keys, or both
    volatile: ClassVar[bool] = False  # whether signatures can have a volatility: the sums behind their bits

    shingles: Shingles = Shingles()
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 1 << 32:
            raise UsageError(f"seed must be from 0 to 2^32 - 1, got {self.seed}")

    def to_dict(self) -> dict[str, Any]:
        """Return everything that determines the bits, as JSON-ready data."""
        made_by = {"method": self.method, "version": self.version, "unicode": UNICODE_VERSION}
        return {**made_by, **asdict(self), "shingles": self.shingles.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the spec that `to_dict` described; missing fields raise."""
        values = {field.name: data[field.name] for field in fields(cls)}
        return cls(**{**values, "shingles": Shingles.from_dict(values["shingles"])})

    @property
    def digest(self) -> str:
        """The name of the bits that this spec makes: 32 hexadecimal digits."""
        data = self.to_dict()
        if "stop_words" in data["shingles"]:  # their digest says it all: where they come from changes no bit
            data["shingles"]["stop_words"] = {"digest": data["shingles"]["stop_words"]["digest"]}
        canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:32]

    @property
    @abstractmethod
    def embedding(self) -> str:
        """How features become few real numbers."""

    @property
    @abstractmethod
    def quantisation(self) -> str:
        """How each of these numbers becomes one of few values."""

    @property
    @abstractmethod
    def encoding(self) -> str:
        """How the values become bits or keys."""

    @property
    @abstractmethod
    def code_length(self) -> int:
        """How many values make a code: a longer one is more precise."""

    @property
    @abstractmethod
    def multiplicity(self) -> int:
        """How many codes a document has: with more of them, more of what is similar is found."""

    @property
    def needs_texts(self) -> bool:
        """Whether `fit` collects statistics from texts."""
        return False

    @abstractmethod
    def fit(self, texts: Any = None, *, threads: int | None = None) -> Any:
        """Return a signer; collects statistics from the texts where the method needs any, or takes them as they are."""

    def restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> Statistics:
        """Return the statistics that were stored, which `fit` takes; their arrays cannot be written, nor trusted."""
        raise StorageError(f"{self.method} has no statistics of its own")

    def similarity(self, distances: Any, *, keys: bool = False) -> F64 | None:
        """Return the similarity that distances of signatures (or of keys: tables that differ) are an estimate of.

        None where they are an estimate of none.
        """
        return None


class Angular:
    """A spec whose bits are the signs of random sums: the Hamming distance estimates an angle (NFL Equation 2).

    Two documents differ in each bit with the probability of their angle / pi.
    """

    quantisation: ClassVar[str] = "sign"
    encoding: ClassVar[str] = "bits"

    bits: int

    @property
    def code_length(self) -> int:
        """The bits of the signature."""
        return self.bits

    @property
    def multiplicity(self) -> int:
        """One signature for each document: the radius of a search decides what is found."""
        return 1

    def similarity(self, distances: Any, *, keys: bool = False) -> F64:
        """Return the cosine that Hamming distances stand for: cos(pi distance / bits).

        >>> from sosie.signatures.projection import RandomProjection
        >>> RandomProjection(bits=1000).similarity([0, 400, 500]).round(3).tolist()
        [1.0, 0.309, 0.0]
        """
        return np.cos(np.asarray(distances) * (np.pi / self.bits))

    def radius(self, cosine: float, recall: float = 0.99) -> int:
        """Return the smallest radius that holds a pair of this cosine with at least the given probability.

        >>> from sosie.signatures.simhash import Simhash
        >>> Simhash(bits=64).radius(8 / 9), Simhash(bits=256).radius(8 / 9)
        (17, 53)
        """
        return radius_for(cosine, self.bits, recall)

    def chances(self, cosines: F64, radius: int) -> F64:
        """Return the probability that a pair of each cosine is within the radius (NFL Equation 5, of all bits).

        >>> from sosie.signatures.simhash import Simhash
        >>> Simhash(bits=64).chances(np.array([8 / 9, 1.0]), 17).round(3).tolist()
        [0.994, 1.0]
        """
        steps = np.unique(np.round(np.clip(cosines, 0, 1) * 1000).astype(np.int64))
        table = np.zeros(1001)
        table[steps] = radius_chance(steps / 1000, self.bits, radius)
        return np.asarray(table[np.round(np.clip(cosines, 0, 1) * 1000).astype(np.int64)])
