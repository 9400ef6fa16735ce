"""`report.html`: one file that shows a person what was found, with texts, before anything is deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sosie.documents.fetch import fetch_texts
from sosie.report.charts import Bar, histogram, proportion, row_chart, similarity_bars, size_bars
from sosie.report.deduplication import Deduplication
from sosie.report.examples import Examples, choose_examples
from sosie.report.method import method_section, planned, recall_tile, size
from sosie.report.panels import CHARACTERS, Shown, cluster_panels, safe, sample_panels, threshold_panels
from sosie.report.sheet import sheet
from sosie.report.summary import counted, giant
from sosie.types import I64


def write_page(result: Deduplication, directory: Path, threads: int | None = None) -> None:
    """Write report.html; the texts that it shows are read from the inputs again."""
    examples = choose_examples(result)
    texts = _texts(result, examples.rows, threads)
    (Path(directory) / "report.html").write_text(_page(result, examples, texts), "utf-8", newline="\n")


def _texts(result: Deduplication, rows: I64, threads: int | None) -> dict[int, str]:
    """Read the texts of documents again, those of the reference where they are at hand."""
    foreign, count = result.is_foreign(rows), result.reading.documents
    texts = fetch_texts(result.reading, rows[~foreign], threads, limit=CHARACTERS + 1)
    if foreign.any():
        others = dict.fromkeys((rows[foreign] - count).tolist(), "(its text is not at hand)")
        if result.held is not None and result.held.reading is not None:
            others |= fetch_texts(result.held.reading, rows[foreign] - count, threads, limit=CHARACTERS + 1)
        texts |= {count + row: text for row, text in others.items()}
    return texts


def _page(result: Deduplication, examples: Examples, texts: dict[int, str]) -> str:
    report = result.report.to_dict()
    shown = Shown(result, texts)
    sections = [
        ("warnings", "Warnings", _warnings(report, examples, shown)),
        ("method", "What was done", method_section(report)),
        ("plots", "Clusters and similarities", _plots(result)),
        ("threshold", "Nearest the threshold", threshold_panels(examples, report, shown)),
        ("clusters", "The largest clusters", cluster_panels(examples.clusters, shown)),
        ("sample", "A random sample", sample_panels(examples.sample, report["counts"]["dropped"], shown)),
        ("cost", "Time and memory", _cost(report)),
    ]
    if report["parameters"]["similarity"] == "identical":  # nothing is nearly so
        sections = [section for section in sections if section[0] != "threshold"]
    return sheet("Sosie: de-duplication report", _head(report), sections, _footer(report), bool(report["warnings"]))


def _head(report: dict[str, Any]) -> str:
    counts = report["counts"]
    documents, dropped = counts["documents"], counts["dropped"]
    if not documents:
        said = "The collection is empty: there was nothing to compare."
    elif not dropped:
        said = f"{counted(documents, 'document')} and no near-duplicates: nothing is dropped."
    else:
        said = (
            f"{dropped:,} of {counted(documents, 'document')} ({100 * dropped / documents:.1f} %) {_are(dropped)}"
            f" of a document that stays{_of_reference(report)}. Look at them below before you delete anything."
        )
    parts = [(kind, Bar(kind, counts[kind])) for kind in ("kept", "dropped", "rejected")]
    keys = "".join(f'<i class="key {kind}"></i><span>{kind} {bar.count:,}</span>' for kind, bar in parts)
    tiles = [
        ("documents", f"{documents:,}"),
        ("kept", f"{counts['kept']:,}"),
        ("dropped", f"{dropped:,}"),
        ("rejected", f"{counts['rejected']:,}"),
        ("similar pairs", f"{counts['pairs']:,}"),
        ("clusters", f"{counts['clusters']:,}"),
        ("largest cluster", f"{counts['largest_cluster']:,}"),
        recall_tile(report),
    ]
    boxes = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in tiles)
    bar = proportion(parts, "kept, dropped and rejected documents")
    return (
        f'<h1>De-duplication report</h1>\n<p class="lead">{said}</p>\n{bar}\n'
        f'<p class="legend">{keys}</p>\n<dl class="tiles">{boxes}</dl>'
    )


def _are(dropped: int) -> str:
    return "is a near-duplicate" if dropped == 1 else "are near-duplicates"


def _of_reference(report: dict[str, Any]) -> str:
    return f", {report['counts']['dropped_against']:,} of them of the reference" if "against" in report else ""


def _footer(report: dict[str, Any]) -> str:
    """Say where to find the rest; annotated documents are all in one place."""
    if report["parameters"].get("annotate"):
        documents = "all documents with what was found about each in <code>annotated/</code>"
    else:
        documents = "every dropped document with its twin in <code>dropped/</code>"
    return (
        "<footer><p>All pairs are in <code>pairs.parquet</code>, all clusters in <code>clusters.parquet</code>, "
        f"{documents}, these numbers in <code>report.json</code>.</p></footer>"
    )


def _warnings(report: dict[str, Any], examples: Examples, shown: Shown) -> str:
    if not report["warnings"]:
        return "<p>None: no giant cluster, and all pairs are listed.</p>\n"
    said = "<ul>" + "".join(f"<li>{safe(warning)}</li>" for warning in report["warnings"]) + "</ul>\n"
    crowded = giant(report["counts"]["largest_cluster"], report["counts"]["documents"]) or report["counters"].get(
        "bounded_lists"
    )
    return said + (shown.excerpt(examples.clusters[0]) if crowded and examples.clusters else "")


def _plots(result: Deduplication) -> str:
    sizes = result.grouped.members
    clusters = size_bars(sizes[sizes > 1])
    pairs = similarity_bars(result.found.similarity, result.report.parameters.threshold)
    if not clusters and not pairs:
        return "<p>No two documents are similar: there are no clusters to draw.</p>\n"
    by_size = row_chart(clusters, "how many clusters there are of each size")
    by_similarity = histogram(pairs, "how many pairs there are of each similarity", "similarity of a pair")
    return (
        '<div class="plots">\n'
        f"<figure><figcaption><b>Cluster sizes</b><br>documents in a cluster, and how many clusters have as many"
        f"</figcaption>{by_size}</figure>\n"
        "<figure><figcaption><b>Similar pairs</b><br>from the threshold to 1; the last bar holds pairs of "
        f"similarity 1</figcaption>{by_similarity}</figure>\n</div>\n"
        f"<details><summary>The same as tables</summary>"
        f'<div class="plots">{_bars("size", clusters)}{_bars("similarity from", pairs)}</div></details>\n'
    )


def _bars(label: str, bars: list[Bar]) -> str:
    rows = "".join(f'<tr><td>{bar.label}</td><td class="number">{bar.count:,}</td></tr>' for bar in bars)
    return f'<table><tr><th>{label}</th><th class="number">count</th></tr>{rows}</table>'


def _cost(report: dict[str, Any]) -> str:
    stages = report.get("stages", [])
    if not stages:
        return "<p>Not measured.</p>\n"
    total = report["seconds"]
    rows = "".join(
        f'<tr><td>{safe(stage["stage"])}</td><td class="number">{stage["seconds"]:.2f} s</td>'
        f'<td class="number">{100 * stage["seconds"] / (total or 1):.0f} %</td>'
        f'<td class="number">{size(stage["peak_memory_bytes"])}</td></tr>'
        for stage in stages
    )
    peak = max(stage["peak_memory_bytes"] for stage in stages)
    return (
        '<table><tr><th>stage</th><th class="number">time</th><th class="number">share</th>'
        f'<th class="number">peak memory</th></tr>{rows}<tr><th>all</th><th class="number">{total:.2f} s</th>'
        f'<th class="number">100 %</th><th class="number">{size(peak)}</th></tr></table>\n'
        f'<p class="note">On {counted(report["threads"], "thread")}; memory is that of the whole process.</p>\n'
        f"{planned(report.get('plan'))}"
    )
