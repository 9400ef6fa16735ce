"""Two collections of 1000-bit signatures for the figures of NFL, and the pairs of them that are truly similar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from experiments.collection import Collection
from sosie.features.frequencies import collection_frequencies
from sosie.features.shingles import Shingles
from sosie.features.weighting import weights
from sosie.planner.models.window import Bits
from sosie.signatures.projection import RandomProjection
from sosie.types import F64, I64, U64, Pairs, Signatures

GERMAN, ENGLISH = 1_470_000, 3_440_000  # articles of the paper
PAPER_ROWS = GERMAN + ENGLISH
BITS = Bits(1000, 400)
LEAST = 0.3  # the cosine of a true pair: cos(400 pi / 1000) is about that
SAMPLE = 1064  # documents whose true pairs are looked for, as in the paper
TERMS = 5  # a document with fewer is left out, as in the paper
WORDS = Shingles(width=1)
_EXCESS = 0.06  # of generated pairs: the mean of what their cosine is above .3


@dataclass(frozen=True, eq=False)
class Sides:
    """Both collections, in the proportion of the paper's, and the true pairs with their cosines."""

    name: str
    a: Signatures
    b: Signatures
    true: I64
    cosines: F64

    @property
    def rows(self) -> int:
        """How many there are on both sides."""
        return len(self.a) + len(self.b)

    def window(self, paper: int) -> int:
        """Return the window that is to these rows what the paper's is to its articles."""
        return max(1, round(paper * self.rows / PAPER_ROWS))

    def fits(self, paper: int) -> bool:
        """Whether that window is at least one row here."""
        return paper * self.rows >= 0.95 * PAPER_ROWS

    def numbers(self, pairs: Pairs) -> I64:
        """Return a number for each pair, in order."""
        return pairs.a * len(self.b) + pairs.b

    def recall(self, found: I64) -> float:
        """Return the share of the true pairs that is among the found, given by their numbers in order."""
        return float(np.isin(self.true, found, assume_unique=True).mean())


def generated_sides(rows: int, seed: int = 0) -> Sides:
    """Return random signatures; every other row of the first side has one truly similar to it on the second.

    Bits of signs of random projections differ independently, with the chance acos(t) / pi, so these are what pairs of
    vectors have whose cosines t are .3 and something that is exponentially distributed.
    """
    rng = np.random.default_rng(seed)
    sizes = round(rows * GERMAN / PAPER_ROWS), round(rows * ENGLISH / PAPER_ROWS)
    a, b = (_random_words(size, rng) for size in sizes)
    chosen = rng.choice(sizes[0], sizes[0] // 2, replace=False)
    partners = rng.choice(sizes[1], len(chosen), replace=False)
    cosines = np.minimum(LEAST + rng.exponential(_EXCESS, len(chosen)), 0.99)
    differ = rng.random((len(chosen), BITS.width)) < np.arccos(cosines)[:, None] / np.pi
    b[partners] = a[chosen] ^ _packed(differ)
    true = chosen * sizes[1] + partners
    order = np.argsort(true)
    name = f"{sizes[0]:,} x {sizes[1]:,} generated signatures"
    return Sides(name, *(Signatures(words, BITS.width) for words in (a, b)), true[order], cosines[order])


def sides_of_texts(collection: Collection, rows: int, seed: int = 0) -> Sides:
    """Return the texts in two parts, drawn at random: words with BM25 weights, signed by random projection."""
    texts = collection.texts.filter(WORDS.extract(collection.texts).sizes >= TERMS)
    texts = Collection(collection.name, texts).sample(rows, seed)
    frequencies = collection_frequencies(texts, WORDS)
    features = WORDS.extract(texts, counts=True)
    signed = RandomProjection(bits=BITS.width, weighting="bm25", shingles=WORDS).fit(frequencies).sign(features)
    drawn = np.random.default_rng(seed).permutation(len(features))
    first, second = np.split(drawn, [round(len(drawn) * GERMAN / PAPER_ROWS)])
    matrix = _normed(features.hashes, weights(features, "bm25", frequencies), features.offsets)
    other, found, cosines = matrix[second].T.tocsc(), [], []
    for start in range(0, min(SAMPLE, len(first)), 64):
        near = (matrix[first[start : min(start + 64, SAMPLE)]] @ other).tocoo()
        similar = near.data >= LEAST
        found.append((near.row[similar] + start).astype(np.int64) * len(second) + near.col[similar])
        cosines.append(np.minimum(near.data[similar], 1.0))
    true, cosine = np.concatenate(found), np.concatenate(cosines)
    order = np.argsort(true)
    name = f"{len(first):,} x {len(second):,} of the {collection.name}"
    return Sides(name, signed.take(first), signed.take(second), true[order], cosine[order])


def _normed(hashes: U64, values: F64, offsets: I64) -> csr_array:
    words, columns = np.unique(hashes, return_inverse=True)
    matrix = csr_array((values, columns, offsets), (len(offsets) - 1, len(words)))
    norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    return csr_array((values / np.repeat(norms, np.diff(offsets)), columns, offsets), matrix.shape)


def _random_words(count: int, rng: np.random.Generator) -> U64:
    return _packed(rng.integers(0, 2, (count, BITS.width), np.uint8))


def _packed(bits: np.ndarray) -> U64:
    padded = np.zeros((len(bits), -(-BITS.width // 64) * 64), np.uint8)
    padded[:, : BITS.width] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
