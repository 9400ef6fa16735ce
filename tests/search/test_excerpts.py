"""Passages of matches against what trying every window says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sosie.features.shingles import Shingles
from sosie.search import excerpts
from sosie.search.excerpts import find_excerpt, marked, whole_excerpt
from sosie.search.windows import Windows

WORDS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40).map(" ".join)


def windows_of(text, words, overlap):
    """Every window of a text, as a list of words."""
    tokens = text.split()
    starts = range(0, max(len(tokens) - words, 0) + words - overlap, words - overlap)
    return [tokens[min(start, max(len(tokens) - words, 0)) :][:words] for start in starts]


def runs(tokens, width):
    width = min(width, len(tokens))
    return {tuple(tokens[i : i + width]) for i in range(len(tokens) - width + 1)}


def alike(a, b, width):
    a, b = runs(a, width), runs(b, width)
    return len(a & b) / min(len(a), len(b))


@pytest.mark.parametrize("pairs", [1, 7, 1 << 20])
@given(WORDS, WORDS, st.integers(1, 4), st.integers(1, 9), st.integers(0, 8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_no_window_is_more_like_the_query(monkeypatch, pairs, query, document, width, words, overlap):
    monkeypatch.setattr(excerpts, "_PAIRS", pairs)
    overlap = min(overlap, words - 1)
    found = find_excerpt(query, document, Shingles(width), Windows(words, overlap))
    assert document[found.start : found.end] == found.text
    theirs, ours = windows_of(document, words, overlap), windows_of(query, words, overlap)
    assert found.text.split() in theirs
    best = max(alike(a, b, width) + 1e-3 * alike(a, b, 1) for a in ours for b in theirs)
    reached = max(alike(a, found.text.split(), width) + 1e-3 * alike(a, found.text.split(), 1) for a in ours)
    assert reached == pytest.approx(best)


@given(WORDS, WORDS, st.integers(1, 4))
def test_shared_words_are_in_runs_that_both_have(query, passage, width):
    found = whole_excerpt(query, passage, 7, Shingles(width))
    assert (found.start, found.end) == (7, 7 + len(passage))
    asked, tokens = query.split(), passage.split()
    marks = [False] * len(tokens)
    for length in (min(width, len(asked), len(tokens)), 1):
        common = runs(asked, length) & runs(tokens, length)
        for i in range(len(tokens) - length + 1):
            if tuple(tokens[i : i + length]) in common:
                marks[i : i + length] = [True] * length
        if any(marks):
            break
    shown = marked(passage, found.shared, "[", "]")
    inside, said = False, []
    for word in shown.split():
        inside = inside or word.startswith("[")
        said.append(inside)
        inside = inside and not word.endswith("]")
    assert said == marks


def test_words_are_compared_as_they_fold():
    found = whole_excerpt("STRASSE ohne Namen", "Die Straße, ohne NAMEN!", 0, Shingles(3))
    assert marked(found.text, found.shared) == "Die **Straße, ohne NAMEN**!"


def test_scripts_without_spaces_are_marked_by_character():
    found = whole_excerpt("東京都", "私は東京都に住む", 0, Shingles(3))
    assert marked(found.text, found.shared) == "私は**東京都**に住む"


@pytest.mark.parametrize(("query", "document"), [("...", "a b"), ("a b", "?"), ("", "")])
def test_without_words_all_is_shown_and_nothing_marked(query, document):
    found = find_excerpt(query, document, Shingles(), Windows(5, 2))
    assert (found.text, found.start, found.end, found.shared) == (document, 0, len(document), [])


def test_shingles_of_characters_mark_words():
    found = find_excerpt("rose garden", "a garden of one rose", Shingles(width=4, unit="char"), Windows(9, 3))
    assert marked(found.text, found.shared) == "a **garden** of one **rose**"
