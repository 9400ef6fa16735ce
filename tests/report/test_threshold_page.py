"""The page on thresholds: every section, all escaped, every tag closed, nothing from elsewhere, no script."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.test_page import HOSTILE, Page

import sosie
from sosie.evaluation.thresholds.going import Going
from sosie.evaluation.thresholds.valley import Valley
from sosie.report.examples import Example
from sosie.report.panels import CHARACTERS
from sosie.report.threshold_advice import NearPairs, ThresholdAdvice
from sosie.report.threshold_page import threshold_page

SECTIONS = ("nearest", "going", "pairs", "command")


def advice(texts=("the old mill by the river", "the new mill by the river"), ids=("a", "b"), **changed):
    given = {
        "measure": "jaccard",
        "shingles": sosie.Shingles().to_dict(),
        "documents": 12_000,
        "rejected": 1,
        "wordless": 2,
        "sampled": 2_000,
        "seed": 0,
        "nearest": (1_500, 9, 8, 0, 0, 0, 0, 1, 0, 3, 20, 40, 100, 150, 169),
        "identical": 7,
        "valley": Valley(0.4, 0.75, 0.55, 4, 1_517, 479),
        "related": None,
        "threshold": 0.55,
        "going": tuple(Going(each, 1_234, 0.1028, (0.09, 0.12), False) for each in (0.55, 0.6, 0.7, 0.8, 0.9, 0.95)),
        "near": (
            NearPairs(0.55, (Example(0, 1, 0.5, 4, 8),), (Example(0, 1, 0.6, 6, 10),)),
            NearPairs(0.6, (), (Example(0, 1, 0.6, 6, 10),)),
            NearPairs(0.7, (), (Example(0, 1, 0.6, 6, 10),)),
        ),
        "ids": dict(enumerate(ids)),
        "texts": dict(enumerate(texts)),
    }
    return ThresholdAdvice(**{**given, **changed})


def page(command="sosie dedup in.jsonl -o OUT --threshold 0.55", **changed):
    text = threshold_page(advice(**changed), command)
    return text, Page(text)


def test_every_section_is_there():
    text, read = page()
    assert tuple(read.sections) == SECTIONS
    assert "There is a valley from 0.4 to 0.75" in text and 'class="valley"' in text and 'class="threshold"' in text
    assert "1,500 of 2,000 documents" in read.sections["nearest"]
    assert "about 1,234" in read.sections["going"] and "9 to 12 %" in read.sections["going"]
    assert "Estimated from 2,000 documents" in read.sections["going"]
    assert read.marked == ["old", "new"] * 3  # 0.6 and 0.7 have the same pairs: they are shown once
    assert "0.6 to 0.7" in read.sections["pairs"] and "6 of 10 features shared" in read.sections["pairs"]
    assert "sosie dedup in.jsonl -o OUT --threshold 0.55" in read.sections["command"]


def test_without_a_valley_nothing_is_shaded_and_what_was_counted_has_no_interval():
    going = tuple(Going(each, 9, 0.25, (0.25, 0.25), True) for each in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95))
    text, read = page(valley=None, threshold=0.8, going=going, near=())
    assert 'class="valley"' not in text and "There is no valley" in text and "the usual one" in text
    assert "Counted" in read.sections["going"] and "Estimated" not in read.sections["going"]
    assert "None: no sampled document" in read.sections["pairs"]


def test_an_empty_collection_has_a_page():
    empty = sosie.plan_threshold(sosie.Source.from_texts([]))
    text = threshold_page(empty, empty.command())
    assert "There are no documents" in text and tuple(Page(text).sections) == ("command",)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_documents_say_is_shown_and_not_done(hostile):
    text, read = page(texts=(f"one {hostile} two", "one three two"), ids=(hostile, 7), command=f"sosie {hostile}")
    assert not {tag for tag, _ in read.tags} & {"script", "img", "iframe", "object", "link", "base"}
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    assert not re.search(r"https?://|url\(", re.sub(r"<p class=\"text\".*?</p>|<code>.*?</code>", "", text, flags=re.S))


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60), st.text(min_size=1, max_size=20))
def test_any_text_is_a_page(a, b, name):
    text, read = page(texts=(a, b), ids=(name, name[::-1]), command=a)
    assert tuple(read.sections) == SECTIONS
    text.encode("utf-8")


def test_long_texts_are_cut():
    long = "word " * 40_000
    text, _ = page(texts=(long[: CHARACTERS + 1], long[: CHARACTERS + 1] + "x"))
    assert len(text) < 100_000


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "page.html"
    advice().write_page(file)
    assert "sosie dedup DOCUMENTS -o OUT --threshold 0.55" in file.read_text("utf-8")
    with pytest.raises(sosie.UsageError, match="exists"):
        advice().write_page(file)
    advice(threshold=0.6).write_page(file, overwrite=True)
    assert "--threshold 0.6" in file.read_text("utf-8") and [each.name for each in tmp_path.iterdir()] == ["page.html"]
