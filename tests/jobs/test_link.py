"""`sosie.link`: twins in two languages are found in every way of translating, comparing and choosing."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import files_in, write_jsonl
from tests.crosslingual.twins import twins

import sosie
from sosie.crosslingual.signed import Signed
from sosie.errors import DataError, SosieError, UsageError
from sosie.jobs import link as verb
from sosie.jobs.link_spec import LinkSpec
from sosie.matches.chunks import Window
from sosie.storage.output import Output

TWINS = twins()
WORDS = TWINS.dictionary()
SOME = 40  # documents, where all of them say no more


def linked(**options):
    options.setdefault("dictionary", None if {"parallel", "translate"} & options.keys() else WORDS)
    return sosie.link(*TWINS.sides(), **options)


def some():
    """Return the first few sources and their twins, as texts by id."""
    source = dict(list(TWINS.source.items())[:SOME])
    return source, {TWINS.truth[name]: TWINS.target[TWINS.truth[name]] for name in source}


def source_of(texts):
    return sosie.Source.from_texts(list(texts.values()), ids=list(texts))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TWINS.write(tmp_path)
    return tmp_path


def test_twins_are_the_first_links_by_a_dictionary():
    links = linked()
    table, report = links.table, links.report
    assert TWINS.right(table) == 1 and len(links) == table.num_rows == report.links == 10 * 120
    assert table.schema.names == ["a", "b", "rank", "similarity"]
    assert table.schema.types == [pa.large_string(), pa.int64(), pa.int32(), pa.float64()]
    assert repr(links) == "Links(1,200 links of 120 documents)" and links.to_pandas().shape == (1200, 4)
    for _, rows in links.to_polars().group_by("a"):
        assert rows["rank"].to_list() == list(range(1, 11))
    assert report.documents == {"a": 120, "b": 120} and report.linked == 120 and report.warnings == []
    assert 0.9 < report.recall <= 1 and report.known_words == {"a": 1.0, "b": 1.0}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("signed", [Signed(), Signed(2000, 7)])
def test_signatures_that_compare_all_find_what_comparing_all_does(exact, signed):
    truth = linked(exact=True, compared=120, threads=1).table
    again = linked(exact=exact, compared=1000, signed=signed, threads=2).table
    assert again.drop(["similarity"]) == truth.drop(["similarity"])
    assert np.allclose(again["similarity"], truth["similarity"])


def test_threads_and_memory_change_nothing():
    tables = [linked(threads=1).table, linked(threads=2).table, linked(memory="1GB").table]
    assert tables[0] == tables[1] == tables[2]


def test_a_threshold_takes_all_pairs_above_it():
    everything = linked(exact=True, k=120).table
    expected = {(row["a"], row["b"]) for row in everything.to_pylist() if row["similarity"] >= 0.12}
    exact = linked(exact=True, threshold=0.12)
    assert {(row["a"], row["b"]) for row in exact.table.to_pylist()} == expected and len(expected) > 300
    assert exact.report.recall == 1
    for signed in (Signed(), Signed(window=Window(tables=40, window=60))):
        found = linked(threshold=0.12, signed=signed)
        pairs = {(row["a"], row["b"]) for row in found.table.to_pylist()}
        low, high = found.report.interval
        assert pairs <= expected and low <= found.report.recall <= high <= 1
        assert len(pairs) >= 0.9 * len(expected) and TWINS.right(found.table) == 1
    assert found.report.parameters["window"] == {"tables": 40, "window": 60} | found.report.parameters["window"]


def test_the_best_are_chosen():
    assert len(linked(k=3)) == 360 and len(linked(k=10**9)) == 120 * 120
    both = linked(k=3, threshold=0.3).table
    assert len(both) == 120 and min(both["similarity"].to_pylist()) >= 0.3
    for name in ("one_to_one", "mutual"):
        table = linked(**{name: True}).table
        assert TWINS.right(table) == 1 and set(table["rank"].to_pylist()) == {1}
        assert len(set(table["b"].to_pylist())) == len(table) == 120


def test_one_to_one_gives_each_document_one_partner_at_most_where_targets_are_few():
    source, target = some()
    few = dict(list(target.items())[:10])
    table = sosie.link(source_of(source), source_of(few), dictionary=WORDS, one_to_one=True).table
    assert sorted(table["b"].to_pylist()) == sorted(few) and len(set(table["a"].to_pylist())) == 10
    mutual = sosie.link(source_of(source), source_of(few), dictionary=WORDS, mutual=True).table
    assert {(row["a"], row["b"]) for row in mutual.to_pylist()} == {
        (name, TWINS.truth[name]) for name in source if TWINS.truth[name] in few
    }


def test_words_are_trained_on_parallel_text(folder):
    found = linked(parallel="segments.tsv")
    assert TWINS.right(found.table) == 1 and found.report.parameters["words_by"] == "parallel"
    assert found.dictionary.segments == 200 and found.report.dictionary["digest"] == found.dictionary.digest
    for side, name in enumerate(("here", "there")):
        write_jsonl(f"{name}.jsonl", {f"d{i}": pair[side] for i, pair in enumerate(TWINS.segments)})
    joined = linked(parallel=["here.jsonl", "there.jsonl"])
    assert joined.dictionary.digest == found.dictionary.digest and joined.table == found.table
    turned = linked(parallel=["there.jsonl", "here.jsonl"])
    assert TWINS.right(turned.table) == 1 and "the other way round" in turned.report.warnings[0]


def test_words_are_learnt_from_the_collections_alone():
    found = sosie.link(*TWINS.sides(), rounds=2)
    assert TWINS.right(found.table) == 1 and found.report.parameters["words_by"] == "bootstrap"
    first, second = found.report.rounds
    assert first["same"] is None and first["taken"] < second["taken"] <= second["confident"] <= 120
    right = sum(bool(found.dictionary.translations(word)) for word in TWINS.words)
    assert right > 0.9 * len(TWINS.words)


def test_texts_may_be_translated_by_a_function():
    found = linked(translate=TWINS.translate)
    assert TWINS.right(found.table) == 1 and found.dictionary is None and found.report.dictionary is None
    assert found.report.parameters["words_by"] == "translate"
    assert TWINS.right(linked(translate=TWINS.translate, exact=True, threshold=0.3).table) == 1
    for wrong in (lambda texts: texts[:1], lambda texts: "x" * len(texts), lambda texts: [1] * len(texts)):
        with pytest.raises(DataError, match="a list of 120 texts"):
            linked(translate=wrong)


def test_documents_may_be_lists_generators_and_dicts():
    source, target = TWINS.lists()
    of_lists = sosie.link(source, target, dictionary=WORDS, k=1)
    assert of_lists.table.schema.types[:2] == [pa.int64(), pa.int64()]
    of_generators = sosie.link((text for text in source), (text for text in target), dictionary=WORDS, k=1)
    of_dicts = sosie.link([{"text": text} for text in source], {"text": target}, dictionary=WORDS, k=1)
    assert of_lists.table == of_generators.table == of_dicts.table
    names, ids = list(TWINS.source), list(TWINS.target)
    assert all(TWINS.truth[names[row["a"]]] == ids[row["b"]] for row in of_lists.table.to_pylist())


def test_weights_and_formulas_change_similarities():
    usual = linked(exact=True, k=1)
    for weights in ((1, 0, 0), (0, 0, 1)):
        other = linked(exact=True, k=1, weights=weights)
        assert other.table["similarity"] != usual.table["similarity"] and TWINS.right(other.table) > 0.9
    weighted = linked(exact=True, k=1, dictionary=WORDS.with_weights((1.0, 0.0, 0.0)))
    assert weighted.table == linked(exact=True, k=1, weights=(2, 0, 0)).table
    assert weighted.report.parameters["weights"] == {"forward": 1.0, "backward": 0.0, "grams": 0.0}
    given = linked(exact=True, k=1, dictionary=WORDS.with_weights((1.0, 0.0, 0.0)), weights=(0.4, 0.4, 0.2))
    assert given.table == usual.table


def test_formulas_differ_where_words_have_several_translations():
    source, target = list(TWINS.words), list(TWINS.words.values())
    more = sosie.Dictionary.from_pairs(source * 2, target + target[1:] + target[:1], [0.7] * 400 + [0.3] * 400)
    later, paper = (linked(dictionary=more, exact=True, k=1, formula=formula) for formula in ("later", "paper"))
    assert later.table["similarity"] != paper.table["similarity"] and paper.report.parameters["formula"] == "paper"
    assert TWINS.right(later.table) == TWINS.right(paper.table) == 1


def test_a_dictionary_the_other_way_round_is_used_so():
    turned = linked(dictionary=WORDS.reversed())
    (said,) = turned.report.warnings
    assert "from the second language into the first" in said and turned.table == linked().table


def test_a_dictionary_for_other_languages_is_refused_with_the_figures():
    other = sosie.Dictionary.from_pairs(["xyx"], ["yxy"], [1.0])
    with pytest.raises(UsageError, match=r"knows 0 % of the words of the first collection and 0 % of those of the sec"):
        linked(dictionary=other)
    half = sosie.Dictionary.from_pairs(list(TWINS.words), [f"q{word}" for word in TWINS.words], [1.0] * 400)
    with pytest.raises(
        UsageError, match=r"knows 8\d\.\d+ % of the words of the first collection and 0 % .* other lang"
    ):
        linked(dictionary=half)
    few = sosie.Dictionary.from_pairs(*zip(*list(TWINS.words.items())[:12], strict=True), [1.0] * 12)
    warnings = sosie.link(*TWINS.sides(), dictionary=few).report.warnings
    assert len(warnings) == 2 and all("the dictionary knows only 2" in said for said in warnings)


@pytest.mark.parametrize("side", [0, 1])
def test_two_collections_in_one_language_are_noticed(side):
    texts = TWINS.lists()[side]
    with pytest.raises(UsageError, match="of the same language"):
        sosie.link(texts[:60], texts[60:], dictionary=WORDS)
    (said,) = sosie.link(texts, texts, rounds=1).report.warnings
    assert "both collections seem to be in the same language" in said


def test_hubs_are_named_and_set_aside():
    source, target = some()
    others = {key: text for key, text in TWINS.target.items() if key not in target}
    near_all = {7: " ".join(target.values()), **others}
    found, aside = (
        sosie.link(source_of(source), source_of(near_all), dictionary=WORDS, k=2, set_aside_hubs=without)
        for without in (False, True)
    )
    assert found.report.hubs[0]["id"] == 7 and found.report.hubs[0]["first_of"] > 10
    assert found.report.hubs == aside.report.hubs
    assert "--set-aside-hubs" in found.report.warnings[0] and aside.report.warnings[0].endswith("a hub, set aside")
    assert 7 in found.table["b"].to_pylist() and 7 not in aside.table["b"].to_pylist() and len(aside) == 2 * SOME


def test_documents_in_another_language_are_named():
    chance = Random(1)
    third = " ".join("".join(chance.choices("qxyz", k=7)) for _ in range(60))
    source = {**TWINS.source, "third": third, "turned": TWINS.target[1000]}
    said = sosie.link(source_of(source), source_of(TWINS.target), dictionary=WORDS).report.warnings
    assert len(said) == 2 and all("1 document of the first collection (0.82 %)" in each for each in said)
    assert "in the language of the other collection: turned" in said[0]
    assert "in a third language, or no prose: third" in said[1]


def test_documents_with_few_words_are_left_out():
    source = {**TWINS.source, "void": "", "marks": "?!", "short": TWINS.source["s0"][:12]}
    links = sosie.link(source_of(source), source_of({**TWINS.target, 1: "?"}), dictionary=WORDS)
    assert links.report.left_out == {"a": {"few words": 3}, "b": {"few words": 1}}
    assert links.source.ids(links.left_out[0]).to_pylist() == ["void", "marks", "short"]
    assert TWINS.right(links.table) == 1 and links.report.linked == 120


def test_few_and_empty_documents():
    source, target = some()
    one = sosie.link(list(source.values())[:1], list(target.values())[:1], dictionary=WORDS)
    assert one.table.to_pylist() == [{"a": 0, "b": 0, "rank": 1, "similarity": one.table["similarity"][0].as_py()}]
    ab = sosie.Dictionary.from_pairs(["a"], ["d"], [1.0])
    assert len(sosie.link(["a b", "c"], ["d e", "f"], dictionary=ab)) == 0
    assert len(sosie.link(["a b", "c"], ["d e", "f"], dictionary=ab, threshold=0.1)) == 0
    with pytest.raises(UsageError, match="the list is empty"):
        sosie.link([], ["a"], dictionary=ab)
    with pytest.raises(DataError, match="there is no word in 2 documents"):
        sosie.link(["?", ""], ["a"], dictionary=ab)
    with pytest.raises(DataError, match=r"40 and 9 documents are too few .*--parallel"):
        sosie.link(list(source.values()), list(target.values())[:9])
    with pytest.raises(DataError, match="only 0 pairs of documents are alike enough by their letters"):
        sosie.link([f"ab{i} cd{i} ef{i} gh{i} ij{i}" for i in range(20)], [f"k{i} m{i} n o p q" for i in range(20)])


def test_what_is_written_is_what_is_returned(folder):
    broken = '{"id": "bad"\n{"id": "s0", "text": "again"}\n{"id": "none", "text": "?"}\n'
    Path("source.jsonl").write_text(Path("source.jsonl").read_text() + broken)
    before = files_in(".")
    sides = [sosie.Source(name, on_error="skip") for name in ("source.jsonl", "target.jsonl")]
    found = sosie.Linker(parallel="segments.tsv").run(*sides, Output("out"), threads=1)
    assert pq.read_table("out/links.parquet") == found.table
    report = json.loads(Path("out/report.json").read_text())
    assert report == json.loads(json.dumps(found.report.to_dict())) and report["format"] == "sosie-link"
    assert report["rejected"] == 2 and report["documents"] == {"a": 121, "b": 120}
    rejected = [json.loads(line) for line in Path("out/rejected.jsonl").read_text().splitlines()]
    assert [(each["file"], each["line"]) for each in rejected] == [("source.jsonl", 121), ("source.jsonl", 122)]
    (left,) = Path("out/left_out.jsonl").read_text().splitlines()
    assert json.loads(left) == {"side": "a", "id": "none", "reason": "fewer than five words that can be compared"}
    page = Path("out/report.html").read_text()
    best = found.table.sort_by([("similarity", "descending")])["b"][0].as_py()
    assert "Links across languages" in page and "source.jsonl" in page and str(best) in page
    assert sosie.load_dictionary("out/dictionary").digest == found.dictionary.digest
    again = sosie.Linker(dictionary="out/dictionary").run(*sides, Output("again"))
    assert again.table == found.table and not Path("again/dictionary").exists()
    assert before.items() <= files_in(".").items()


def test_outputs_are_whole_or_not_at_all(folder, monkeypatch):
    source, target = map(source_of, some())
    job = sosie.Linker(dictionary=WORDS)
    job.run(source, target, Output("out"))
    before = files_in(".")
    with pytest.raises(UsageError, match="--overwrite"):
        job.run(source, target, Output("out"))

    def broken(*_):
        raise OSError("the page cannot be written")

    with monkeypatch.context() as patched:
        patched.setattr(verb, "write_link_page", broken)
        for output in (Output("out", overwrite=True), Output("new")):
            with pytest.raises((SosieError, OSError)):
                job.run(source, target, output)
            assert files_in(".") == before
    sosie.Linker(dictionary=WORDS, k=1).run(source, target, Output("out", overwrite=True))
    assert files_in(".").keys() == before.keys() and len(pq.read_table("out/links.parquet")) == SOME


def test_an_output_does_not_replace_what_it_is_made_with(folder):
    source, target = map(source_of, some())
    sosie.Linker(parallel="segments.tsv").run(source, target, Output("out"))
    before = files_in("out")
    with pytest.raises(UsageError, match="holds inputs of this run"):
        sosie.Linker(dictionary="out/dictionary").run(source, target, Output("out", overwrite=True))
    assert files_in("out") == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dictionary": WORDS, "parallel": "x.tsv"}, "dictionary and parallel: .* give one of them"),
        ({"dictionary": WORDS, "translate": str}, "dictionary and translate"),
        ({"parallel": "x.tsv", "translate": str}, "parallel and translate"),
        ({"dictionary": {"haus": "house"}}, "as from_pairs makes it, or the path of one, not a dict"),
        ({"translate": "de"}, "a function from texts"),
        *(({"k": k}, "k is a whole number from 1 on") for k in (0, -1, 1.5, "3", True)),
        *(({"threshold": threshold}, "threshold must be") for threshold in (0, 1.5, float("nan"), -1, "x", True)),
        ({"threshold": 30}, "for 30 percent, write 0.3"),
        *(
            ({"weights": weights}, "three weights")
            for weights in ((1, 2), (1, "a", 1), 5, "abc", (0, 0, 0), (-1, 1, 1), (1, 1, float("nan")), (1e308,) * 3)
        ),
        ({"rounds": 0}, "rounds is a whole number from 1 on"),
        ({"compared": 0}, "compared is a whole number from 1 on"),
        ({"formula": "newer"}, "one of later, paper, got 'newer'"),
    ],
)
def test_contradictions_are_refused(options, said):
    with pytest.raises(UsageError, match=said):
        sosie.Linker(**options)


@pytest.mark.parametrize("seed", [-1, 1 << 32, 1.5, "a"])
def test_seeds_are_those_of_signatures(seed):
    with pytest.raises(UsageError, match=r"seed must be from 0 to 2\^32 - 1"):
        Signed(64, seed)


def test_a_threshold_may_be_said_in_words():
    assert sosie.Linker(threshold="0.3").threshold == 0.3 == sosie.Linker(threshold=0.3).threshold


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"dictionary": WORDS}, ["link", "link exact"]),
        ({"dictionary": WORDS, "k": 3, "threshold": 0.3, "signed": Signed()}, ["link"]),
        ({"exact": True}, ["link learnt", "link exact"]),
        ({"parallel": "x.tsv", "threshold": 0.3}, ["link learnt", "link threshold", "link threshold exact"]),
        ({"translate": str, "threshold": 0.3, "signed": Signed(window=Window())}, ["link window"]),
        ({"dictionary": WORDS, "threshold": 0.3, "exact": True}, ["link threshold exact"]),
    ],
)
def test_what_is_compiled_beforehand(options, needed):
    assert LinkSpec(**options).needs == needed
