"""What every signer has: its spec, the statistics it was fitted to, and a digest of both that names its bits."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import Any

from sosie.errors import UsageError
from sosie.features.frequencies import DocumentFrequencies
from sosie.signatures.spec import Spec
from sosie.signatures.statistics import State, Statistics
from sosie.storage.manifest import write_artefact
from sosie.types import Keys, Signatures

KIND = "signer"
FREQUENCIES = ("frequency_features", "frequency_counts")
PREFIX = "statistics_"  # of the names of arrays that hold other statistics


@dataclass(frozen=True)
class Signer:
    """A spec that is ready to sign; `statistics` are there if the spec needs those of a collection.

    A family makes signatures, keys, or both: what it does not make is refused.
    """

    spec: Spec
    statistics: Statistics | None = None

    def __post_init__(self) -> None:
        if self.spec.needs_texts and self.statistics is None:
            raise UsageError(
                f"{self.spec} needs the statistics of a collection: "
                "call fit(texts) with its texts or a Source, or load a signer that was saved"
            )

    @property
    def frequencies(self) -> DocumentFrequencies | None:
        """The document frequencies of the collection, if these are the statistics."""
        return self.statistics if isinstance(self.statistics, DocumentFrequencies) else None

    @property
    def digest(self) -> str:
        """The name of the bits: the digest of the spec, and of the statistics if there are any."""
        return digest_of(self.spec, None if self.statistics is None else self.statistics.digest)

    def sign(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Signatures:
        """Sign texts, or `Features`."""
        raise UsageError(f"{self.spec.method} makes keys, not signatures: call keys(texts)")

    def keys(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Keys:
        """Return the keys of texts, or of `Features`: one for each table."""
        raise UsageError(f"{self.spec.method} makes signatures, not keys: call sign(texts)")

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the spec and the statistics to a directory without an artefact; `load_signer` reads them."""
        meta, arrays = state_of(self.spec, self.statistics)
        write_artefact(directory, KIND, arrays, digest=self.digest, meta=meta)


def digest_of(spec: Spec, statistics: str | None) -> str:
    """Return the digest of a signer, of 32 hexadecimal digits; without statistics it is that of its spec."""
    if statistics is None:
        return spec.digest
    return hashlib.sha256(f"{spec.digest} {statistics}".encode()).hexdigest()[:32]


def state_of(spec: Spec, statistics: Statistics | None) -> State:
    """Return a signer as what a manifest says and which arrays it lists."""
    if statistics is None:
        return {"spec": spec.to_dict()}, {}
    said, arrays = statistics.state()
    name = "frequencies" if isinstance(statistics, DocumentFrequencies) else "statistics"
    if name == "statistics":
        arrays = {PREFIX + each: array for each, array in arrays.items()}
    return {"spec": spec.to_dict(), name: {**said, "digest": statistics.digest}}, arrays


def statistics_of(spec: Spec, meta: dict[str, Any], arrays: dict[str, Any]) -> Statistics | None:
    """Return the statistics that `state_of` gave away."""
    if "frequencies" in meta:
        counted, (features, counts) = meta["frequencies"], (arrays[name] for name in FREQUENCIES)
        return DocumentFrequencies(features, counts, int(counted["documents"]), int(counted["length"]))
    if "statistics" in meta:
        named = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        return spec.restore(meta["statistics"], named)
    return None
