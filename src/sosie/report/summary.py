"""Numbers in words, and what a person should look at before deleting anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sosie.matches.equal.groups import STAR
from sosie.report.report import Counts, Report
from sosie.shown import counted as counted
from sosie.types import Counters

GIANT = 100  # members from which a cluster that holds a tenth of all documents raises an alarm


def warnings(numbers: Counts, counters: Counters, *, by_hashes: bool = False) -> list[str]:
    """Say what a person should look at before deleting anything.

    `by_hashes` is whether there is a reference whose words are not at hand.
    """
    said = []
    if giant(numbers.largest_cluster, numbers.documents):
        held = f"{numbers.largest_cluster:,} of {numbers.documents:,} documents"
        said.append(f"One cluster holds {held}: look at it before deleting.")
    if collisions := counters.get("collisions"):
        said.append(
            f"In {counted(collisions, 'comparison')}, documents had the same hashes but not the same words, and the"
            " words decided. Chance does not do that: someone may have made texts to have others deleted."
        )
    if by_hashes:
        said.append(
            "The reference holds hashes without their words: what is dropped because of it has 64-bit hashes in common"
            " with it, which can be forged. Give its texts where others may have written the documents."
        )
    said += bounded(counters)
    if numbers.without_features:
        bare, dropped = numbers.without_features, numbers.dropped_without_features
        gone = f"{dropped:,} dropped, identical to another byte for byte; {bare - dropped:,} " if dropped else ""
        said.append(f"{counted(bare, 'document')} without words: {gone}kept, and similar to nothing.")
    if numbers.folders_passed_over:
        said.append(f"{counted(numbers.folders_passed_over, 'folder')} that Sosie wrote passed over, not read.")
    return said


def report_lines(report: Report) -> list[tuple[str, str]]:
    """Return what a de-duplication found, as names and values."""
    counts, parameters = report.counts, report.parameters
    how = "with the kept one" if parameters.clusters == "anchored" else "along a chain"
    weights = f" of {parameters.weighting} weights" if parameters.weighting not in (None, "binary") else ""
    similar = f"{parameters.similarity.capitalize()}{weights} >= {parameters.threshold:g} {how}"
    dropped, each = f"{counts.dropped:,}", "each verified:"
    if parameters.similarity == "identical":
        similar, each = "identical to the kept one, byte for byte", "each"
    lines = [
        ("documents", f"{counts.documents:,}"),
        ("kept", f"{counts.kept:,}"),
        ("dropped", f"{dropped}, {each} {similar}" if counts.dropped else f"{dropped} ({similar})"),
    ]
    if counts.dropped_against is not None:
        lines.append(("", f"{counts.dropped_against:,} of them because of the reference"))
    if counts.rejected:
        lines.append(("rejected", f"{counts.rejected:,}"))
    lines.append(("pairs", f"{counts.pairs:,} in {_clusters(counts.clusters, counts.largest_cluster)}"))
    lines.append(("method", f"{parameters.method['method']}, {_recall(report)}"))
    return [*lines, *(("note", warning) for warning in report.warnings)]


def unit_name(unit: str) -> str:
    """Return what shingles are made of, by its name in a sentence.

    >>> unit_name("word"), unit_name("char"), unit_name("code")
    ('word', 'character', 'token')
    """
    return {"char": "character", "code": "token"}.get(unit, "word")


def percent(share: float | None) -> str:
    """Return a share of pairs; only what is whole reads 100 %.

    >>> percent(1.0), percent(0.9999999), percent(0.25), percent(None)
    ('100 %', '99.999 %', '25 %', 'not stated')
    """
    if share is None:
        return "not stated"
    if 0 < share < 1e-5:
        return "below 0.001 %"
    return "100 %" if share == 1 else f"{min(round(100 * share, 3), 99.999):g} %"


def of_reference(measured: Mapping[str, Any]) -> str:
    """Say that a recall is not the plain share of the pairs of its sample, where some of them are with a reference.

    >>> of_reference({"reference_pairs": 7}), of_reference({})
    (' (7 with the reference, which count for two)', '')
    """
    pairs = measured.get("reference_pairs")
    return f" ({pairs:,} with the reference, which count for two)" if pairs else ""


def rounded(number: int) -> str:
    """Return an estimate to two digits.

    >>> rounded(1_234_567), rounded(7)
    ('1,200,000', '7')
    """
    return f"{float(f'{number:.2g}'):,.0f}"


def giant(largest: int, documents: int) -> bool:
    """Whether the largest cluster is so large that a person should look at it."""
    return largest >= GIANT and 10 * largest >= documents


def bounded(counters: Counters) -> list[str]:
    """Say what a join did not compare or list."""
    said = []
    if counters.get("bounded_lists"):
        said.append(
            f"{counters['bounded_lists']:,} features or keys are shared by very many documents that are alike: there,"
            f" pairs with a document that stays are listed, and about {rounded(counters['unlisted_pairs'])} others are"
            " not. Which documents stay does not depend on that."
        )
    if counters.get("bounded_pairs"):
        said.append(
            f"Groups of more than {counters.get('bounded_above', STAR)} identical rows are written as stars, each row"
            " with the first:"
            f" {counters['bounded_pairs']:,} pairs are not listed."
        )
    return said


def _clusters(clusters: int, largest: int) -> str:
    return f"{counted(clusters, 'cluster')}{f', the largest of {largest:,}' if clusters else ''}"


def _recall(report: Report) -> str:
    predicted = report.predicted_recall
    said = "recall not predicted" if predicted is None else f"recall {percent(predicted)} predicted"
    if report.measured is None:
        return said
    measured = report.measured.described()["recall"]
    return said if measured is None else f"{said}, {percent(measured)} measured on a sample"
