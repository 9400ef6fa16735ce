"""The page of links: every section, all escaped, every tag closed, nothing from elsewhere, words marked."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.test_page import HOSTILE, Page

from sosie.report.link_page import LinkExample, LinkPage, link_page
from sosie.report.link_panels import CHARACTERS, marked_text
from sosie.text.words import words

SECTIONS = (
    "warnings",
    "similarities",
    "rounds",
    "coverage",
    "hubs",
    "best",
    "borderline",
    "doubtful",
    "method",
    "reading",
)
ALWAYS = ("similarities", "hubs", "best", "borderline", "doubtful", "method", "reading")


class LinkedPage(Page):
    """Remembers the marked words inside of texts."""

    def handle_data(self, data):
        super().handle_data(data)
        if self.open and self.open[-1][0] == "mark" and any(each.get("class") == "text" for _, each in self.open):
            self.marked.append(data)


def example(a_text="Die Katze schläft.", b_text="The cat sleeps.", a_words=("katze",), b_words=("cat",), **others):
    given = {"a": "d1", "b": "e1", "rank": 1, "similarity": 0.5, "rival": 0.25, **others}
    return LinkExample(a_text=a_text, b_text=b_text, a_words=frozenset(a_words), b_words=frozenset(b_words), **given)


def page(**changed):
    given = {
        "names": ("de.jsonl", "en.jsonl"),
        "counts": {"documents of de.jsonl": 1_200, "documents of en.jsonl": 34_000, "linked": 4, "links": 9},
        "parameters": {"weights": "BM25"},
        "best": np.array([0.31, 0.3, 0.62, 1.0]),
        "all": np.array([0.31, 0.3, 0.62, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1]),
        "threshold": 0.3,
        "rounds": [
            {"round": 1, "pairs_taken": 1_000, "changed": None},
            {"round": 2, "pairs_taken": 2_000, "changed": 0.125},
        ],
        "alarms": ["Few words are translated."],
        "hubs": [("e9", 1_234)],
        "examples": {"best": [example()], "borderline": [example(similarity=0.3)], "doubtful": [example(rival=0.49)]},
        "coverage": {"words of de.jsonl": 0.25, "words of en.jsonl": float("nan")},
    }
    text = link_page(LinkPage(**{**given, **changed}))
    return text, LinkedPage(text)


def test_every_section_is_there():
    text, read = page()
    assert tuple(read.sections) == SECTIONS and 'id="warnings" class="some"' in text
    for count in ("1,200", "34,000", "4", "9"):
        assert f"<dd>{count}</dd>" in text
    assert "<title>Sosie: links of de.jsonl and en.jsonl</title>" in text
    assert "4 documents of <bdi><code>de.jsonl</code></bdi> are linked" in text
    assert "4 with a similarity of at least 0.3" in text
    assert "Few words are translated." in read.sections["warnings"]
    assert "pairs taken" in read.sections["rounds"] and "2,000" in read.sections["rounds"]
    assert "0.125" in read.sections["rounds"] and "None" not in text
    assert "25 %" in read.sections["coverage"] and "not stated" in read.sections["coverage"]
    assert "e9" in read.sections["hubs"] and "1,234" in read.sections["hubs"] and "BM25" in read.sections["method"]
    assert "nearest to the threshold of 0.3" in read.sections["borderline"]
    assert "second best 0.4900, margin +0.0100" in read.sections["doubtful"]
    assert "nan" not in text.lower()


def test_similarities_are_drawn_in_tenths_with_the_threshold():
    text, read = page()
    assert [tag for tag, _ in read.tags].count("svg") == 2
    assert "<title>0.3 to 0.4: 2</title>" in text and "<title>0.9 to 1.0: 1</title>" in text
    assert "<title>0.1 to 0.2: 5</title>" in text  # of all links
    lines = [attributes for tag, attributes in read.tags if attributes.get("class") == "threshold"]
    assert len(lines) == 2 and all(line["x1"] == line["x2"] for line in lines)
    bars = [float(attributes["x"]) for tag, attributes in read.tags if attributes.get("class") == "bar"]
    assert bars[2] < float(lines[0]["x1"]) < bars[3]
    text, read = page(all=None, threshold=None)
    assert [tag for tag, _ in read.tags].count("svg") == 1 and 'class="threshold"' not in text
    assert "median similarity, as no threshold was set" in read.sections["borderline"] and "at least" not in text


def test_what_there_is_not_is_said():
    text, read = page(
        best=np.array([]), all=np.array([]), rounds=[], alarms=[], hubs=[], examples={}, coverage={}, parameters={}
    )
    assert tuple(read.sections) == ALWAYS and not read.texts
    assert "No document of <bdi><code>de.jsonl</code></bdi> is linked with one of" in text
    assert "There are no links to draw" in read.sections["similarities"]
    assert all("There are none." in read.sections[key] for key in ("best", "borderline", "doubtful"))
    assert "No document of en.jsonl is the best link of conspicuously many" in read.sections["hubs"]
    assert "nan" not in text.lower() and "Not stated" in read.sections["method"]


def test_one_document_alone():
    text, read = page(best=np.array([0.2]), examples={"best": [example(rival=None, rank=3)]})
    assert "1 document of" in text and "is linked" in text and "0 with a similarity" in text
    assert "rank 3; no other link" in read.sections["best"]


def test_translated_words_are_marked_on_both_sides():
    _, read = page(examples={"best": [example("Die KATZE, die Katze!", "A cat; cats.")]})
    assert read.marked == ["KATZE", "Katze", "cat"]
    assert read.texts == ["Die KATZE, die Katze!", "A cat; cats."]
    assert "1 word translated" in read.sections["best"]
    assert "that a word of the other text translates" in read.sections["best"]
    assert all(attributes["dir"] == "auto" for _, attributes in read.tags if attributes.get("class") == "text")


@pytest.mark.parametrize(
    ("text", "sought", "marked"),
    [
        ("서울은 대한민국의 수도이자", {"서울은", "수도이자"}, ["서울은", "수도이자"]),
        ("القاهرة هي عاصمة مصر", {"عاصمة"}, ["عاصمة"]),
        ("東京都は日本の首都である。", {"東京", "京都", "首都"}, ["東京都", "首都"]),
    ],
)
def test_other_scripts(text, sought, marked):
    _, read = page(examples={"best": [example(text, a_words=sought, b_words=())]})
    assert read.marked == marked and read.texts[0] == text


def test_long_texts_are_cut_at_a_word():
    text, read = page(examples={"best": [example("Katze " * 10_000, "x" * 10_000, b_words=())]})
    assert len(text) < 60_000
    shown, other = read.texts
    assert shown.endswith("Katze [… 58,801 more characters]") and "x" * CHARACTERS + " [… 8,800 more" in other
    assert marked_text("abc def", frozenset({"def"}), 7) == "abc <mark>def</mark>"
    assert marked_text("abc def", frozenset({"de"}), 6) == 'abc<span class="gap"> [… 4 more characters]</span>'


def test_whatever_ids_and_texts_hold_is_text():
    plain = {tag for tag, _ in page()[1].tags}
    hostile = "</code></bdi><script>alert(1)</script>\x00"
    examples = [example(each, each, words(each), words(each), a=hostile, b=hostile) for each in HOSTILE]
    text, read = page(
        names=(hostile, hostile),
        counts={hostile: 1},
        parameters={hostile: hostile},
        rounds=[{hostile: hostile}],
        alarms=[hostile],
        hubs=[(hostile, 1)],
        coverage={hostile: 0.5},
        examples={"best": examples, "borderline": examples},
    )
    assert {tag for tag, _ in read.tags} == plain | {"span"}
    assert "<script" not in text and "\x00" not in text
    assert read.texts[: 2 * 5 : 2] == HOSTILE[:5] and "nul ␀ escape ␛" in "".join(read.texts)
    for key in ("warnings", "rounds", "coverage", "hubs", "best", "method"):
        assert "<script>alert(1)</script>␀" in read.sections[key]


def test_nothing_comes_from_elsewhere():
    text, read = page()
    assert not re.search(r"https?:|url\(|@import|<script", text)
    for tag, attributes in read.tags:
        assert tag not in ("script", "link", "iframe", "img", "object")
        assert attributes.get("href", "#").startswith("#") and "src" not in attributes
    assert {attributes["href"][1:] for tag, attributes in read.tags if tag == "a"} == set(SECTIONS)


@settings(max_examples=50)
@given(st.text(max_size=60), st.lists(st.floats(-1, 1), max_size=5), st.none() | st.floats(0, 1))
def test_any_text_makes_a_sound_page(text, similarities, threshold):
    sought = words(text)[::2]
    one = example(text, text[::-1], sought, sought, a=text, b=text)
    _, read = page(best=np.array(similarities), threshold=threshold, examples={"doubtful": [one]})
    assert len(read.texts) == 2


def test_ids_may_be_numbers_and_rivals_unknown():
    _, read = page(examples={"best": [example(a=7, b=8, rival=float("nan"))]})
    assert "7 and 8 no other link" in read.sections["best"]
