"""Shingles of stems, without stop words, against plain Python, PyStemmer word by word and the `xxhash` package."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import Stemmer
import stopwordsiso
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_text as oracle

import sosie
from sosie.errors import StorageError, UsageError
from sosie.features import Shingles
from sosie.signatures.registry import spec_from_dict
from sosie.text import as_column
from sosie.text.stop_words import StopWords

TEXTS = [
    "The connected bridges, and the old connections of the BRIDGES: connecting, connects!",
    "",
    "the of and",
    "It is what it is; they're not the ones who don't.",
    "Running runners ran the runs " * 30,
    "我爱北京天安门 and the running dogs ภาษาไทยง่ายนิดเดียว の connections",
    "Die Häuser und die Hausschuhe der Größten, STRASSEN und Straßen",
    "x" * 50 + " " + "y" * 33 + "s the " + "z" * 17,
    "e\u0301te\u0301s the \u1100\u1161\u11a8 caf\u00e9s",
]
CHOICES = [
    *(
        Shingles(1, stem="en"),
        Shingles(3, stem="english", stop_words="en"),
        Shingles(2, stem="de", stop_words="german"),
    ),
    *(Shingles(3, stop_words="en"), Shingles(5, stem="porter")),
]
letters = st.text(st.sampled_from("sedingABthe  ,'_9\u00e9\u0301\u4e2d\u6587\u0e01\u0e49"), max_size=100)


def spaceless(word: str) -> bool:
    return oracle.kind(word[0]) == "spaceless"


def expected(text: str, shingles: Shingles) -> list[int]:
    """The hashes of a text's shingles: stop words out, then stems, then runs."""
    left_out = set()
    if shingles.stop_words:
        entries = [oracle.words(entry) for entry in stopwordsiso.stopwords(shingles.stop_words)]
        left_out = {entry[0] for entry in entries if len(entry) == 1 and not spaceless(entry[0])}
    words = [word for word in oracle.words(text) if word not in left_out]
    if shingles.stem:
        stemmer = Stemmer.Stemmer(shingles.stem)
        words = [word if spaceless(word) else stemmer.stemWord(word) or word for word in words]
    runs = [words[i : i + shingles.width] for i in range(max(len(words) - shingles.width, 0) + 1)] if words else []
    return [xxhash.xxh64_intdigest(" ".join(run).encode()) for run in runs]


def found(shingles: Shingles, texts: list[str]) -> list[list[int]]:
    hashes, offsets = shingles.occurrences(as_column(texts), 0, len(texts))
    return [hashes[offsets[i] : offsets[i + 1]].tolist() for i in range(len(texts))]


@pytest.mark.parametrize("shingles", CHOICES, ids=str)
def test_every_shingle_in_reading_order(shingles: Shingles) -> None:
    assert found(shingles, TEXTS) == [expected(text, shingles) for text in TEXTS]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(letters, st.text(max_size=60)), max_size=5), st.sampled_from(CHOICES))
def test_any_texts(texts: list[str], shingles: Shingles) -> None:
    assert found(shingles, texts) == [expected(text, shingles) for text in texts]


def test_golden_values() -> None:
    assert found(Shingles(2, stem="en", stop_words="en"), ["The connections of the BRIDGES"]) == [
        [xxhash.xxh64_intdigest(b"connect bridg")]
    ]
    assert found(Shingles(1, stem="porter"), ["s"]) == [[xxhash.xxh64_intdigest(b"s")]]  # its stem is empty


def test_a_text_of_stop_words_has_no_features() -> None:
    features = Shingles(stop_words="en").extract(["the of and", "The cat", "", "AND the"])
    assert features.sizes.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("algorithm", Stemmer.algorithms())
def test_words_of_scripts_without_spaces_pass_through(algorithm: str) -> None:
    texts = ["我爱北京天安门", "コーヒーを飲む", "ภาษาไทยง่ายนิดเดียว", "ភាសាខ្មែរ", "မြန်မာ", "ພາສາລາວ"]
    assert found(Shingles(stem=algorithm), texts) == found(Shingles(), texts)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(("size", "most"), [(1 << 18, 1 << 17), (1, 0), (60, 3), (700, 10)])
