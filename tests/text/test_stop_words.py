"""Stop words of languages and files, and the languages that have stems."""

from __future__ import annotations

from pathlib import Path

import pytest
import Stemmer
import stopwordsiso

from sosie.errors import DataError, UsageError
from sosie.text import words
from sosie.text.languages import NAMES
from sosie.text.stems import stem_algorithm
from sosie.text.stop_words import stop_words


def test_every_language_of_the_package_with_spaces_is_known() -> None:
    assert set(stopwordsiso.langs()) - set(NAMES) == {"ja", "th", "zh"}
    for code in set(stopwordsiso.langs()) & set(NAMES):
        assert stop_words(NAMES[code]) == stop_words(code)
        assert all(words(word) == [word] for word in stop_words(code).words)
        assert len(stop_words(code).words) >= 25


def test_every_algorithm_is_known_by_its_code() -> None:
    for code, name in NAMES.items():
        if name in Stemmer.algorithms():
            assert stem_algorithm(code) == stem_algorithm(name.title()) == name
            assert Stemmer.Stemmer(code).stemWord("x") == "x"  # the package means the same by the code
    assert set(Stemmer.algorithms()) - set(NAMES.values()) == {"dutch_porter", "porter"}


def test_a_file_is_read_folded(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeffTHE\r\n\r\n  Straße  \nof\nof".encode())
    found = stop_words(str(path))
    assert found.words == {"the", "strasse", "of"} and found.name == str(path)
    assert stop_words(path) == found and stop_words(path).name == str(path)
    with pytest.raises(UsageError, match=r"a language or a file, got \['the'\]"):
        stop_words(["the"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"the\ndon't\n", r"line 2: reads as 2 words, don, t"),
        ("the\n的\n".encode(), r"line 2: 的 is of a script"),
        (b"\n...\n", "holds no words"),
        (b"caf\xe9\n", "cannot be read as UTF-8"),
    ],
)
def test_other_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"words\.txt.*{message}"):
        stop_words(str(path))


def test_unknown_languages_list_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no stop words for 'klingon'.*afrikaans \(af\).*zulu \(zu\)"):
        stop_words("klingon")
    with pytest.raises(UsageError, match="no stop words for 'zh'"):
        stop_words("zh")
    with pytest.raises(UsageError, match="named by a language, got True"):
        stem_algorithm(True)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"no stems for 'klingon'.*english \(en\).*porter.*turkish \(tr\)"):
        stem_algorithm("klingon")
