"""The page: every section, all escaped, every tag closed, nothing from elsewhere, bounded, the same each time."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sosie
from sosie.errors import DataError
from sosie.evaluation.planted import PlantedCorpus
from sosie.jobs.dedup import Deduplicator
from sosie.report.page import write_page
from sosie.report.panels import CHARACTERS, four_digits, name, safe
from sosie.report.report import Against
from sosie.report.summary import percent

SECTIONS = ("warnings", "method", "plots", "threshold", "clusters", "sample", "cost")
VOID = {"meta", "br", "hr", "img", "link", "input"}
LONG = "the quick brown fox jumps over the lazy dog and then it runs away from the very slow cat"


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in order; remembers tags, their attributes and the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.sections, self.marked, self.texts = [], [], {}, [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in VOID:
            self.open.append((tag, attributes))
        if attributes.get("class") == "text":
            self.texts.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        for tag, attributes in self.open:
            if tag == "section" and "id" in attributes:
                self.sections[attributes["id"]] = self.sections.get(attributes["id"], "") + data
            if attributes.get("class") == "text":
                self.texts[-1] += data
        if self.open and self.open[-1][0] == "mark" and self.open[-1][1].get("class") == "changed":
            self.marked.append(data)


def page_of(result, folder):
    write_page(result, folder)
    text = (folder / "report.html").read_text("utf-8")
    return text, Page(text)


def page(texts, folder, **options):
    return page_of(sosie.dedup(pa.table({"text": pa.array(texts, pa.string())}), **options), folder)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    with open(folder / "documents.jsonl", "w") as file:
        for table in PlantedCorpus(1_000, copies=0.4, seed=1).tables():
            file.writelines(json.dumps(document) + "\n" for document in table.to_pylist())
    result = Deduplicator().run(folder / "documents.jsonl", output=folder / "out")
    return result, folder


def test_every_section_is_there(demo):
    result, folder = demo
    text, read = page_of(result, folder)
    assert tuple(read.sections) == SECTIONS
    numbers = result.report["counts"]
    for key in ("documents", "kept", "dropped", "pairs", "clusters", "largest_cluster"):
        assert f"<dd>{numbers[key]:,}</dd>" in text
    assert "<dd>100 %<small>predicted; measured 100 %: " in text and "documents.jsonl" in read.sections["method"]
    assert [tag for tag, _ in read.tags].count("svg") == 3
    assert "at least 0.8" in read.sections["method"] and "the first one stays" in read.sections["method"]
    for stage in ("read", "collapse", "match", "verify", "cluster", "check", "write"):
        assert stage in read.sections["cost"]
    pairs = [attributes for tag, attributes in read.tags if tag == "details" and attributes.get("class") == "pair"]
    members = sum(min(size - 1, 3) for size in np.sort(np.bincount(result.grouped.anchor))[::-1][:10].tolist())
    assert len(pairs) == 10 + 10 + 20 + members and len(read.texts) == 2 * len(pairs)
    assert all(attributes["dir"] == "auto" for _, attributes in read.tags if attributes.get("class") == "text")


def test_texts_are_those_of_the_documents(demo):
    result, folder = demo
    _, read = page_of(result, folder)
    lines = (folder / "documents.jsonl").read_text().splitlines()
    assert set(read.texts) <= {json.loads(line)["text"] for line in lines}


def test_nothing_comes_from_elsewhere(demo):
    text, read = page_of(*demo)
    assert not re.search(r"https?:|url\(|@import|<script", text)
    for tag, attributes in read.tags:
        assert tag not in ("script", "link", "iframe", "img", "object")
        assert attributes.get("href", "#").startswith("#") and "src" not in attributes
        assert not any(key.startswith("on") for key in attributes)
    anchors = {attributes["href"][1:] for tag, attributes in read.tags if tag == "a"}
    assert anchors == set(SECTIONS)


def test_the_same_result_gives_the_same_page(demo, tmp_path):
    result, folder = demo
    again = Deduplicator().run(folder / "documents.jsonl", output=tmp_path / "again", threads=1)
    cost = {name: getattr(result.report, name) for name in ("stages", "threads", "planned")}
    again = replace(again, report=replace(again.report, **cost))
    assert page_of(result, tmp_path)[0] == page_of(again, tmp_path)[0]


HOSTILE = [
    "<script>alert(1)</script>",
    "</p></section><h1>broken",
    "a & b &amp; &lt; 'single' \"double\"",
    "<!-- comment --> <![CDATA[ x ]]> </style></details>",
    "مرحبا بالعالم \u202e override",
    "nul \x00 escape \x1b bell \x07 delete \x7f",
    "x" * 5_000,
    "word\u0301\u0327 e\u200d \U0001f469\u200d\U0001f680 日本語のテキスト",
]


def test_whatever_a_text_holds_is_text(tmp_path):
    texts = [f"{LONG} {hostile} {LONG} {n}" for hostile in HOSTILE for n in (1, 2)]
    ids = [f"<b onclick='x'>{i}&\"" for i in range(len(texts))]
    text, read = page_of(sosie.dedup(pa.table({"id": ids, "text": texts})), tmp_path)
    plain, _ = page([f"{LONG} {n}" for n in (1, 2)], tmp_path)
    assert {tag for tag, _ in read.tags} == {tag for tag, _ in Page(plain).tags} | {"span"}
    shown = "".join(read.texts)
    for hostile in HOSTILE[:5]:
        assert hostile in shown
    assert "nul ␀ escape ␛ bell ␇ delete ␡" in shown and "\x00" not in text and "x" * 300 not in text
    assert "4,800 more characters" in text or "4,801 more characters" in text
    assert ids[0] in "".join(read.sections.values())


@settings(max_examples=25)
@given(st.lists(st.text(max_size=40), max_size=8))
def test_any_texts_make_a_sound_page(tmp_path_factory, texts):
    doubled = [text + suffix for text in texts for suffix in ("", " ", ".")]
    page(doubled, tmp_path_factory.mktemp("any"))


def test_an_empty_collection(tmp_path):
    text, read = page([], tmp_path)
    assert "The collection is empty" in text and tuple(read.sections) == SECTIONS and "nan" not in text.lower()


def test_a_collection_without_duplicates(tmp_path):
    text, read = page(["one two three four", "five six seven eight", "nine"], tmp_path)
    assert "3 documents and no near-duplicates" in text and tuple(read.sections) == SECTIONS
    assert "No two documents are similar" in text and "Nothing is dropped" in text and "No pair reaches" in text


def test_differences_are_marked(tmp_path):
    _, read = page([LONG, LONG.replace("lazy", "sleepy")], tmp_path, threshold=0.5)
    assert set(read.marked) == {"lazy", "sleepy"}
    assert set(read.texts) == {LONG, LONG.replace("lazy", "sleepy")}
    _, read = page([LONG, LONG.upper()], tmp_path)
    assert not read.marked and "only case, punctuation" in read.sections["sample"]
    _, read = page([LONG, LONG], tmp_path)
    assert not read.marked and "The same words in the same order." in read.sections["sample"]


def test_huge_texts_do_not_end_up_in_the_page(tmp_path):
    words = " ".join(f"w{i}" for i in range(200_000))
    text, read = page([words + " end", words + " other", words.upper() + " end"], tmp_path, threshold=0.5)
    assert len(text) < 200_000
    assert f"Only the first {CHARACTERS:,} characters" in text and "words …]" in read.sections["sample"]


def test_a_difference_that_is_not_shown_is_not_denied(tmp_path):
    words = [f"{i}x" for i in range(3_000)]
    other = [word + "y" * (i % 20 == 0) for i, word in enumerate(words)]
    _, read = page([" ".join(words), " ".join(other)], tmp_path, threshold=0.5)
    assert "Cut around" in read.sections["sample"] and "The same words" not in read.sections["sample"]
    same = " ".join(words)
    _, read = page([same, same], tmp_path, threshold=0.5)
    assert "Cut around" in read.sections["sample"] and "The same words" in read.sections["sample"]


def test_the_page_is_bounded(tmp_path):
    generator = np.random.default_rng(0)
    vocabulary = np.array([f"&<>{i}" for i in range(5_000)])
    texts = []
    for _ in range(60):
        words = generator.choice(vocabulary, 3_000)
        texts += [" ".join(np.where(generator.random(3_000) < rate, "x", words)) for rate in (0, 0.02, 0.04, 0.05)]
    text, _ = page(texts, tmp_path, threshold=0.6)
    assert 200_000 < len(text) < 4_000_000


def test_warnings_are_shown(tmp_path):
    text, read = page([LONG] * 150 + ["..."], tmp_path)
    assert "One cluster holds 150 of 151 documents" in read.sections["warnings"]
    assert "1 document without words" in read.sections["warnings"] and 'id="warnings" class="some"' in text
    assert "None: no giant cluster" in page([LONG], tmp_path)[1].sections["warnings"]


def test_other_methods_and_clusters(tmp_path):
    texts = [LONG, LONG.replace("lazy", "sleepy"), LONG.replace("lazy", "sleepy").replace("slow", "fast")]
    text, read = page(texts, tmp_path, threshold="0.7", method="minhash", clusters="transitive", keep="longest")
    assert "chains of similar pairs" in read.sections["method"] and "the longest one stays" in read.sections["method"]
    assert re.search(r"probability of 99\.9\d+ %", read.sections["method"]) and "digest" in text
    text, _ = page(texts, tmp_path, threshold=0.7, method="simhash")
    assert "99 %" in text


def test_a_recall_that_is_not_stated(tmp_path):
    result = sosie.dedup(pa.table({"text": [LONG]}))
    text, _ = page_of(replace(result, report=replace(result.report, predicted_recall=None)), tmp_path)
    assert "<dd>not stated</dd>" in text and "no recall is predicted" in text


def test_what_is_just_below_the_threshold_is_shown(demo, tmp_path):
    result, _ = demo
    _, read = page_of(result, tmp_path)
    assert len(result.near) == 10 and (result.near.similarity < 0.8).all() and (result.near.similarity >= 0.7).all()
    said = read.sections["threshold"]
    assert "Just above" in said and "The 10 most similar pairs of 1,000 documents drawn at random" in said
    first = result.near.a[0], result.near.b[0]
    assert "{} and {} {:,} of {:,} features".format(*(f"d{row}" for row in first), *exact(result.near, 0)) in said
    _, read = page(["one two three four", "five six seven eight"], tmp_path)
    assert "Not looked for" in read.sections["threshold"] and not read.texts
    _, read = page(["one two three four", "five six seven eight"], tmp_path, output=tmp_path / "out")
    assert "has a similarity from 0.7 to 0.8" in read.sections["threshold"]
    assert "none of them is similar to another" in read.sections["method"]


def exact(pairs, index):
    return int(pairs.shared[index]), int(pairs.total[index])


def test_recall_as_predicted_and_as_measured(demo, tmp_path):
    result, _ = demo
    measured = result.report["measured"]
    assert measured["sampled"] == 1_000 and measured["recall"] == 1 == measured["settled"] and not measured["missed"]
    pairs = f"{measured['found_pairs']:,} of {measured['true_pairs']:,} pairs in a sample"
    assert f"<dd>100 %<small>predicted; measured 100 %: {pairs}</small></dd>" in page_of(result, tmp_path)[0]
    true = measured["true_pairs"]
    sampled = replace(result.report.measured, found_pairs=true // 4, unsettled_pairs=true // 100)
    pairs = f"{true // 4:,} of {true:,} pairs in a sample"
    bounded = replace(result.report, predicted_recall=None, measured=sampled)
    text, read = page_of(replace(result, report=bounded), tmp_path)
    assert f"<dt>pairs settled</dt><dd>{percent(sampled.settled)}<small>measured: not both documents stay; " in text
    assert f"{pairs} ({percent(sampled.recall)}) are listed" in text
    assert "so that no recall is predicted. As a check, 1,000 of 1,000 documents" in read.sections["method"]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"similarity": "cosine"}, "the angle between their features: cosine similarity, at least 0.8"),
        ({"similarity": "cosine", "weighting": "tf-idf"}, "cosine similarity (features weighted by tf-idf), at least"),
        ({"similarity": "containment"}, "how much of the smaller one the larger one holds: containment, at least 0.8"),
        ({"similarity": "jaccard", "weighting": "binary"}, "either has: Jaccard similarity, at least 0.8"),
    ],
)
def test_the_measure_is_named(demo, tmp_path, parameters, said):
    result, _ = demo
    report = replace(result.report, parameters=replace(result.report.parameters, **parameters))
    assert said in page_of(replace(result, report=report), tmp_path)[1].sections["method"]


def test_a_reference_is_named(demo, tmp_path):
    result, _ = demo
    counts = replace(result.report.counts, dropped_against=1_234)
    against = Against(("old.jsonl", "<b>.jsonl", "c", "d"), 56_789, 0, only=False)
    said = page_of(replace(result, report=replace(result.report, counts=counts, against=against)), tmp_path)[1]
    assert "1,234 documents went because of a similar one among the 56,789 of the reference" in said.sections["method"]
    assert "not compared with each other" not in said.sections["method"]
    alone = replace(result.report, counts=counts, against=replace(against, only=True))
    said = page_of(replace(result, report=alone), tmp_path)[1]
    assert "The documents were not compared with each other." in said.sections["method"]
    assert "(old.jsonl, <b>.jsonl, c and 1 more)" in said.sections["method"]
    assert "reference" not in page_of(result, tmp_path)[1].sections["method"]


@pytest.mark.parametrize(
    ("source", "job", "said"),
    [
        ({}, {}, "Texts were folded"),
        ({"html": "main"}, {}, "The main content of HTML pages was folded"),
        ({"html": "all"}, {}, "All text of HTML pages was folded"),
        ({}, {"shingles": sosie.Shingles(1)}, "features: single words."),
        ({}, {"shingles": sosie.Shingles(5, "char"), "method": "minhash"}, "features: runs of 5 characters."),
        ({}, {"shingles": sosie.Shingles(2, stem="en", stop_words="en")}, "stems (english), without stop words (en)"),
    ],
)
def test_what_was_compared_is_said(tmp_path, source, job, said):
    documents = sosie.Source(pa.table({"text": [LONG, LONG + " again"]}), **source)
    _, read = page_of(Deduplicator(**job).run(documents), tmp_path)
    assert said in read.sections["method"]


def test_annotated_documents_are_not_in_dropped(tmp_path):
    (tmp_path / "in.jsonl").write_text(f'{{"text": "{LONG}"}}\n' * 2)
    for annotate, there, missing in ((True, "annotated/", "dropped/"), (False, "dropped/", "annotated/")):
        output = sosie.Output(tmp_path / f"out-{annotate}", annotate=annotate)
        Deduplicator().run(tmp_path / "in.jsonl", output=output)
        footer = (tmp_path / f"out-{annotate}" / "report.html").read_text("utf-8").split("<footer>")[1]
        assert there in footer and missing not in footer


def test_one_document(tmp_path):
    text, _ = page([LONG], tmp_path)
    assert "1 document and no near-duplicates: nothing is dropped." in text


def test_a_giant_cluster_is_shown_with_the_warning(tmp_path):
    text = "<i>" + LONG * 6
    _, read = page([text] * 150, tmp_path)
    assert text[:400] + " […]" in read.sections["warnings"] and text[:402] not in read.sections["warnings"]
    _, read = page([LONG] * 150, tmp_path)
    assert f"begins so (more):\n{LONG}\n" in read.sections["warnings"]


def test_rejected_records_and_many_inputs(tmp_path):
    files = []
    for number in range(60):
        files.append(tmp_path / f"{number:02}.jsonl")
        files[-1].write_text(f'{{"text": "{LONG}"}}\nbroken\n' if number % 2 else f'{{"text": "{LONG} {number}"}}\n')
    pq.write_table(pa.table({"text": [LONG]}), tmp_path / "more.parquet")
    source = sosie.Source([*files, tmp_path / "more.parquet"], on_error="skip")
    text, read = page_of(sosie.dedup(source), tmp_path)
    assert "<span>rejected 30</span>" in text and "and 11 more" in text and "61 inputs" in text
    assert "more.parquet" not in read.sections["method"]


def test_inputs_that_changed_are_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text(f'{{"text": "{LONG}"}}\n' * 2)
    result = sosie.dedup(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(DataError, match="changed"):
        write_page(result, tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_similarities_are_rounded_down():
    assert [four_digits(value) for value in (1.0, 0.99999, 0.8, 0.8123, float(Fraction(2, 3)))] == [
        *["1.0000", "0.9999", "0.8000", "0.8123", "0.6666"]
    ]


def test_names():
    assert name("a\udcff<") == "<bdi><code>a\\udcff&lt;</code></bdi>"
    assert "880 more characters" in name("i" * 1_000) and len(name("i" * 1_000)) < 200
    assert safe(7) == "7"