def test_neither_threads_nor_spans_nor_what_was_met_before_change_anything(
    threads: int, size: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = TEXTS * 3 + [f"numbered words w{i}s w{i * 7 % 40}s bridges" for i in range(60)]
    shingles = Shingles(2, stem="english", stop_words="en")
    monkeypatch.setattr("sosie.features.spans.SPAN", size)
    monkeypatch.setattr("sosie.text.lexicon.MOST_WORDS", most)
    features = shingles.extract(texts, threads=threads)
    for row, text in enumerate(texts):
        hashes = features.hashes[features.offsets[row] : features.offsets[row + 1]]
        assert hashes.tolist() == sorted(set(expected(text, shingles)))


def test_names_are_canonical() -> None:
    assert Shingles(stem="en") == Shingles(stem="English") != Shingles(stem="porter") != Shingles()
    assert Shingles(stop_words="German") == Shingles(stop_words="de")
    assert Shingles(stem="en").stem == "english" and Shingles(stop_words="English").stop_words == "en"


def test_without_them_the_data_are_as_before() -> None:
    assert Shingles().to_dict() == {"width": 3, "unit": "word"}
    assert sosie.Simhash().to_dict()["shingles"] == {"width": 3, "unit": "word"}


def test_with_them_the_data_say_what_determines_the_bits() -> None:
    data = Shingles(2, stem="en", stop_words="english").to_dict()
    assert data["stem"] == {"algorithm": "english", "snowball": Stemmer.version()}
    assert data["stop_words"]["list"] == "en" and len(data["stop_words"]["digest"]) == 32
    spec = sosie.Minhash(shingles=Shingles(2, stem="en", stop_words="english"))
    assert spec_from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    specs = [Shingles(), Shingles(stem="en"), Shingles(stem="porter"), Shingles(stop_words="en")]
    assert len({sosie.Simhash(shingles=shingles).digest for shingles in specs}) == 4


def test_the_digest_is_of_the_words_not_of_their_place(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("a.txt", "b.txt", "c.txt"))
    first.write_text("the\nof\n")
    second.write_text("\ufeffOF\n\n  The \nthe\n", "utf-8")
    third.write_text("the\n")
    digests = [sosie.Simhash(shingles=Shingles(stop_words=str(path))).digest for path in (first, second, third)]
    assert digests[0] == digests[1] != digests[2]


def test_what_was_made_keeps_the_words_of_a_file(tmp_path: Path) -> None:
    path, texts = tmp_path / "stop.txt", ["the cats sat on the mats"]
    path.write_text("the\n")
    shingles = Shingles(1, stop_words=str(path))
    spec = sosie.Simhash(shingles=shingles)
    sosie.save_signatures(tmp_path / "signed", spec.fit().sign(texts), spec)
    for change in (lambda: path.write_text("the\nof\n"), path.unlink):
        change()
        again = sosie.load_signer(tmp_path / "signed")
        assert again.digest == sosie.load_signatures(tmp_path / "signed").digest == spec.digest
        assert again.spec == spec and again.spec.shingles.stop_words == str(path)
        assert found(again.spec.shingles, texts) == found(shingles, texts)
    damaged = shingles.to_dict()
    damaged["stop_words"]["words"] = ["of"]
    with pytest.raises(StorageError, match=r"other stop words than .*stop\.txt"):
        Shingles.from_dict(damaged)


def test_a_copy_keeps_the_words_of_a_file(tmp_path: Path) -> None:
    path, texts = tmp_path / "stop.txt", ["the cats of the mats"]
    path.write_text("the\n")
    shingles = Shingles(1, stop_words=str(path))
    for change in (lambda: path.write_text("of\n"), path.unlink):
        change()
        restored = Shingles.from_dict(json.loads(json.dumps(shingles.to_dict())))
        for copy in (replace(shingles), replace(restored), replace(replace(restored, width=2), width=1)):
            assert copy == shingles and copy.left_out == shingles.left_out and copy.stop_words == str(path)
            assert found(copy, texts) == found(shingles, texts)


def test_a_copy_may_have_other_words_or_none(tmp_path: Path) -> None:
    for name, word in (("a.txt", "the"), ("b.txt", "of")):
        (tmp_path / name).write_text(word)
    first, second = (Shingles(1, stop_words=str(tmp_path / name)) for name in ("a.txt", "b.txt"))
    assert replace(first, stop_words=str(tmp_path / "b.txt")) == second
    assert replace(first, stop_words=second.left_out) == second
    assert replace(first, stop_words=None) == Shingles(1)
    assert replace(first, unit="char", stop_words=None) == Shingles(1, "char")


def test_equal_words_are_equal_shingles(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("a.txt", "b.txt", "c.txt"))
    for path, content in ((first, "the\nof\n"), (second, "OF\nthe\n"), (third, "the\n")):
        path.write_text(content)
    a, b, c = (Shingles(stop_words=str(path)) for path in (first, second, third))
    assert a == b != c and hash(a) == hash(b)


def test_another_list_or_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = sosie.Simhash(shingles=Shingles(stem="en", stop_words="en"))
    sosie.save_signatures(tmp_path / "signed", spec.fit().sign(["the cats sat on the mats"]), spec)
    with monkeypatch.context() as patched:
        patched.setattr("sosie.text.stop_words._of_language", lambda code: StopWords(code, frozenset({"the"})))
        with pytest.raises(StorageError, match=r"signed: made with other stop words than en"):
            sosie.load_signatures(tmp_path / "signed")
    with monkeypatch.context() as patched:
        patched.setattr("sosie.features.shingles.snowball_version", lambda: "99.1")
        with pytest.raises(StorageError, match=r"signed: made with stems of PyStemmer .* here is 99\.1"):
            sosie.load_signer(tmp_path / "signed")
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(StorageError, match=r"signed: stems need the package PyStemmer: pip install 'sosie\[stem\]'$"):
        sosie.load_signer(tmp_path / "signed")


@pytest.mark.parametrize("wrong", [{"stem": "en"}, {"stop_words": "en"}])
def test_they_are_for_words(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="unit='word'"):
        Shingles(unit="char", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("package", "option"), [("Stemmer", "stem"), ("stopwordsiso", "stop_words")])
def test_a_missing_package_is_named(package: str, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=r"pip install 'sosie\[stem\]'"):
        Shingles(**{option: "en"})  # type: ignore[arg-type]
