"""Reports as text for a terminal."""

from __future__ import annotations

from typing import Any


def render_report(report: dict[str, Any]) -> str:
    """Return the counts, the warnings and the cost of a de-duplication as lines."""
    numbers, parameters = report["counts"], report["parameters"]
    method = parameters["method"]["method"]
    recall = report["predicted_recall"]
    lines = [
        f"{numbers['documents']:>12,} documents",
        f"{numbers['kept']:>12,} kept",
        f"{numbers['dropped']:>12,} dropped, each verified: Jaccard >= {parameters['threshold']:g}"
        + (" with the kept one" if parameters["clusters"] == "anchored" else " along a chain"),
    ]
    if numbers["rejected"]:
        lines.append(f"{numbers['rejected']:>12,} rejected: see rejected.jsonl")
    lines += [
        f"{numbers['pairs']:>12,} similar pairs in {numbers['clusters']:,} clusters,"
        f" the largest of {numbers['largest_cluster']:,}",
        f"{_share(recall):>12} predicted recall ({method})",
        f"{report['seconds']:>11.2f}s on {report['threads']} threads,"
        f" peak memory {max(stage['peak_memory_bytes'] for stage in report['stages']) / 2**20:,.0f} MiB",
    ]
    return "\n".join(lines + [f"Note: {warning}" for warning in report["warnings"]])


def _share(recall: float | None) -> str:
    if recall is None:
        return "no"
    return "100 %" if recall == 1 else f"{100 * recall:.3f} %"
