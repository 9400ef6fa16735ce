"""Tokens of source code: what a person expects, and what a regular expression says."""

from __future__ import annotations

import keyword
import tokenize
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle_text as oracle

import sosie
from sosie.features import Shingles
from sosie.text.words import code_tokens

pieces = st.sampled_from(
    [".", "1", "0x1F", "1e-5", "e", "E+", "_", "x", "<=", ">>", " ", "\n", "é", "\u0301", "中", "√"]
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a<=b", "a < = b"),
        ("x=-1", "x = - 1"),
        ("std::vector<std::pair<int,int>> v;", "std : : vector < std : : pair < int , int > > v ;"),
        ("3.14 .5 5. 1e-9 1E+9 1e9 0x1e-5 1_000.5", "3.14 . 5 5 . 1e-9 1E+9 1e9 0x1e - 5 1_000.5"),
        ("range 1..10, v1.2.3, 1.2.3-rc1", "range 1 . . 10 , v1 . 2.3 , 1.2.3 - rc1"),
        ("snake_case camelCase CamelCase $jQuery @decorator", "snake_case camelCase CamelCase $ jQuery @ decorator"),
        ("größe = Δx / 变量 # 漢字", "größe = Δx / 变量 # 漢字"),
        ("\ufeff#include <a.h>\r\n", "# include < a . h >"),
        ("\"a b\" 'c' /* d */", "\" a b \" ' c ' / * d * /"),
        ("a\u00a0b\u3000c\u2028d", "a b c d"),
        ("", ""),
    ],
)
def test_tokens_as_people_read_them(text: str, tokens: str) -> None:
    assert code_tokens(text) == tokens.split(" ") * bool(tokens)
    assert oracle.code_tokens(text) == code_tokens(text)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(pieces, max_size=30).map("".join), st.text(max_size=60)))
def test_tokens_are_those_of_a_regular_expression(text: str) -> None:
    assert code_tokens(text) == oracle.code_tokens(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(pieces.filter(str.strip), max_size=30), st.sampled_from([" ", "\n\t", "\u3000", "\r\n    "]))
def test_white_space_separates_and_does_not_count(parts: list[str], space: str) -> None:
    assert code_tokens(space.join(parts)) == code_tokens(f"{space} {'  '.join(parts)}{space}")


def test_names_and_numbers_of_python_are_single_tokens() -> None:
    source = Path(sosie.__file__).with_name("types.py").read_bytes()
    found = set(code_tokens(source.decode("utf-8")))
    for token in tokenize.tokenize(BytesIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.NUMBER):
            assert token.string in found, token
    assert {word for word in keyword.kwlist if word in found} >= {"class", "def", "return"}


def test_every_character_of_an_operator_counts_and_so_does_case() -> None:
    codes = ["if (a < b) { swap(a, b); }", "if (a > b) { swap(a, b); }", "if (A < b) { swap(a, b); }"]
    words = Shingles(width=3).extract(codes)
    assert len({tuple(words.rows(i, i + 1).hashes) for i in range(3)}) == 1
    tokens = Shingles(width=3, unit="code").extract([*codes, "if(a<b){swap(a,b);}"])
    rows = [tuple(tokens.rows(i, i + 1).hashes) for i in range(4)]
    assert len(set(rows)) == 3 and rows[0] == rows[3]


@pytest.mark.parametrize("wrong", [{"stem": "en"}, {"stop_words": "en"}])
def test_code_has_neither_stems_nor_stop_words(wrong: dict[str, str]) -> None:
    with pytest.raises(sosie.UsageError, match="code is compared as it is written"):
        Shingles(unit="code", **wrong)  # type: ignore[arg-type]


def test_shingles_of_code_are_saved_like_others() -> None:
    shingles = Shingles(5, "code")
    assert shingles.to_dict() == {"width": 5, "unit": "code"}
    assert Shingles.from_dict(shingles.to_dict()) == shingles
    assert sosie.Simhash(shingles=shingles).digest != sosie.Simhash(shingles=Shingles(5)).digest
