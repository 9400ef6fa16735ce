"""The report: frozen, read by attribute or as data, and JSON of the same keys in the same order as ever."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pyarrow as pa
import pytest

import sosie
from sosie import Deduplicator, Output

TEXTS = ["the quick brown fox jumps over the lazy dog", "The QUICK brown fox jumps over the lazy dog!", "...", "else"]
COUNTS = ["documents", "kept", "dropped", "rejected", "without_features", "pairs", "clusters", "largest_cluster"]
BEGIN = ["format", "version", "parameters", "inputs"]
MIDDLE = ["counts", "text_bytes", "features", "predicted_recall", "counters", "warnings"]
END = ["plan", "stages", "seconds", "threads"]
PLAN = ["method", "parameters", "asked", "predicted", "measured", "predicted_seconds", "seconds", "predicted_bytes"]
PLAN += ["bytes", "work", "said", "considered"]
PARAMETERS = ["threshold", "similarity", "method", "keep", "clusters", "text_column", "id_column"]
MEASURED = ["seed", "documents", "sampled", "true_pairs", "found_pairs", "wrong_pairs", "recall", "interval", "settled"]
MEASURED += ["unsettled_pairs", "kept", "missed"]
BOUNDED = ["identical_documents", "bounded_above", "bounded_groups", "bounded_pairs"]
JOINED = ["postings", "comparisons", "bounded_lists", "unlisted_pairs", "candidates", *BOUNDED]


def table(texts=TEXTS):
    return pa.table({"text": texts})


def written(folder, job=Deduplicator(), **options):  # noqa: B008
    result = job.run(table(), output=folder / "out", **options)
    return result, json.loads((folder / "out" / "report.json").read_text("utf-8"))


def test_the_keys_of_a_report_that_is_written(tmp_path):
    result, data = written(tmp_path)
    assert data == result.report.to_dict()
    assert (data["format"], data["version"]) == ("sosie-report", 1)
    assert list(data) == [*BEGIN, *MIDDLE, "measured", *END]
    assert list(data["parameters"]) == [*PARAMETERS, "annotate", "wordless"]
    assert data["parameters"]["id_column"] is None and data["parameters"]["wordless"] == "identical"
    assert list(data["parameters"]["method"]) == ["method", "shingles"]
    assert data["inputs"] == [{"path": "the Arrow table", "documents": 4}]
    assert list(data["counts"]) == [*COUNTS, "dropped_without_features"] and list(data["counters"]) == JOINED
    assert list(data["measured"]) == MEASURED and list(data["plan"]) == PLAN
    assert {tuple(stage) for stage in data["stages"]} == {("stage", "seconds", "peak_memory_bytes")}
    assert data["seconds"] == round(sum(stage["seconds"] for stage in data["stages"]), 3)
    text = (tmp_path / "out" / "report.json").read_text("utf-8")
    assert text == json.dumps(result.report.to_dict(), indent=2) + "\n"


def test_the_keys_of_a_report_that_is_not_written():
    data = sosie.dedup(table()).report.to_dict()
    assert list(data) == [*BEGIN, *MIDDLE, *END] and list(data["parameters"]) == [*PARAMETERS, "wordless"]


def test_what_other_runs_add(tmp_path):
    job = Deduplicator(similarity="cosine", weighting="tf", method="simhash")
    _, data = written(tmp_path, job, against=table(TEXTS[:1]))
    assert list(data) == [*BEGIN, "against", *MIDDLE, "measured", *END]
    assert list(data["against"]) == ["inputs", "documents", "rejected", "only"]
    assert list(data["counts"]) == [*COUNTS, "dropped_against", "dropped_without_features"]
    assert list(data["parameters"]) == [*PARAMETERS[:2], "weighting", *PARAMETERS[2:], "annotate", "wordless"]
    assert "radius" in data["counters"] and "digest" in data["parameters"]["method"]
    html = Deduplicator().run(sosie.Source(table(), html="all"), output=Output(tmp_path / "html", annotate=True)).report
    assert list(html["parameters"]) == [*PARAMETERS, "html", "annotate", "wordless"]
    assert html["parameters"]["annotate"] is True


def test_a_report_is_read_like_a_mapping_and_cannot_be_changed():
    report = sosie.dedup(table()).report
    assert report["counts"]["kept"] == report.counts.kept == 3
    assert report.get("measured") is None and report.get("threads") == report.threads and "against" not in report
    assert dict(report) == {**report} == report.to_dict() == report and len(report) == len(report.to_dict())
    assert dict(report.items())["features"] == report.features
    with pytest.raises(KeyError):
        report["nothing"]
    with pytest.raises(TypeError):
        report["threads"] = 3
    with pytest.raises(FrozenInstanceError):
        report.threads = 3
    with pytest.raises(AssertionError, match="documents were lost"):
        replace(report.counts, kept=7)
