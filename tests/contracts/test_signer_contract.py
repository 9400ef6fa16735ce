"""What every signer promises, for every spec: bits that depend on the text and the spec, and on nothing else.

`SOSIE_WRITE_GOLDEN=1 python -m pytest -n 0 tests/contracts/test_signer_contract.py` rewrites the golden bits and
sums; do that only together with a new version of the spec.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests import oracle, oracle_embedding, oracle_keys, oracle_projection, oracle_text

import sosie
from sosie import (
    FuzzyFingerprint,
    Minhash,
    MismatchError,
    PStable,
    RandomProjection,
    Shingles,
    Simhash,
    StorageError,
    SvdEmbedding,
    ThresholdEmbedding,
    TopSig,
    UsageError,
)
from sosie.signatures.embedding import Embedding
from sosie.signatures.registry import METHODS, spec_from_dict
from sosie.signatures.spec import Spec

GOLDEN = Path(__file__).parent.parent / "golden" / "signatures.json"
GOLDEN_SUMS = GOLDEN.with_name("volatility.json")
TEXTS = json.loads(GOLDEN.read_text("utf-8"))["texts"]
SYNTHETIC = [" ".join(f"w{(7919 * i + 104729 * j) % 5000}" for j in range(80)) for i in range(20)]
WORDLESS = [row for row, text in enumerate(TEXTS) if not oracle_text.words(text)]


@dataclass(frozen=True)
class Case:
    spec: Spec
    keys: bool = False

    @property
    def reference(self) -> list[str]:
        """What a signer that needs a collection is fitted to; fuzzy-fingerprints know the words of all tests."""
        return TEXTS + SYNTHETIC if isinstance(self.spec, FuzzyFingerprint) else TEXTS

    @property
    def signer(self):
        """A signer; one that needs a collection is fitted to the golden texts, or given a basis."""
        if isinstance(self.spec, Embedding):  # what is fitted may differ between CPUs in the last digits
            return self.spec.fit(oracle_embedding.basis(tuple(TEXTS), self.spec.dimensions))
        return self.spec.fit(self.reference)

    @property
    def digest(self) -> str:
        return self.signer.digest

    def sign(self, texts, **options):
        return (self.signer.keys if self.keys else self.signer.sign)(texts, **options)

    def __str__(self):
        named = [f"{name}{value}" for name, value in vars(self.spec).items() if name not in ("shingles", "seed")]
        other = [] if self.spec == replace(self.spec, shingles=Shingles(), seed=0) else ["other"]
        return "-".join([self.spec.method, *named, *other, *(["keys"] if self.keys else [])])


ALL_OR_NOTHING = Case(Minhash(minima=130, rows=130, seed=5, shingles=Shingles(1)), keys=True)  # one key of all minima
HASHED = Case(  # r^k > 2^64
    FuzzyFingerprint(code_length=41, multiplicity=3, intervals=3, shingles=Shingles(3, "prefix")), keys=True
)
CASES = [
    *(
        Case(Simhash(bits=bits, weighting=weighting))
        for bits in (1, 63, 64, 65, 256, 1000, 1024, 4096)
        for weighting in ("tf", "binary")
    ),
    *(Case(Simhash(bits=bits, weighting=weighting)) for bits in (64, 130) for weighting in ("tf-idf", "bm25")),
    Case(Simhash(bits=256, weighting="bm25", seed=3, shingles=Shingles(1))),
    Case(Simhash(bits=64, seed=7, shingles=Shingles(2))),
    Case(Simhash(bits=128, seed=2**32 - 1, shingles=Shingles(4, "char"))),
    Case(Minhash(), keys=True),
    Case(Minhash(minima=100, rows=3), keys=True),
    Case(Minhash(minima=1, rows=1), keys=True),
    ALL_OR_NOTHING,
    *(
        Case(Minhash(minima=minima, rows=1, b=b))
        for minima, b in ((1, 1), (64, 1), (100, 1), (65, 2), (77, 3), (128, 32))
    ),
    Case(Minhash(minima=1000, rows=1, seed=9)),
    Case(Minhash(minima=4096, rows=1)),
    Case(PStable(), keys=True),
    Case(PStable(code_length=1, multiplicity=3, interval=0.25), keys=True),
    Case(PStable(code_length=7, multiplicity=3, encoding="sum"), keys=True),
    Case(PStable(code_length=6, multiplicity=4, weighting="tf-idf", seed=2**32 - 1, shingles=Shingles(2)), keys=True),
    Case(FuzzyFingerprint(code_length=6, multiplicity=3, shingles=Shingles(3, "prefix")), keys=True),
    Case(FuzzyFingerprint(code_length=4, multiplicity=1, intervals=3, seed=5, shingles=Shingles(1)), keys=True),
    HASHED,
    *(
        Case(RandomProjection(bits=bits, vectors=vectors, weighting=weighting))
        for bits, vectors, weighting in (
            *((64, "gaussian", "binary"), (1000, "gaussian", "tf"), (65, "gaussian", "bm25"), (130, "ternary", "tf")),
            *((1000, "ternary", "tf-idf"), (2049, "gaussian", "tf")),
        )
    ),
    Case(RandomProjection(bits=200, seed=2**32 - 1, shingles=Shingles(1))),
    Case(RandomProjection(bits=128, vectors="ternary", seed=3, shingles=Shingles(4, "char"))),
    *(Case(TopSig(bits=bits, density=density)) for bits, density in ((1024, 21), (100, 10), (64, 1), (2049, 21))),
    Case(TopSig(bits=1000, seed=2**32 - 1, shingles=Shingles(2))),
    Case(SvdEmbedding(dimensions=8)),
    Case(SvdEmbedding(dimensions=5, bits=65, weighting="tf", seed=2**32 - 1)),
    Case(SvdEmbedding(dimensions=8, code_length=8), keys=True),
    Case(ThresholdEmbedding(dimensions=8, bits=130, weighting="bm25")),
    Case(ThresholdEmbedding(dimensions=3, code_length=5, multiplicity=7, interval=2.5, seed=3), keys=True),
]
EMBEDDING_FIELDS = [
    *({}, {"dimensions": 9}, {"weighting": "tf"}, {"sample": 100}, {"bits": 65}),
    *({"code_length": 3}, {"multiplicity": 3}, {"interval": 2.0}, {"seed": 1}, {"shingles": Shingles(2)}),
]
VOLATILE = [case for case in CASES if case.spec.volatile]
every_case = pytest.mark.parametrize("case", CASES, ids=str)
every_volatile_case = pytest.mark.parametrize("case", VOLATILE, ids=str)


def values(signed) -> np.ndarray:
    return signed.values if isinstance(signed, sosie.Keys) else signed.words


def hexadecimal(signed) -> list[str]:
    return [row.astype("<u8").tobytes().hex() for row in values(signed)]


def edited(words: list[str], rng, share: float) -> str:
    return " ".join(f"x{rng.integers(10**6)}" if rng.random() < share else word for word in words)


@pytest.fixture(scope="module")
def collection() -> list[str]:
    """Some 300 KB of text, so that several spans are signed side by side; a few texts have no words."""
    rng = np.random.default_rng(3)
    words = [[f"w{n}" for n in (20_000 * rng.random(rng.integers(1, 90)) ** 3).astype(int)] for _ in range(1200)]
    return [" ".join(text) if len(text) % 10 else "--" for text in words]


@every_case
def test_golden_bits(case):
    signed = case.sign(TEXTS)
    found = {"spec": case.spec.to_dict(), "digest": case.digest, "unsigned": signed.unsigned.tolist()}
    found["rows"] = hexadecimal(signed)
    golden = json.loads(GOLDEN.read_text("utf-8"))
    if os.environ.get("SOSIE_WRITE_GOLDEN"):
        golden.setdefault("signatures", {})[str(case)] = found
        GOLDEN.write_text(json.dumps(golden, indent=1) + "\n", "utf-8")
    assert found == golden["signatures"][str(case)]


def test_the_golden_file_holds_these_cases_only():
    assert set(json.loads(GOLDEN.read_text("utf-8"))["signatures"]) == {str(case) for case in CASES}


@every_case
def test_bits_are_those_of_plain_python(case):
    expected, spec = [], case.spec
    rows = [list(oracle_text.shingles(text, spec.shingles.width, spec.shingles.unit)) for text in TEXTS]
    if isinstance(spec, FuzzyFingerprint):
        both = (oracle_text.shingles(text, spec.shingles.width, spec.shingles.unit) for text in case.reference)
        fuzzy = oracle_keys.Fuzzy(spec, [Counter(row) for row in both])
    for row in rows:
        counts = Counter(row)
        if not counts:
            continue
        if isinstance(spec, Embedding):
            weighted = oracle.weights(counts, spec.weighting, oracle_embedding.collection(tuple(TEXTS)))
            expected.append((oracle_embedding.keys if case.keys else oracle_embedding.signs)(spec, weighted))
        elif isinstance(spec, Simhash):
            weighted = oracle.weights(counts, spec.weighting, [Counter(row) for row in rows])
            expected.append(oracle.simhash(weighted.items(), spec.bits, spec.seed))
        elif isinstance(spec, PStable):
            weighted = oracle.weights(counts, spec.weighting, [Counter(row) for row in rows])
            expected.append(oracle_keys.p_stable_keys(weighted, spec))
        elif isinstance(spec, FuzzyFingerprint):
            expected.append(fuzzy.keys(counts))
        elif isinstance(spec, RandomProjection):
            weighted = oracle.weights(counts, spec.weighting, [Counter(row) for row in rows])
            expected.append(oracle_projection.projection(weighted.items(), spec.bits, spec.seed, spec.vectors))
        elif isinstance(spec, TopSig):
            weighted = oracle_projection.term_weights(counts, [Counter(row) for row in rows])
            expected.append(oracle_projection.topsig(weighted.items(), spec.bits, spec.density, spec.seed))
        elif case.keys:
            expected.append(oracle.band_keys(oracle.minima(counts, spec.minima, spec.seed), spec.rows))
        else:
            expected.append(oracle.packed(oracle.minima(counts, spec.minima, spec.seed), spec.b))
    found = values(case.sign(TEXTS))
    if case.keys:
        assert found.tolist() == expected
    else:
        assert [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in found] == expected


@pytest.mark.parametrize("case", [case for case in VOLATILE if case.spec.bits <= 200], ids=str)
def test_golden_sums(case):
    """The sums behind the bits, as float32 in hexadecimal: they order what a search tries, so they are promises."""
    found = [row.astype("<f4").tobytes().hex() for row in case.sign(TEXTS, volatility=True).volatility]
    golden = json.loads(GOLDEN_SUMS.read_text("utf-8")) if GOLDEN_SUMS.exists() else {}
    if os.environ.get("SOSIE_WRITE_GOLDEN"):
        GOLDEN_SUMS.write_text(json.dumps({**golden, str(case): found}, indent=1) + "\n", "utf-8")
    else:
        assert found == golden[str(case)]


@every_volatile_case
def test_sums_are_those_of_plain_python_and_leave_the_bits_alone(case):
    spec, plain, kept = case.spec, case.sign(TEXTS), case.sign(TEXTS, volatility=True)
    assert plain.volatility is None and np.array_equal(plain.words, kept.words) and plain.ids == kept.ids
    assert kept.volatility.shape == (len(plain), spec.bits) and kept.volatility.dtype == np.float32
    positive = np.unpackbits(kept.words.view(np.uint8), axis=1, bitorder="little")[:, : spec.bits]
    assert np.array_equal(kept.volatility > 0, positive.astype(bool))
    rows = [Counter(oracle_text.shingles(text, spec.shingles.width, spec.shingles.unit)) for text in TEXTS]
    weighted = [oracle.weights(counts, spec.weighting, rows) for counts in rows if counts]
    for row in range(0, len(weighted), 1 + spec.bits // 100):
        expected = oracle_projection.unit_sums(spec, weighted[row])
        assert kept.volatility[row].tolist() == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_volatile_case
def test_sums_never_depend_on_threads_or_pieces(case, collection, monkeypatch):
    texts = collection[:200]
    whole = case.sign(texts, volatility=True, threads=1).volatility
    features = case.spec.shingles.extract(texts, counts=True)
    pieces = [case.sign(texts[a:b], volatility=True).volatility for a, b in pairwise((0, 1, 70, 200))]
    assert np.array_equal(whole, np.concatenate(pieces))
    monkeypatch.setattr("sosie.signatures.rows.SPAN", 3000)
    for given in (texts, features):
        assert np.array_equal(whole, case.sign(given, volatility=True, threads=3).volatility)


def test_sums_are_on_one_scale_for_every_method():
    """Unit vectors: the variance over random vectors is 1, so that one model of flips serves them all."""
    texts = [" ".join(f"w{i * 100 + j}" for j in range(90)) for i in range(40)]
    specs = [Simhash(bits=1024), *(RandomProjection(bits=1024, vectors=each) for each in ("gaussian", "ternary"))]
    for spec in specs:
        squares = spec.fit().sign(texts, volatility=True).volatility ** 2
        assert squares.mean() == pytest.approx(1, abs=0.03)


def test_methods_without_sums_refuse_to_keep_them():
    assert {case.spec.method for case in VOLATILE} == {"simhash", "projection"}
    for case in (case for case in CASES if not case.spec.volatile and "signatures" in case.spec.makes):
        with pytest.raises(UsageError, match="has no volatility"):
            case.signer.rows(TEXTS, volatility=True)


@every_case
def test_the_number_of_threads_never_matters(case, collection):
    alone = case.sign(collection, threads=1)
    for threads in (2, 7):
        together = case.sign(collection, threads=threads)
        assert np.array_equal(values(alone), values(together))
        assert np.array_equal(alone.unsigned, together.unsigned)


@every_case
def test_pieces_give_the_bits_of_the_whole(case, collection, monkeypatch):
    whole = case.sign(collection)
    cuts = [0, 1, 2, 300, 301, 777, len(collection)]
    pieces = [values(case.sign(collection[a:b])) for a, b in pairwise(cuts)]
    assert np.array_equal(np.concatenate(pieces), values(whole))
    for size in (1, 3000):
        monkeypatch.setattr("sosie.signatures.rows.SPAN", size)
        small = case.sign(collection[:300], threads=2)
        assert np.array_equal(values(small), values(whole)[: len(small)])


@every_case
def test_texts_without_features_are_listed_and_not_signed(case):
    ids = [f"document {row}" for row in range(len(TEXTS))]
    signed = case.sign(TEXTS, ids=ids)
    assert signed.unsigned.tolist() == WORDLESS and WORDLESS
    assert signed.ids.to_pylist() == [name for row, name in enumerate(ids) if row not in WORDLESS]
    assert case.sign(TEXTS).ids.to_pylist() == [row for row in range(len(TEXTS)) if row not in WORDLESS]
    assert signed.digest == case.digest
    assert (case.digest == case.spec.digest) != case.spec.needs_texts
    for nothing in ([], ["", "..."]):
        empty = case.sign(nothing)
        assert len(empty) == 0 and len(empty.unsigned) == len(nothing)
        assert values(empty).shape[1] == values(signed).shape[1]


@every_case
def test_texts_and_their_features_are_signed_alike(case, collection):
    texts = TEXTS + collection[:100]
    features = case.spec.shingles.extract(texts, counts=True)
    signed, from_features = case.sign(texts), case.sign(features)
    assert np.array_equal(values(signed), values(from_features))
    assert np.array_equal(signed.unsigned, from_features.unsigned)
    assert signed.ids == from_features.ids


@every_case
def test_padding_bits_are_zero(case, collection):
    if case.keys:
        assert values(case.sign(collection)).shape[1] == case.spec.multiplicity
        return
    signed = case.sign(collection)
    bits = case.spec.minima * case.spec.b if isinstance(case.spec, Minhash) else case.spec.bits
    assert signed.bits == bits and signed.words.shape[1] == -(-bits // 64)
    used = np.bitwise_or.reduce(signed.words, axis=0)
    everything = int.from_bytes(used.astype("<u8").tobytes(), "little")
    assert everything == (1 << bits) - 1  # over many texts each bit occurs, and no other


@pytest.mark.parametrize("case", [case for case in CASES if case not in (ALL_OR_NOTHING, HASHED)], ids=str)
def test_edited_copies_are_closer_than_other_texts(case):
    rng = np.random.default_rng(11)
    originals = [[f"w{n}" for n in rng.integers(0, 5000, 80)] for _ in range(150)]
    near = case.sign([edited(words, rng, 0.02) for words in originals])
    signed = case.sign([" ".join(words) for words in originals])
    apart = _mean_distance(values(signed), np.roll(values(signed), 1, axis=0), case.keys)
    assert _mean_distance(values(signed), values(near), case.keys) < 0.7 * apart


def _mean_distance(a, b, keys: bool) -> float:
    return float((a != b).mean() if keys else np.bitwise_count(a ^ b).sum(axis=1).mean())


@every_case
def test_a_saved_set_comes_back(case, tmp_path):
    ids = pa.array([f"d\u00e9 {row}" for row in range(len(TEXTS))])
    for name, given in (("named", ids), ("numbered", None)):
        signed = case.sign(TEXTS, ids=given)
        sosie.save_signatures(tmp_path / name, signed, case.signer)
        loaded = sosie.load_signatures(tmp_path / name)
        assert type(loaded) is type(signed)
        assert np.array_equal(values(loaded), values(signed))
        assert loaded.ids.to_pylist() == signed.ids.to_pylist()
        assert loaded.digest == signed.digest and loaded.unsigned.tolist() == WORDLESS
        assert getattr(loaded, "bits", 0) == getattr(signed, "bits", 0)


@every_case
def test_a_saved_signer_makes_the_same_bits(case, tmp_path, collection):
    texts = TEXTS + collection[:50]
    expected = case.sign(texts)
    case.signer.save(tmp_path / "signer")
    sosie.save_signatures(tmp_path / "signed", expected, case.signer)
    for name in ("signer", "signed"):
        signer = sosie.load_signer(tmp_path / name)
        assert type(signer) is type(case.signer) and signer.spec == case.spec
        again = (signer.keys if case.keys else signer.sign)(texts)
        assert np.array_equal(values(again), values(expected)) and again.digest == expected.digest


@every_case
def test_another_spec_cannot_be_joined(case):
    other = Case(replace(case.spec, seed=case.spec.seed ^ 1), case.keys)
    options = {} if case.keys else {"radius": 0}
    signed = case.sign(TEXTS)
    assert len(sosie.join(signed, signed, **options)) >= len(signed)
    with pytest.raises(MismatchError, match=other.digest):
        sosie.join(signed, other.sign(TEXTS), **options)


@every_case
def test_a_spec_survives_as_data(case):
    data = json.loads(json.dumps(case.spec.to_dict()))
    assert spec_from_dict(data) == case.spec
    for change in ({"version": 2}, {"unicode": "3.0"}, {"method": "sketch"}, {"seed": -1}, {"more": 1}):
        with pytest.raises(StorageError):
            spec_from_dict({**data, **change})
    with pytest.raises(StorageError):
        spec_from_dict({name: value for name, value in data.items() if name != "seed"})


def test_every_method_is_in_the_suite():
    assert {case.spec.method for case in CASES} == set(METHODS)


@every_case
def test_the_three_steps_are_named_and_codes_have_a_length(case):
    assert all(isinstance(step, str) and step for step in (case.spec.embedding, case.spec.quantisation))
    assert isinstance(case.spec.encoding, str) and case.spec.encoding
    assert case.spec.code_length >= 1 and case.spec.multiplicity >= 1


def test_what_a_family_does_not_make_is_refused():
    for spec in (PStable(), FuzzyFingerprint(code_length=4)):
        with pytest.raises(UsageError, match="keys"):
            spec.fit(TEXTS).sign(TEXTS)
    with pytest.raises(UsageError, match="signatures"):
        Simhash().fit().keys(TEXTS)


def test_digests_differ_when_any_field_differs():
    specs = [
        *(Simhash(), Simhash(bits=65), Simhash(seed=1)),
        *(Simhash(weighting=weighting) for weighting in ("binary", "tf-idf", "bm25")),
        *(Simhash(shingles=Shingles(2)), Simhash(shingles=Shingles(3, "char"))),
        *(Minhash(), Minhash(minima=127), Minhash(rows=4), Minhash(b=2), Minhash(seed=1)),
        *(Minhash(shingles=Shingles(2)), Minhash(shingles=Shingles(3, "char"))),
        *(PStable(), PStable(code_length=3), PStable(multiplicity=3), PStable(interval=3), PStable(encoding="sum")),
        *(PStable(weighting="binary"), PStable(seed=1), PStable(shingles=Shingles(1, "prefix"))),
        *(FuzzyFingerprint(), FuzzyFingerprint(code_length=3), FuzzyFingerprint(intervals=3)),
        *(FuzzyFingerprint(multiplicity=2), FuzzyFingerprint(seed=1), FuzzyFingerprint(shingles=Shingles(1))),
        *(RandomProjection(), RandomProjection(bits=64), RandomProjection(vectors="ternary")),
        *(RandomProjection(weighting="bm25"), RandomProjection(seed=1), RandomProjection(shingles=Shingles(1))),
        *(TopSig(), TopSig(bits=1000), TopSig(density=20), TopSig(least_terms=2), TopSig(seed=1)),
        *(TopSig(shingles=Shingles()), TopSig(shingles=Shingles(1, "char"))),
        *(kind(**other) for kind in (SvdEmbedding, ThresholdEmbedding) for other in EMBEDDING_FIELDS),
        *(ThresholdEmbedding(**other) for other in ({"theta": 0.7}, {"vartheta": 0.2}, {"lower_slope": 9.0})),
        ThresholdEmbedding(upper_slope=9.0),
    ]
    assert len({spec.digest for spec in specs}) == len(specs)
    assert Simhash(bits=64).digest == Simhash().digest


def test_digests_cover_the_version_and_the_tables(monkeypatch):
    before = Simhash().digest
    monkeypatch.setattr(Simhash, "version", 2)
    newer = Simhash().digest
    monkeypatch.setattr("sosie.signatures.spec.UNICODE_VERSION", "99.0")
    assert len({before, newer, Simhash().digest}) == 3


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        *((Simhash, {"bits": bits}) for bits in (0, -1, 4097)),
        *((Simhash, {"weighting": "idf"}), (Simhash, {"seed": -1}), (Minhash, {"seed": 2**32})),
        *((Minhash, {"minima": 0}), (Minhash, {"minima": 4097}), (Minhash, {"rows": 0}), (Minhash, {"rows": 129})),
        *((RandomProjection, {"bits": bits}) for bits in (0, 4097)),
        *((RandomProjection, {"vectors": "uniform"}), (RandomProjection, {"weighting": "idf"})),
        *((TopSig, {"bits": 1}), (TopSig, {"bits": 4097}), (TopSig, {"density": 0}), (TopSig, {"density": 513})),
        *((TopSig, {"least_terms": 0}), (TopSig, {"seed": 2**32})),
        *((Minhash, {"b": 0}), (Minhash, {"b": 33}), (Minhash, {"minima": 4096, "b": 2})),
        *((PStable, {"code_length": 0}), (PStable, {"multiplicity": 0}), (PStable, {"code_length": 1000})),
        *((PStable, {"interval": interval}) for interval in (0, -1, float("nan"), float("inf"))),
        *((PStable, {"encoding": "list"}), (PStable, {"weighting": "idf"})),
        *((FuzzyFingerprint, {"code_length": length}) for length in (1, 1025)),
        *((FuzzyFingerprint, {"multiplicity": 0}), (FuzzyFingerprint, {"multiplicity": 257})),
        *((FuzzyFingerprint, {"intervals": 1}), (FuzzyFingerprint, {"intervals": 257})),
    ],
)
def test_impossible_specs_are_refused(kind, wrong):
    with pytest.raises(UsageError, match=next(iter(wrong)) if "minima" not in wrong else "minima|b must"):
        kind(**wrong)


def test_ids_must_be_one_for_each_text():
    with pytest.raises(MismatchError, match="2 ids for 3 documents"):
        Simhash().fit().sign(["a", "b", ""], ids=["x", "y"])
