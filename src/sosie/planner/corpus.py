"""What is known of a collection of documents: how many, in which files, and how much they have in common."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A collection of documents as it was counted, or as a sample of `sampled` documents says.

    `documents` is how many there are; `is_counted` says that this is no estimate. `file_bytes` is what one takes in its
    file, which is of a `format` and may be packed (`compression`); `html` says that text is taken out of pages.
    `copies` is the share of documents with the features of an earlier one.

    The other numbers are for the threshold and the measure that the facts were asked for: of the exact join, the
    `postings` of each document, the `comparisons` of rows in lists of rare features, and the steps in `dense` lists;
    and how many `pairs` of documents with different features are similar. What is None was not looked at. `largest` are
    the features that most documents have in their prefixes: about how many, and the words, or the features' hashes.
    """

    documents: int
    sampled: int
    is_counted: bool = False
    file_bytes: float | None = None
    format: str = "jsonl"
    compression: str | None = None
    html: bool = False
    copies: float = 0.0
    postings: float | None = None
    comparisons: float | None = None
    dense: float | None = None
    pairs: float | None = None
    largest: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is known as plain data.

        >>> Corpus(documents=10, sampled=10, is_counted=True).to_dict()["documents"]
        10
        """
        largest = [{"documents": size, "words": words} for size, words in self.largest]
        return {**asdict(self), "largest": largest, "notes": list(self.notes)}
