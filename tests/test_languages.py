"""No language collapses, and none is missed: documents of real sentences, their edited copies and other spellings."""

from __future__ import annotations

import random
import unicodedata
from functools import cache

import pyarrow as pa
import pytest
from tests.sentences import SENTENCES

import sosie
from sosie.text import words

LANGUAGES = list(SENTENCES)
ORIGINALS, CLAUSES = 120, 20
ENDS = {"Chinese": "。", "Japanese": "。", "Thai": " ", "Arabic": "، ", "Hindi": "। "}
WIDE = {point: point + 0xFEE0 for point in range(0x21, 0x7F)}


def document(language: str, clauses: list[str]) -> str:
    return "".join(clause + ENDS.get(language, ". ") for clause in clauses)


def drawn(language: str, rng: random.Random, count: int) -> list[str]:
    """Return distinct clauses in a random order, each with a number of its own."""
    chosen = rng.sample(SENTENCES[language], count)
    numbered = [clause if "{}" in clause else clause + " {}" for clause in chosen]
    return [clause.format(rng.randint(2, 99999)) for clause in numbered]


def edited(language: str, clauses: list[str], more: str, kind: int) -> str:
    """Return a copy with one clause replaced, or spelt otherwise."""
    text = document(language, clauses)
    if kind == 0:
        place = len(more) % CLAUSES
        return document(language, [*clauses[:place], more, *clauses[place + 1 :]])
    if kind == 1:
        return text.swapcase().replace(". ", "; ").replace("。", "！")
    if kind == 2:
        return text.translate(WIDE)
    return unicodedata.normalize("NFD" if kind == 3 else "NFC", text)


@cache
def collection(language: str) -> pa.Table:
    """Return originals, then one copy of each: `copy_of` is the id of its original."""
    rng = random.Random(f"documents in {language}")
    rows = []
    for number in range(ORIGINALS):
        *clauses, more = drawn(language, rng, CLAUSES + 1)
        rows.append((f"{language} {number}", document(language, clauses), None))
        rows.append((f"{language} {number} copy", edited(language, clauses, more, number % 5), rows[-1][0]))
    rows.sort(key=lambda row: row[2] is not None)
    return pa.table([*map(list, zip(*rows, strict=True))], names=["id", "text", "copy_of"])


@pytest.mark.parametrize("method", ["exact", "minhash", "simhash"])
@pytest.mark.parametrize("languages", [LANGUAGES, *([language] for language in LANGUAGES)], ids="-".join)
def test_copies_go_and_all_originals_stay(languages: list[str], method: str) -> None:
    table = pa.concat_tables([collection(language) for language in languages])
    result = sosie.dedup(table, method=method)
    copies = table.filter(table["copy_of"].is_valid())
    assert dict(zip(*result.dropped.select(["id", "duplicate_of"]).to_pydict().values(), strict=True)) == dict(
        zip(copies["id"].to_pylist(), copies["copy_of"].to_pylist(), strict=True)
    )
    assert len(result.kept) == ORIGINALS * len(languages)


def test_unrelated_documents_share_little() -> None:
    table = pa.concat_tables([collection(language) for language in LANGUAGES])
    originals = sosie.Shingles().extract(table.filter(table["copy_of"].is_null())["text"])
    pairs = sosie.verify(sosie.join(originals, threshold=0.3), originals, threshold=0.3)
    assert pairs.similarity.max(initial=0) < 0.6


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_its_own(language: str) -> None:
    sentences = [sentence.format(7) for sentence in SENTENCES[language]]
    features = sosie.Shingles().extract(sentences)
    assert features.sizes.min() >= 3
    assert len(sosie.join(features, threshold=0.2)) == 0


def same_features(texts: list[str], respelt: list[str]) -> None:
    assert respelt != texts
    for text, other in zip(texts, respelt, strict=True):
        a, b = sosie.Shingles().extract([text, other], threads=1), words(text)
        assert a.hashes[: a.offsets[1]].tolist() == a.hashes[a.offsets[1] :].tolist(), f"{b} / {words(other)}"


def presentation_forms() -> dict[str, str]:
    """Return for letters, and for lam with alef, one of their Arabic presentation forms."""
    forms = {}
    for point in range(0xFE80, 0xFEFD):
        plain = unicodedata.normalize("NFKC", chr(point))
        forms.setdefault(plain, chr(point + (ord(plain[-1]) % 2 if len(plain) == 1 else 0)))
    return {plain: form for plain, form in forms.items() if unicodedata.normalize("NFKC", form) == plain}


@pytest.mark.parametrize("language", ["Japanese", "German", "Korean", "Russian", "Arabic"])
def test_decomposed_and_composed(language: str) -> None:
    texts = [document(language, [sentence]) for sentence in SENTENCES[language]]
    same_features(texts, [unicodedata.normalize("NFD", text) for text in texts])


def test_full_width_and_half_width_forms() -> None:
    texts = ["Tokyo 2024, ABC-xyz_9!", "コーヒーとパン、ガギグゲゴ パピプペポ ヴ"]
    half = {unicodedata.normalize("NFKC", chr(point)): chr(point) for point in range(0xFF66, 0xFF9E)}
    half |= {"\u3099": "\uff9e", "\u309a": "\uff9f"}
    narrow = "".join(half.get(c, c) for c in unicodedata.normalize("NFD", texts[1]))
    same_features(texts, [texts[0].translate(WIDE), narrow])


def test_arabic_presentation_forms() -> None:
    forms = presentation_forms()
    assert len(forms) > 30 and any(len(plain) == 2 for plain in forms)
    respelt = []
    for sentence in SENTENCES["Arabic"]:
        for plain in sorted(forms, key=len, reverse=True):
            sentence = sentence.replace(plain, forms[plain])
        respelt.append(sentence)
    same_features(SENTENCES["Arabic"], respelt)


def test_thai_vowels_and_tones() -> None:
    def respelt(text: str) -> str:
        """Write sara am as its two parts, and a tone before the vowel below that it follows."""
        text = text.replace("\u0e33", "\u0e4d\u0e32")
        for vowel in "\u0e38\u0e39":
            for tone in "\u0e48\u0e49\u0e4a\u0e4b":
                text = text.replace(vowel + tone, tone + vowel)
        return text

    same_features(SENTENCES["Thai"], [respelt(sentence) for sentence in SENTENCES["Thai"]])
    assert any("\u0e48\u0e39" in respelt(sentence) for sentence in SENTENCES["Thai"])


def test_hindi_joiners_and_nuktas() -> None:
    composed = {unicodedata.normalize("NFD", chr(point)): chr(point) for point in range(0x0958, 0x0960)}
    respelt = []
    for sentence in SENTENCES["Hindi"]:
        decomposed = unicodedata.normalize("NFD", sentence)
        for pair, letter in composed.items():
            decomposed = decomposed.replace(pair, letter)
        respelt.append(decomposed.replace("\u094d", "\u094d\u200d"))
    assert any(letter in sentence for sentence in respelt for letter in composed.values())
    same_features(SENTENCES["Hindi"], respelt)


def test_hebrew_points_german_sharp_s_and_ligatures() -> None:
    same_features(
        ["שׁלום עולם שׂמח", "Große Straße in Gießen", "final office", "İstanbul ΣΊΣΥΦΟΣ"],
        ["\ufb2aלום עולם \ufb2bמח", "GROSSE STRASSE IN GIESSEN", "ﬁnal oﬃce", "i\u0307stanbul σίσυφος"],
    )
