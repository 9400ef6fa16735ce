"""What every signer has: its spec, the statistics it was fitted to, and a digest of both that names its bits."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from sosie.errors import UsageError
from sosie.features.frequencies import DocumentFrequencies
from sosie.signatures.spec import Spec
from sosie.storage.manifest import write_artefact
from sosie.types import Signatures

KIND = "signer"
STATISTICS = ("frequency_features", "frequency_counts")


@dataclass(frozen=True)
class Signer(ABC):
    """A spec that is ready to sign; `frequencies` are there if the spec needs the statistics of a collection."""

    spec: Spec
    frequencies: DocumentFrequencies | None = None

    def __post_init__(self) -> None:
        if self.spec.needs_texts and self.frequencies is None:
            raise UsageError(
                f"{self.spec} needs the document frequencies of a collection: "
                "call fit(texts) with its texts or a Source, or load a signer that was saved"
            )

    @property
    def digest(self) -> str:
        """The name of the bits: the digest of the spec, and of the statistics if there are any."""
        return digest_of(self.spec, None if self.frequencies is None else self.frequencies.digest)

    @abstractmethod
    def sign(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Signatures:
        """Sign texts, or `Features`."""

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the spec and the statistics to a directory without an artefact; `load_signer` reads them."""
        meta, arrays = state_of(self.spec, self.frequencies)
        write_artefact(directory, KIND, arrays, digest=self.digest, meta=meta)


def digest_of(spec: Spec, statistics: str | None) -> str:
    """Return the digest of a signer, of 32 hexadecimal digits; without statistics it is that of its spec."""
    if statistics is None:
        return spec.digest
    return hashlib.sha256(f"{spec.digest} {statistics}".encode()).hexdigest()[:32]


def state_of(spec: Spec, frequencies: DocumentFrequencies | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a signer as what a manifest says and which arrays it lists."""
    if frequencies is None:
        return {"spec": spec.to_dict()}, {}
    counted = {"documents": frequencies.documents, "length": frequencies.length, "digest": frequencies.digest}
    arrays = dict(zip(STATISTICS, (frequencies.features, frequencies.counts), strict=True))
    return {"spec": spec.to_dict(), "frequencies": counted}, arrays
