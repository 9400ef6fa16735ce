"""What a report says: counts that add up, and warnings where a person should look."""

from __future__ import annotations

import numpy as np
import pytest

from sosie.cli.render import render_report
from sosie.matches.candidates import Exact
from sosie.report.report import Counts, describe
from sosie.report.summary import GIANT, warnings
from sosie.signatures.simhash import Simhash
from sosie.types import Clusters, VerifiedPairs


def pairs(count: int) -> VerifiedPairs:
    rows = np.arange(count)
    return VerifiedPairs(rows, rows + 1, np.ones(count), rows)


def numbers(**changes):
    plain = {"documents": 1000, "kept": 1000, "dropped": 0, "rejected": 0, "without_features": 0, "pairs": 0}
    return {**plain, "clusters": 0, "largest_cluster": 1, **changes}


def tally(**changes) -> Counts:
    return Counts(**{**numbers(**changes), "kept": changes.get("documents", 1000)})


def test_counts_add_up():
    clusters = Clusters(np.array([0, 0, 2, 3, 3, 3]), np.ones(6))
    assert Counts.of(6, 1, 1, clusters, pairs(4)).to_dict() == {
        "documents": 6,
        "kept": 2,
        "dropped": 3,
        "rejected": 1,
        "without_features": 1,
        "pairs": 4,
        "clusters": 2,
        "largest_cluster": 3,
        "dropped_without_features": 0,
    }
    assert Counts.of(0, 0, 0, Clusters(np.empty(0, np.int64), np.empty(0)), pairs(0)).largest_cluster == 0


def test_a_lost_document_is_an_error():
    with pytest.raises(AssertionError, match="lost"):
        Counts.of(7, 0, 0, Clusters(np.arange(6), np.ones(6)), pairs(0))
    for without, dropped, gone in ((1, 2, 2), (2, 0, 1), (2, 2, -1)):
        with pytest.raises(AssertionError, match="without features were lost"):
            Counts(
                **numbers(kept=1000 - dropped, dropped=dropped, without_features=without, dropped_without_features=gone)
            )


def test_warnings():
    assert warnings(tally(), {}) == []
    assert warnings(tally(largest_cluster=GIANT - 1), {}) == []
    assert warnings(tally(documents=10 * GIANT + 1, largest_cluster=GIANT), {}) == []
    (giant,) = warnings(tally(largest_cluster=GIANT), {})
    assert f"{GIANT} of 1,000" in giant
    (bounded,) = warnings(tally(), {"bounded_lists": 2, "unlisted_pairs": 1234})
    assert "about 1,200 others" in bounded
    (star,) = warnings(tally(), {"bounded_pairs": 99})
    assert "99 pairs" in star
    (wordless,) = warnings(tally(without_features=3), {})
    assert wordless == "3 documents without words: kept, and similar to nothing."
    (collided,) = warnings(Counts(**numbers()), {"collisions": 2})
    assert collided.startswith("In 2 comparisons, documents had the same hashes but not the same words")
    (by_hashes,) = warnings(Counts(**numbers()), {}, by_hashes=True)
    assert "hashes without their words" in by_hashes
    bare = Counts(**numbers(kept=998, dropped=2, without_features=3, dropped_without_features=2))
    (wordless,) = warnings(bare, {})
    assert wordless.startswith("3 documents without words: 2 dropped, identical to another byte for byte; 1 kept")


def test_methods_are_described_as_data():
    assert describe(Exact()) == {"method": "exact", "shingles": {"width": 3, "unit": "word"}}
    spec = Simhash(bits=128)
    assert describe(spec) == {**spec.to_dict(), "digest": spec.digest}


@pytest.mark.parametrize(("clusters", "said"), [("anchored", "with the kept one"), ("transitive", "along a chain")])
def test_a_report_as_text(clusters, said):
    report = {
        "counts": numbers(documents=12_345, kept=12_000, dropped=340, rejected=5, pairs=400, clusters=300),
        "parameters": {
            "threshold": 0.8,
            "similarity": "jaccard",
            "method": {"method": "minhash"},
            "clusters": clusters,
        },
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
    assert "rejected" not in render_report(report) and "recall: predicted 100 % (minhash)" in render_report(report)
    report["predicted_recall"] = None
    assert "recall: not predicted" in render_report(report) and "measured" not in render_report(report)


def test_a_report_counts_as_a_person_does(measured_report):
    measured_report["counts"] |= {"pairs": 1, "clusters": 1, "largest_cluster": 2}
    assert " 1 similar pair in 1 cluster, the largest of 2\n" in render_report(measured_report)
    measured_report["counts"] |= {"dropped": 0, "pairs": 0, "clusters": 0, "largest_cluster": 1}
    said = render_report(measured_report).splitlines()
    assert f"{0:>12} dropped (Containment >= 0.8 with the kept one)" in said  # of none is said that it was verified
    assert f"{0:>12} similar pairs" in said


def test_the_measured_recall_as_text(measured_report):
    assert "recall: predicted 99.9 % (minhash), measured 98.7 % on a sample of 1,000 (" in render_report(
        measured_report
    )
    assert "(296 of 300 pairs, 95 % interval 96.6 % to 99.5 %)" in render_report(measured_report)
    assert "stay are similar" not in render_report(measured_report)
    measured_report["predicted_recall"], measured_report["measured"]["missed"] = None, 2
    assert "recall: not predicted (see the notes), measured 98.7 %" in render_report(measured_report)
    assert "2 of 840 sampled documents that stay are similar to another" in render_report(measured_report)
    measured_report["measured"] |= {"recall": None, "true_pairs": 0}
    assert "a sample of 1,000 has no similar pairs" in render_report(measured_report)


@pytest.fixture
def measured_report():
    return {
        "counts": {**numbers(), "dropped_against": 7},
        "parameters": {
            "threshold": 0.8,
            "similarity": "containment",
            "method": {"method": "minhash"},
            "clusters": "anchored",
        },
        "predicted_recall": 0.999,
        "measured": {
            "sampled": 1000,
            "true_pairs": 300,
            "found_pairs": 296,
            "recall": 0.987,
            "interval": [0.966, 0.995],
            "kept": 840,
            "missed": 0,
        },
        "seconds": 1.5,
        "threads": 2,
        "stages": [{"peak_memory_bytes": 3 << 20}],
        "warnings": [],
    }


def test_other_measures_and_a_reference_as_text(measured_report):
    assert "Containment >= 0.8" in render_report(measured_report) and "reference" not in render_report(measured_report)
    measured_report["against"] = {"inputs": ["old.jsonl"], "documents": 50}
    assert "7 of them because of the reference" in render_report(measured_report)
