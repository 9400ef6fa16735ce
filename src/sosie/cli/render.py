"""Reports as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sosie.cli.say import say
from sosie.report.summary import counted, of_reference, percent
from sosie.shown import printable


def render_report(report: Mapping[str, Any]) -> str:
    """Return the counts, the recall, the warnings and the cost of a de-duplication as lines."""
    numbers, parameters = report["counts"], report["parameters"]
    measure = parameters["similarity"].capitalize()
    dropped = "marked as duplicates" if parameters.get("annotate") else "dropped"
    how = "with the kept one" if parameters["clusters"] == "anchored" else "along a chain"
    similar, each = f"{measure} >= {parameters['threshold']:g} {how}", "each verified:"
    if measure == "Identical":
        similar, each = "identical to the kept one, byte for byte", "each"
    verified = f"{dropped}, {each} {similar}" if numbers["dropped"] else f"{dropped} ({similar})"
    pairs = f"similar {'pair' if numbers['pairs'] == 1 else 'pairs'}"
    if numbers["clusters"]:
        pairs += f" in {counted(numbers['clusters'], 'cluster')}, the largest of {numbers['largest_cluster']:,}"
    lines = [
        f"{numbers['documents']:>12,} documents",
        f"{numbers['kept']:>12,} kept",
        f"{numbers['dropped']:>12,} {verified}",
    ]
    if report.get("against"):
        lines.append(f"{numbers['dropped_against']:>12,} of them because of the reference")
    if numbers["rejected"]:
        lines.append(f"{numbers['rejected']:>12,} rejected: see rejected.jsonl")
    lines += [
        f"{numbers['pairs']:>12,} {pairs}",
        *_recall(report),
        f"{report['seconds']:>11.2f}s on {counted(report['threads'], 'thread')},"
        f" peak memory {max(stage['peak_memory_bytes'] for stage in report['stages']) / 2**20:,.0f} MiB",
    ]
    if report.get("plan"):
        lines.append(f"{'plan':>12}: {report['plan']['said']}")
    return "\n".join(map(printable, lines + [f"Note: {warning}" for warning in report["warnings"]]))


def _recall(report: Mapping[str, Any]) -> list[str]:
    """Say the recall as predicted and as measured, and what stays beside a similar document."""
    predicted, measured = report["predicted_recall"], report.get("measured")
    method = report["parameters"]["method"]["method"]
    said = f"predicted {percent(predicted)} ({method})" if predicted is not None else "not predicted (see the notes)"
    if "estimated_recall" in report:
        share = percent(report["estimated_recall"]["recall"])
        said = f"predicted {share} ({method}; {percent(predicted)} at the threshold)"
    if measured is None:
        return [f"{'recall':>12}: {said}"]
    if measured["recall"] is None:
        return [f"{'recall':>12}: {said}; a sample of {measured['sampled']:,} has no similar pairs"]
    low, high = map(percent, measured["interval"])
    lines = [
        f"{'recall':>12}: {said}, measured {percent(measured['recall'])} on a sample of {measured['sampled']:,}"
        f" ({measured['found_pairs']:,} of {measured['true_pairs']:,} pairs{of_reference(measured)}, 95 % interval"
        f" {low} to {high})"
    ]
    if measured["missed"] or predicted is None:
        lines.append(
            f"{measured['missed']:>12,} of {measured['kept']:,} sampled documents that stay are similar to another"
            " that stays"
        )
    return lines


def render_left_out(without_features: int, rejected: int) -> None:
    """Print how many documents have no features, and how many were rejected, if there are any."""
    if without_features:
        say(f"{without_features:,} without features")
    if rejected:
        say(f"{rejected:,} rejected")
