"""What a signer may know of a collection beyond its spec."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from sosie.errors import DataError
from sosie.types import Keys, Signatures

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]  # what a manifest says, as JSON has it, and arrays


class Statistics(Protocol):
    """Numbers of a collection that a method was fitted to; `Spec.restore` makes them again from their state."""

    @property
    def digest(self) -> str:
        """The name of these statistics: 32 hexadecimal digits of everything that changes a bit."""

    def state(self) -> State:
        """Return what is stored."""


class UnknownVocabularyError(DataError):
    """Texts share nothing with the statistics of their signer; `signed` is what was made of them nevertheless."""

    def __init__(self, signed: Signatures | Keys) -> None:
        super().__init__(
            f"no word of these {len(signed) + len(signed.unsigned):,} documents is known to the statistics of their "
            "signer: fit to texts like these, with the same shingles, or name their language"
        )
        self.signed = signed
