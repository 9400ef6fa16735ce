"""What every signer has: its spec, the statistics it was fitted to, and a digest of both that names its bits.

A method fills `_words`, `_keys`, or both; ids, digests, spaces and what is refused are the same for all of them.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from typing import Any, Self

from sosie.errors import UsageError
from sosie.features.frequencies import DocumentFrequencies
from sosie.signatures.rows import SignedRows
from sosie.signatures.spec import Spec, State, Statistics
from sosie.storage.manifest import write_artefact
from sosie.types import Keys, Signatures

KIND = "signer"
FREQUENCIES = ("frequency_features", "frequency_counts")
PREFIX = "statistics_"  # of the names of arrays that hold other statistics


@dataclass(frozen=True)
class Signer:
    """A spec that is ready to sign; `statistics` are there if the spec needs those of a collection.

    A family makes signatures, keys, or both: what it does not make is refused. What different signers made is compared
    only if they are within one `space`; see `within`.
    """

    spec: Spec
    statistics: Statistics | None = None
    space: str | None = None

    def __post_init__(self) -> None:
        if self.space is not None and not (isinstance(self.space, str) and self.space):
            raise UsageError(f"a space is named by a text, got {self.space!r}")
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

    def within(self, space: str) -> Self:
        """Return this signer for comparisons with others of the same space, a German one with an English one, say.

        Whoever names the space vouches that distances between what they make mean something. Bits and digest stay.

        >>> from sosie.signatures.simhash import Simhash
        >>> german = Simhash().fit().within("de-en")
        >>> german.sign(["ein Text"]).space, german.digest == Simhash().digest
        ('de-en', True)
        """
        return replace(self, space=space)

    def sign(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Signatures:
        """Sign texts, or `Features`; texts of which no word is known to the statistics may be refused."""
        signed = self.rows(texts, threads=threads).recognised()
        return self.signatures(signed, signed.ids(ids))

    def keys(self, texts: Any, *, ids: Any = None, threads: int | None = None) -> Keys:
        """Return the keys of texts, or of `Features`: one for each table."""
        signed = self.rows(texts, keys=True, threads=threads).recognised()
        return self.keyed(signed, signed.ids(ids))

    def rows(
        self, texts: Any, *, keys: bool = False, volatility: bool = False, threads: int | None = None
    ) -> SignedRows:
        """Sign a batch, known or not; what the method does not make is refused."""
        made, wanted = self.spec.makes, "keys" if keys else "signatures"
        if wanted not in made:
            other = "sign" if keys else "keys"
            raise UsageError(f"{self.spec.method} makes {made[0]}, not {wanted}: call {other}(texts)")
        if volatility and not self.spec.volatile:
            raise UsageError(f"{self.spec.method} has no volatility: leave it out, or take simhash or projection")
        if keys:
            return self._keys(texts, threads)
        return self._volatile_words(texts, threads) if volatility else self._words(texts, threads)

    def signatures(self, signed: SignedRows, ids: Any) -> Signatures:
        """Return rows of words as signatures of this signer."""
        unsigned = signed.unsigned
        return Signatures(signed.rows, self._bits, ids, self.digest, unsigned, signed.sums, space=self.space)

    def keyed(self, signed: SignedRows, ids: Any) -> Keys:
        """Return rows of keys as keys of this signer."""
        return Keys(signed.rows, ids, self.digest, signed.unsigned, space=self.space)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write the spec and the statistics to a directory without an artefact; `load_signer` reads them."""
        meta, arrays = state_of(self.spec, self.statistics)
        write_artefact(directory, KIND, arrays, digest=self.digest, meta={**meta, **named_space(self)})

    @property
    def _bits(self) -> int:
        """The bits of a signature."""
        return int(self.spec.bits)  # type: ignore[attr-defined]

    def _words(self, texts: Any, threads: int | None) -> SignedRows:
        raise NotImplementedError(f"{self.spec.method} does not say how signatures are made")

    def _volatile_words(self, texts: Any, threads: int | None) -> SignedRows:
        raise NotImplementedError(f"{self.spec.method} does not say how sums are kept")

    def _keys(self, texts: Any, threads: int | None) -> SignedRows:
        raise NotImplementedError(f"{self.spec.method} does not say how keys are made")


def named_space(of: Signer | Signatures | Keys) -> dict[str, str]:
    """Return what a manifest says of a space: nothing where it is that of the digest."""
    return {} if of.space in (None, of.digest) else {"space": str(of.space)}


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
        return DocumentFrequencies(features, counts, counted["documents"], counted["length"])
    if "statistics" in meta:
        named = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
        return spec.restore(meta["statistics"], named)
    return None
