"""What a report says: counts that add up, and warnings where a person should look."""

from __future__ import annotations

import numpy as np
import pytest

from sosie.cli.render import render_report
from sosie.matches.candidates import Exact
from sosie.report.stages import Stages
from sosie.report.summary import GIANT, counts, describe, warnings
from sosie.signatures.simhash import Simhash
from sosie.storage.resident import physical_memory
from sosie.types import Clusters, VerifiedPairs


def pairs(count: int) -> VerifiedPairs:
    rows = np.arange(count)
    return VerifiedPairs(rows, rows + 1, np.ones(count), rows)


def numbers(**changes):
    plain = {"documents": 1000, "kept": 1000, "dropped": 0, "rejected": 0, "without_features": 0, "pairs": 0}
    return {**plain, "clusters": 0, "largest_cluster": 1, **changes}


def test_counts_add_up():
    clusters = Clusters(np.array([0, 0, 2, 3, 3, 3]), np.ones(6))
    assert counts(6, 1, 1, clusters, pairs(4)) == {
        "documents": 6,
        "kept": 2,
        "dropped": 3,
        "rejected": 1,
        "without_features": 1,
        "pairs": 4,
        "clusters": 2,
        "largest_cluster": 3,
    }
    assert counts(0, 0, 0, Clusters(np.empty(0, np.int64), np.empty(0)), pairs(0))["largest_cluster"] == 0


def test_a_lost_document_is_an_error():
    with pytest.raises(AssertionError, match="lost"):
        counts(7, 0, 0, Clusters(np.arange(6), np.ones(6)), pairs(0))


def test_warnings():
    assert warnings(numbers(), {}) == []
    assert warnings(numbers(largest_cluster=GIANT - 1), {}) == []
    assert warnings(numbers(documents=10 * GIANT + 1, largest_cluster=GIANT), {}) == []
    (giant,) = warnings(numbers(largest_cluster=GIANT), {})
    assert f"{GIANT} of 1,000" in giant
    (bounded,) = warnings(numbers(), {"bounded_lists": 2, "bounded_comparisons": 1234})
    assert "1,234" in bounded
    (star,) = warnings(numbers(), {"bounded_pairs": 99})
    assert "99 pairs" in star
    (wordless,) = warnings(numbers(without_features=3), {})
    assert "3 documents have no words" in wordless


def test_methods_are_described_as_data():
    assert describe(Exact()) == {"method": "exact", "shingles": {"width": 3, "unit": "word"}}
    spec = Simhash(bits=128)
    assert describe(spec) == {**spec.to_dict(), "digest": spec.digest}


def test_stages_measure_what_ran_and_only_that():
    stages = Stages()
    with stages.run("one"), pytest.raises(ZeroDivisionError), stages.run("broken"):
        1 / 0  # noqa: B018
    assert [stage["stage"] for stage in stages.finished] == ["one"]
    assert stages.seconds == stages.finished[0]["seconds"] >= 0
    assert 0 < stages.finished[0]["peak_memory_bytes"] < physical_memory()


@pytest.mark.parametrize(("clusters", "said"), [("anchored", "with the kept one"), ("transitive", "along a chain")])
def test_a_report_as_text(clusters, said):
    report = {
        "counts": numbers(documents=12_345, kept=12_000, dropped=340, rejected=5, pairs=400, clusters=300),
        "parameters": {"threshold": 0.8, "method": {"method": "minhash"}, "clusters": clusters},
        "predicted_recall": 0.99951,
        "seconds": 1.5,
        "threads": 2,
        "stages": [{"peak_memory_bytes": 3 << 20}, {"peak_memory_bytes": 7 << 20}],
        "warnings": ["look here"],
    }
    text = render_report(report)
    for part in (
        "12,345 documents",
        "12,000 kept",
        "340 dropped",
        said,
        "5 rejected",
        "99.951 %",
        "7 MiB",
        "look here",
    ):
        assert part in text
    report["counts"]["rejected"], report["predicted_recall"] = 0, 1.0
    assert "rejected" not in render_report(report) and "100 % predicted recall" in render_report(report)
    report["predicted_recall"] = None
    assert "no predicted recall" in render_report(report)
