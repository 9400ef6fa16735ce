"""Fuzzy-fingerprints: what they expect, of which language, and what they refuse."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.artefacts import damages, is_mapped

import sosie
from sosie import DataError, FuzzyFingerprint, Shingles, Source, StorageError, UsageError
from sosie.documents.source import Source as Documents
from sosie.signatures.prefix_classes import PrefixClasses
from sosie.signatures.rows import UnknownVocabularyError
from sosie.signatures.stream import FeatureKeep, stream
from sosie.storage.room import Room

GREEK = ["η γάτα κάθεται", "ο σκύλος τρέχει μακριά"]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = np.random.default_rng(4)
    words = ["".join(rng.choice(list("abcdefghijklmnop"), 5)) for _ in range(3000)]
    return [" ".join(words[n] for n in (3000 * rng.random(80) ** 3).astype(int)) for _ in range(400)]


def test_classes_are_about_equally_frequent_and_cuts_are_where_documents_are(texts):
    spec = FuzzyFingerprint(code_length=8, multiplicity=3, intervals=3, shingles=Shingles(2, "prefix"))
    signer = spec.fit(texts)
    assert signer.statistics.expected == pytest.approx(1 / 8, rel=0.2)
    assert signer.statistics.expected.sum() == pytest.approx(1)
    deviations = signer.embed(texts)
    assert deviations.shape == (400, 8)
    for scheme, row in enumerate(signer.statistics.cuts):
        for place, cuts in enumerate(row):
            shift = (scheme + 1) / 4 - 0.5
            wanted = np.array([(1 + shift) / 3, (2 + shift) / 3])
            assert ((deviations[:, place, None] < cuts - 1 / 32).mean(axis=0) <= wanted).all()
            assert ((deviations[:, place, None] <= cuts + 1 / 32).mean(axis=0) >= wanted).all()


def test_longer_codes_are_more_precise_and_more_codes_find_more(texts):
    def pairs(**options) -> int:
        return len(sosie.join(FuzzyFingerprint(**options).fit(texts).keys(texts)))

    assert (
        pairs(code_length=4, multiplicity=2)
        > pairs(code_length=8, multiplicity=2)
        > pairs(code_length=16, multiplicity=2)
    )
    assert pairs(code_length=8, multiplicity=1) < pairs(code_length=8, multiplicity=4)
    assert pairs(code_length=8, intervals=4) < pairs(code_length=8, intervals=2)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_statistics_do_not_depend_on_how_texts_are_read(texts, threads, monkeypatch):
    spec = FuzzyFingerprint(code_length=6)
    expected = spec.fit(texts).digest
    assert spec.fit(spec.shingles.extract(texts, counts=True), threads=threads).digest == expected
    assert spec.fit(Source(pa.table({"text": texts}), batch_size=7), threads=threads).digest == expected
    monkeypatch.setattr("sosie.features.counts.SPAN", 2000)
    assert spec.fit(texts, threads=threads).digest == expected
    assert spec.fit(texts[:-1]).digest != expected


def test_rare_features_are_spread_by_their_hashes(texts, monkeypatch):
    monkeypatch.setattr("sosie.signatures.prefix_classes.MOST_FEATURES", 10)
    signer = FuzzyFingerprint(code_length=4).fit(texts)
    assert len(signer.statistics.features) == 10
    assert signer.statistics.occurrences.sum() == 400 * 80
    assert abs(signer.embed(texts).mean()) < 0.2


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "the quick brown fox jumps over the lazy dog"),
        ("de", "der schnelle braune Fuchs springt über den faulen Hund"),
        ("el", GREEK[0]),
        ("ja", "吾輩は猫である。名前はまだ無い。"),
        ("ar", "القط يجلس على السجادة"),
    ],
)
def test_a_language_is_a_reference(language, text, tmp_path):
    signer = FuzzyFingerprint().fit(language=language)
    keys = signer.keys([text, text.upper(), ""])
    assert keys.values.shape == (2, 64) and (keys.values[0] == keys.values[1]).all() and keys.unsigned.tolist() == [2]
    signer.save(tmp_path / "signer")
    assert np.array_equal(sosie.load_signer(tmp_path / "signer").keys([text]).values[0], keys.values[0])


def test_texts_say_how_deviations_from_a_language_are_distributed():
    texts = ["the cat sat on the mat", "the dog ran off the road", "a bird sang in the tree all day long"] * 5
    spec = FuzzyFingerprint(code_length=4)
    alone, together = spec.fit(language="en").statistics, spec.fit(texts, language="en").statistics
    assert np.array_equal(alone.occurrences, together.occurrences) and not np.array_equal(alone.cuts, together.cuts)
    with pytest.raises(DataError, match="name the language of the texts"):
        spec.fit(["ድመት ምንጣፍ ላይ", "ውሻ"], language="en")


@pytest.mark.parametrize("language", ["th", "klingon", "xx", ""])
def test_a_language_without_words_is_named(language):
    with pytest.raises(UsageError, match=rf"{language}.*en.*fit\(texts\)"):
        FuzzyFingerprint().fit(language=language)


def test_the_package_of_languages_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(UsageError, match=r"sosie\[wordfreq\]"):
        FuzzyFingerprint().fit(language="en")


def test_words_have_no_features_of_several():
    with pytest.raises(UsageError, match="prefix"):
        FuzzyFingerprint(shingles=Shingles(2)).fit(language="en")
    assert len(FuzzyFingerprint(shingles=Shingles(1)).fit(language="en").keys(["the cat"])) == 1


def test_texts_that_share_nothing_with_the_statistics_are_refused(texts, tmp_path):
    signer = FuzzyFingerprint().fit(texts)
    with pytest.raises(UnknownVocabularyError, match=r"3 documents.*fit to texts like these"):
        signer.keys([*GREEK, ""])
    assert len(signer.keys([*GREEK, texts[0]])) == 3
    assert len(signer.keys(["", "..."])) == 0


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_strangers_are_refused_or_not_however_they_are_batched(texts, batch_size, tmp_path):
    signer = FuzzyFingerprint().fit(texts)

    def signed(documents: list[str]):
        source = Documents(pa.table({"text": documents}), batch_size=batch_size)
        with FeatureKeep(signer.spec.shingles, Room(tmp_path)) as keep:
            made = stream(source.batches(), signer, keys=True, keep=keep)
            assert len(keep.features()) == len(made)
        return made

    mixed = [GREEK[0], "", texts[0], GREEK[1]]
    assert np.array_equal(signed(mixed).values, signer.keys(mixed).values)
    with pytest.raises(UnknownVocabularyError, match="3 documents"):
        signed([GREEK[0], "", GREEK[1]])
    assert len(signed(["", ""])) == 0


@pytest.mark.parametrize("nothing", [[], ["", "..."]])
def test_nothing_can_be_expected_of_texts_without_words(nothing):
    with pytest.raises(DataError, match="fit to texts with words"):
        FuzzyFingerprint().fit(nothing)


def test_what_is_no_collection_is_refused(texts):
    spec = FuzzyFingerprint()
    with pytest.raises(UsageError, match="needs the statistics"):
        spec.fit()
    with pytest.raises(UsageError, match="pass the Source"):
        spec.fit(Source(pa.table({"text": texts})).batches())
    with pytest.raises(UsageError, match="counts=True"):
        spec.fit(spec.shingles.extract(texts))
    with pytest.raises(UsageError, match="counts=True"):
        spec.fit(texts).keys(spec.shingles.extract(texts))


def test_saved_statistics_are_mapped_and_checked(texts, tmp_path):
    spec = FuzzyFingerprint(code_length=5)
    signer = spec.fit(texts)
    signer.save(tmp_path / "signer")
    loaded = sosie.load_signer(tmp_path / "signer")
    assert loaded.digest == signer.digest and is_mapped(loaded.statistics.features)
    for name in ("features", "classes", "occurrences", "cuts"):
        path = tmp_path / "signer" / f"statistics_{name}"
        content = path.read_bytes()
        for damage in damages(path):
            damage()
            with pytest.raises(StorageError, match=name):
                sosie.load_signer(tmp_path / "signer")
        path.write_bytes(content)


def test_statistics_that_could_not_be_signed_with_are_refused(texts):
    spec = FuzzyFingerprint(code_length=5, multiplicity=2)
    made = spec.fit(texts).statistics
    state = made.state()[1]
    assert spec.restore({}, state).digest == made.digest
    wrong = [
        {"features": made.features[::-1]},
        {"features": made.features.astype(np.int64)},
        {"classes": made.classes - 1},
        {"classes": made.classes + 5},
        {"classes": made.classes[1:]},
        {"occurrences": made.occurrences[1:]},
        {"occurrences": -made.occurrences - 1},
        {"cuts": made.cuts[:, 1:]},
        {"cuts": made.cuts.astype(np.float32)},
        {"cuts": made.cuts * np.nan},
    ]
    for change in wrong:
        with pytest.raises(StorageError, match="Fit again"):
            spec.restore({}, {**state, **change})
    with pytest.raises(StorageError, match="Fit again"):
        replace(spec, intervals=3).restore({}, state)


def test_statistics_are_taken_as_they_are(texts):
    spec = FuzzyFingerprint(code_length=5)
    signer = spec.fit(texts)
    assert isinstance(signer.statistics, PrefixClasses)
    assert spec.fit(signer.statistics).digest == signer.digest
    with pytest.raises(UsageError, match="another spec"):
        FuzzyFingerprint(code_length=6).fit(signer.statistics)
