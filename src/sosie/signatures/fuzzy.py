"""Fuzzy-fingerprinting: deviations of prefix classes from what is to be expected, in few intervals (STEIN 2.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sosie.documents.reading import Reading
from sosie.errors import UsageError
from sosie.features.counts import FeatureCounts
from sosie.features.frequencies import collection_terms
from sosie.features.shingles import Shingles
from sosie.features.spans import RowSpan
from sosie.kernels.sign.keys import tuple_keys
from sosie.signatures.prefix_classes import PrefixClasses, classes_of, collection_cuts, language_terms, normal_cuts
from sosie.signatures.rows import FUNCTIONS, Made, SignedRows, sign_rows
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.types import F64, U64

MAXIMUM_CLASSES = 1024
MAXIMUM_SCHEMES = 256
MAXIMUM_INTERVALS = 256


@dataclass(frozen=True, kw_only=True)
class FuzzyFingerprint(Spec):
    """Keys for texts: `code_length` classes of prefixes, `intervals` of their deviations, `multiplicity` schemes.

    A document's words are counted by class, and so is a reference. How far the share of a class deviates from that in
    the reference, in standard deviations, falls into one of the intervals. The intervals of all classes, as digits, are
    a key. The schemes cut the deviations at different places, so that what one separates another may not.

    >>> texts = ["the cat sat on the mat", "the dog ran off the road", "a bird sang", "the mat of the cat is old"]
    >>> signer = FuzzyFingerprint(code_length=4).fit(texts)
    >>> keys = signer.keys(["The cat sat on the mat!", texts[0]]).values
    >>> keys.shape, bool((keys[0] == keys[1]).all())
    ((2, 64), True)
    """

    method: ClassVar[str] = "fuzzy-fingerprint"
    version: ClassVar[int] = 1
    makes: ClassVar[tuple[str, ...]] = ("keys",)
    embedding: ClassVar[str] = "deviations of prefix classes"
    quantisation: ClassVar[str] = "fuzzy intervals"
    encoding: ClassVar[str] = "number of radix r, or tuple"

    shingles: Shingles = Shingles(1, "prefix")
    code_length: int = 11
    multiplicity: int = 64
    intervals: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least, most in (
            ("code_length", 2, MAXIMUM_CLASSES),
            ("multiplicity", 1, MAXIMUM_SCHEMES),
            ("intervals", 2, MAXIMUM_INTERVALS),
        ):
            if not least <= getattr(self, name) <= most:
                raise UsageError(f"{name} must be from {least} to {most}, got {getattr(self, name)}")

    @property
    def needs_texts(self) -> bool:
        """Whether `fit` collects statistics from texts: it does, unless it is given a language."""
        return True

    def fit(self, texts: Any = None, *, language: str | None = None, threads: int | None = None) -> FuzzySigner:
        """Return a signer that knows what to expect: of a collection, or of a language.

        A collection is texts, `Features` with counts, or a `Source`, which is read twice. A language, by ISO code or
        English name, has the word frequencies of the package wordfreq; its deviations are cut as if words were drawn
        at random, or, with texts too, as those of the texts are distributed.

        >>> FuzzyFingerprint(code_length=4).fit(language="english").statistics.expected.round(2).tolist()
        [0.25, 0.25, 0.25, 0.25]
        """
        if isinstance(texts, PrefixClasses):
            if texts.cuts.shape != self._shape or texts.lane != self.seed:
                raise UsageError("these prefix classes are of another spec: fit to texts or a language")
            return FuzzySigner(self, texts)
        if isinstance(texts, Reading | FeatureCounts):
            raise UsageError(f"a fuzzy-fingerprint reads its texts twice: pass the Source, not {type(texts).__name__}")
        if texts is None and language is None:
            return FuzzySigner(self)
        if language is not None:
            reference = language_terms(language, self.shingles)
        else:
            reference = collection_terms(texts, self.shingles, threads)
        classes = classes_of(reference, self.code_length, self.seed)
        if texts is None:
            cuts = normal_cuts(self._quantiles, self.code_length)
        else:
            cuts = collection_cuts(classes, self._quantiles, texts, self.shingles, threads)
        return FuzzySigner(self, replace(classes, cuts=cuts))

    def restore(self, meta: dict[str, Any], arrays: dict[str, Any]) -> PrefixClasses:
        """Return the classes that were stored."""
        return PrefixClasses.restored(arrays, self.seed, self._shape)

    @property
    def _shape(self) -> tuple[int, int, int]:
        return self.multiplicity, self.code_length, self.intervals - 1

    @property
    def _quantiles(self) -> F64:
        """The share of documents below each cut, by scheme: (i + shift) / r for the cuts i = 1 .. r - 1.

        The shifts are spread evenly between -1/2 and 1/2: schemes in the middle are selective, others let more pass.
        """
        shifts = (np.arange(self.multiplicity) + 1) / (self.multiplicity + 1) - 0.5
        return np.asarray((np.arange(1, self.intervals) + shifts[:, None]) / self.intervals)


@dataclass(frozen=True)
class FuzzySigner(Signer):
    """Makes keys, and the deviations behind them, of texts or of features made elsewhere.

    Texts of which no word at all is known to the reference raise `UnknownVocabularyError`.
    """

    spec: FuzzyFingerprint

    def embed(self, texts: Any, *, threads: int | None = None) -> F64:
        """Return the deviations of every class, float64[n, code_length]: one row for each document with features.

        >>> signer = FuzzyFingerprint(code_length=4).fit(["one two three four five", "six seven eight nine ten"])
        >>> signer.embed(["one two three", ""]).shape
        (1, 4)
        """

        def deviations(span: RowSpan) -> Made:
            features = span.features()
            return Made(self._classes.deviations(features), features.sizes > 0)

        rows: F64 = sign_rows(texts, self.spec.shingles, deviations, width=self._held, threads=threads).rows
        return rows

    def _keys(self, texts: Any, threads: int | None) -> SignedRows:
        """Make the keys of texts, or of `Features` with counts: one for each scheme."""

        def sign(span: RowSpan) -> Made:
            features = span.features()
            known = bool(self._classes.known(features.hashes).any())
            return Made(self._encoded(self._classes.deviations(features)), features.sizes > 0, known=known)

        return sign_rows(texts, self.spec.shingles, sign, width=self._held, threads=threads)

    @property
    def _held(self) -> int:
        """How much is held of a row while it is signed: the digits of all schemes."""
        return self.spec.multiplicity * self.spec.code_length // FUNCTIONS + 1

    @property
    def _classes(self) -> PrefixClasses:
        assert isinstance(self.statistics, PrefixClasses)
        return self.statistics

    def _encoded(self, deviations: F64) -> U64:
        """Return a key for each scheme: scheme * r^k + the digits as a number, or a hash where that exceeds 64 bits."""
        cuts, radix = self._classes.cuts, self.spec.intervals
        digits = [(deviations[:, :, None] >= scheme).sum(axis=2) for scheme in cuts]
        if len(cuts) * radix**self.spec.code_length > 1 << 64:
            flat = np.concatenate(digits, axis=1)
            keys = np.empty((len(deviations), len(cuts)), np.uint64)
            tuple_keys(flat, self.spec.code_length, keys)
            return keys
        powers = np.array([radix**place for place in range(self.spec.code_length)], np.uint64)
        codes = [scheme.astype(np.uint64) @ powers for scheme in digits]
        tags = np.array([number * radix**self.spec.code_length for number in range(len(cuts))], np.uint64)
        return np.asarray(np.stack(codes, axis=1) + tags)
