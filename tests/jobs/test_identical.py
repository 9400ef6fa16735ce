"""Identical documents: those without words in every run, and all of them by the method of that name."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import done, refused, run

import sosie
from sosie import Deduplicator, Identical, Output, Reference, Shingles, UsageError
from sosie.evaluation.result import load_result
from sosie.evaluation.sampling.sample import sampled_recall
from sosie.jobs import auto, stages
from sosie.matches.equal.groups import STAR

FOX = "the quick brown fox jumps over the lazy dog"
BARE = ["", "...", "\U0001f642", "\U0001f642\U0001f642", " ", "\u2026"]
texts = st.lists(st.sampled_from([*BARE, FOX, FOX.upper(), FOX + "!", "one", "One"]), max_size=20)


def table(rows, prefix="d"):
    ids = [f"{prefix}{i}" for i in range(len(rows))]
    return pa.table({"id": pa.array(ids, pa.string()), "text": pa.array(rows, pa.string())})


def groups_of(rows, key=lambda text: text):
    groups = defaultdict(list)
    for row, text in enumerate(rows):
        groups[key(text)].append(row)
    return list(groups.values())


def anchors(rows, groups):
    first = {row: group[0] for group in groups for row in group}
    return [first[row] for row in range(len(rows))]


@settings(deadline=None, max_examples=60)
@given(texts, st.sampled_from(["first", "longest"]))
def test_only_what_is_identical_goes(rows, keep):
    for method in ("identical", Identical()):
        result = sosie.dedup(table(rows), method=method, keep=keep)
        groups = groups_of(rows)
        assert result.grouped.anchor.tolist() == anchors(rows, groups)
        pairs = sorted((a, b) for group in groups for a in group for b in group if a < b)
        assert list(zip(result.found.a.tolist(), result.found.b.tolist(), strict=True)) == pairs
        assert result.pairs["similarity"].to_pylist() == [1.0] * len(pairs)
        assert result.report.predicted_recall == 1 and result.report.counts.without_features == 0


@settings(deadline=None, max_examples=60)
@given(texts, st.sampled_from(["identical", "keep"]), st.sampled_from(["exact", "minhash"]))
def test_documents_without_words(rows, wordless, method):
    result = Deduplicator(wordless=wordless, method=method).run(table(rows))

    def key(text):
        if text not in BARE:
            return text.lower().rstrip("!")
        return text if wordless == "identical" else object()

    groups = groups_of(rows, key)
    assert result.grouped.anchor.tolist() == anchors(rows, groups)
    counts, bare = result.report.counts, [row for row, text in enumerate(rows) if text in BARE]
    assert counts.without_features == len(bare)
    assert counts.dropped_without_features == sum(not result.mask[row] for row in bare)
    assert counts.kept + counts.dropped == counts.documents == len(rows)
    assert result.report.features == len(Shingles().extract(rows).hashes)
    assert result.report["parameters"]["wordless"] == wordless


@pytest.mark.parametrize(
    "job",
    [
        Deduplicator(method="identical"),
        Deduplicator(),
        Deduplicator(similarity="cosine", weighting="bm25"),
        Deduplicator(similarity="cosine", method="simhash"),
        Deduplicator(similarity="containment"),
        Deduplicator(shingles=Shingles(unit="char"), clusters="transitive"),
    ],
    ids=lambda job: f"{job.method}-{job.similarity}",
)
def test_all_that_is_written_agrees(tmp_path, job):
    rows = [*BARE, FOX, FOX.upper(), *BARE, *BARE[:2], FOX]
    pq.write_table(table(rows), tmp_path / "in.parquet")
    result = job.run(tmp_path / "in.parquet", output=tmp_path / "out")
    kept = pq.read_table(tmp_path / "out/kept/in.parquet")["text"].to_pylist()
    assert kept == [*BARE, FOX] + [FOX.upper()] * job.identical
    dropped = pq.read_table(tmp_path / "out/dropped/in.parquet").to_pylist()
    assert {row["duplicate_of"] for row in dropped if row["text"] == ""} == {"d0"}
    assert all(row["similarity"] == 1 for row in dropped)
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["counts"]["dropped_without_features"] == (0 if job.identical else 8)
    measured = report["measured"]
    assert measured["true_pairs"] == measured["found_pairs"] == report["counts"]["pairs"] and measured["missed"] == 0
    again = sampled_recall(load_result(tmp_path / "out"), sosie.Source(tmp_path / "in.parquet"))
    assert (again.recall, again.true_pairs, again.missed) == (1.0, report["counts"]["pairs"], 0)
    page = (tmp_path / "out/report.html").read_text("utf-8")
    assert ("compared byte for byte, without folding" in page) == job.identical
    assert ('id="threshold"' in page) != job.identical
    assert result.report.to_dict() == report


def test_weights_of_other_documents_do_not_depend_on_those_without_words():
    plain = [f"{FOX} number {i} of {i // 3}" for i in range(12)]
    weigh = Deduplicator(similarity="cosine", weighting="bm25", threshold=Fraction(1, 2), shingles=Shingles(1))
    kept = Deduplicator(
        similarity="cosine", weighting="bm25", threshold=Fraction(1, 2), shingles=Shingles(1), wordless="keep"
    )
    rows = [*BARE, *plain]
    assert weigh.run(table(rows)).pairs.equals(kept.run(table(rows)).pairs)


def test_a_large_group_is_listed_as_a_star():
    rows = ["?"] * (STAR + 6) + ["!"]
    for job in (Deduplicator(), Deduplicator(method="identical")):
        result = job.run(table(rows))
        assert len(result.found) == STAR + 5 and set(result.found.a.tolist()) == {0}
        assert result.report["counters"]["bounded_pairs"] == (STAR + 6) * (STAR + 5) // 2 - (STAR + 5)
        assert result.report.counts.largest_cluster == STAR + 6


@pytest.mark.parametrize("method", ["identical", "exact"])
def test_a_reference(method):
    job = Deduplicator(method=method)
    result = job.run(table(["", FOX, "?", "?", FOX.upper()]), against=table(["?", FOX, ""], "r"))
    gone = {row["id"]: row["duplicate_of"] for row in result.dropped.to_pylist()}
    assert gone == {"d0": "r2", "d1": "r1", "d2": "r0", "d3": "r0"} | ({"d4": "r1"} if method == "exact" else {})
    assert result.report.counts.dropped_against == len(gone)
    only = job.run(table(["!", "!", "?"]), against=Reference(table(["?"], "r"), only=True))
    assert only.kept.to_pylist() == ["d0", "d1"]


def test_a_reference_of_features_has_no_texts_to_compare(tmp_path):
    texts_at = tmp_path / "in.jsonl"
    texts_at.write_text(json.dumps({"id": "a", "text": FOX}) + "\n")
    done("sign", texts_at, "-o", tmp_path / "signed", "--features")
    with pytest.raises(
        UsageError, match=r"signed: holds features, and texts are compared byte for byte. Give the texts"
    ):
        Deduplicator(method="identical").run(table([FOX]), against=tmp_path / "signed")


@pytest.mark.parametrize("keep", ["longest", "max:score", "newest:date"])
def test_who_stays(keep):
    rows = table(["?", "?", FOX, FOX]).append_column("score", pa.array([1.5, 2.5, None, 0.1]))
    rows = rows.append_column("date", pa.array(["2024-01-01", "2025-01-01", "", "2020-01-01"]))
    result = sosie.dedup(rows, method="identical", keep=keep)
    assert result.kept.to_pylist() == (["d0", "d2"] if keep == "longest" else ["d1", "d3"])


def test_annotated_and_within_a_limit_of_memory(tmp_path):
    pq.write_table(table([*BARE, FOX, *BARE]), tmp_path / "in.parquet")
    job, memory = Deduplicator(method="identical"), auto.FIXED_BYTES + 10**9
    job.run(tmp_path / "in.parquet", output=Output(tmp_path / "out", annotate=True), memory=memory)
    found = pq.read_table(tmp_path / "out/annotated/in.parquet")
    assert found["kept"].to_pylist() == [True] * 7 + [False] * 6
    assert found["duplicate_of"].to_pylist()[7:] == [f"d{i}" for i in range(6)]


@pytest.mark.parametrize("method", ["identical", "exact"])
def test_a_run_that_was_interrupted_goes_on(tmp_path, method, monkeypatch):
    pq.write_table(table([*BARE, FOX, *BARE, FOX]), tmp_path / "in.parquet")
    job = Deduplicator(method=method)
    whole = job.run(tmp_path / "in.parquet", output=tmp_path / "whole").report.to_dict()

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(stages, "write", interrupted)
        job.run(tmp_path / "in.parquet", output=Output(tmp_path / "out", resume=True))
    with monkeypatch.context() as patch:
        patch.setattr(stages, "collect", None)  # nothing is read again
        result = job.run(tmp_path / "in.parquet", output=Output(tmp_path / "out", resume=True)).report.to_dict()
    for measured in ("stages", "seconds", "plan"):
        whole.pop(measured, None), result.pop(measured, None)
    assert result == whole


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"threshold": Fraction(1, 2)}, "a threshold"),
        ({"similarity": "containment"}, "a similarity"),
        ({"shingles": Shingles(2)}, "shingles"),
        ({"wordless": "keep"}, "wordless"),
    ],
)
def test_what_has_no_meaning_byte_for_byte_is_refused(wrong, named):
    with pytest.raises(UsageError, match=f"{named}: has no meaning for the method identical"):
        Deduplicator(method="identical", **wrong)
    assert Deduplicator(method=Identical(), threshold=1).threshold == 1


def test_other_answers_are_refused():
    with pytest.raises(UsageError, match="wordless must be identical or keep, got 'drop'"):
        Deduplicator(wordless="drop")


def test_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [*BARE, FOX, FOX.upper(), FOX, *BARE]
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(rows))
    )
    code, out, _ = run("dedup", "in.jsonl", "--dry-run")
    assert (
        code == 0 and "Note: 12 documents without words: 6 dropped, identical to another byte for byte; 6 kept" in out
    )
    code, out, _ = run("dedup", "in.jsonl", "--dry-run", "--wordless", "keep")
    assert code == 0 and "Note: 12 documents without words: kept, and similar to nothing." in out
    code, out, _ = run("dedup", "in.jsonl", "--method", "identical", "-o", "out")
    assert code == 0 and "7 dropped, each identical to the kept one, byte for byte" in out
    assert done("evaluate", "result", "out", "in.jsonl")["sample"]["recall"] == 1
    assert (
        "byte for byte: leave --width and --unit out"
        in refused("evaluate", "result", "out", "in.jsonl", "--width", 2)[1]
    )
    for option in (["--threshold", "0.8"], ["--width", 3], ["--unit", "code"], ["--wordless", "identical"]):
        code, err = refused("dedup", "in.jsonl", "--dry-run", "--method", "identical", *option)
        assert code == 2 and f"{option[0]}: for near-duplicates; --method identical compares texts byte for byte" in err


@pytest.mark.parametrize("method", ["exact", "identical"])
def test_pages_without_text_may_differ_and_stay(tmp_path, method):
    pages = ["<html><script>a()</script></html>", "<html><script>b()</script></html>", "<p>...</p>", "<p>...</p>"]
    column = sosie.Source(table(pages), html="all")
    assert Deduplicator(method=method).run(column).kept.to_pylist() == ["d0", "d1", "d2"]
    (tmp_path / "pages").mkdir()
    for number, page in enumerate(pages):
        (tmp_path / "pages" / f"{number}.html").write_text(page)
    result = Deduplicator(method=method).run(tmp_path / "pages", output=tmp_path / "out")
    assert result.mask.tolist() == [True, True, True, False]
    again = sampled_recall(load_result(tmp_path / "out"), sosie.Source(tmp_path / "pages"))
    assert (again.recall, again.true_pairs) == (1.0, 1)
