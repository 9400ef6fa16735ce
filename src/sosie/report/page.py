"""`report.html`: one file that shows a person what was found, with texts, before anything is deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sosie.documents.fetch import fetch_texts
from sosie.report.charts import Bar, histogram, proportion, row_chart, similarity_bars, size_bars
from sosie.report.deduplication import Deduplication
from sosie.report.examples import Examples, choose_examples
from sosie.report.panels import CHARACTERS, Shown, cluster_panels, lowest_panels, name, safe, sample_panels
from sosie.report.style import STYLE

INPUTS = 50  # files listed by name
_STAYS = {"first": "the first one", "longest": "the longest one", "newest": "the newest one", "max": "the greatest one"}


def write_page(result: Deduplication, directory: Path, threads: int | None = None) -> None:
    """Write report.html; the texts that it shows are read from the inputs again."""
    examples = choose_examples(result)
    texts = fetch_texts(result.reading, examples.rows, threads, limit=CHARACTERS + 1)
    (Path(directory) / "report.html").write_text(_page(result, examples, texts), "utf-8", newline="\n")


def _page(result: Deduplication, examples: Examples, texts: dict[int, str]) -> str:
    report = result.report
    shown = Shown(result, texts)
    sections = [
        ("warnings", "Warnings", _warnings(report)),
        ("method", "What was done", _method(report)),
        ("plots", "Clusters and similarities", _plots(result)),
        (
            "threshold",
            "Nearest the threshold",
            lowest_panels(examples.lowest, report["parameters"]["threshold"], shown),
        ),
        ("clusters", "The largest clusters", cluster_panels(examples.clusters, shown)),
        ("sample", "A random sample", sample_panels(examples.sample, report["counts"]["dropped"], shown)),
        ("cost", "Time and memory", _cost(report)),
    ]
    links = "".join(f'<a href="#{anchor}">{title}</a>' for anchor, title, _ in sections)
    some = ' class="some"' if report["warnings"] else ""
    body = "\n".join(
        f'<section id="{anchor}"{some if anchor == "warnings" else ""}><h2>{title}</h2>\n{content}</section>'
        for anchor, title, content in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Sosie: de-duplication report</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n{_head(report)}\n<nav>{links}</nav>\n</header>\n{body}\n"
        "<footer><p>All pairs are in <code>pairs.parquet</code>, all clusters in <code>clusters.parquet</code>, every "
        "dropped document with its twin in <code>dropped/</code>, these numbers in <code>report.json</code>.</p>"
        "</footer>\n</main>\n</body>\n</html>\n"
    )


def _head(report: dict[str, Any]) -> str:
    counts = report["counts"]
    documents, dropped = counts["documents"], counts["dropped"]
    if not documents:
        said = "The collection is empty: there was nothing to compare."
    elif not dropped:
        said = f"None of the {documents:,} documents is a near-duplicate of another: nothing is dropped."
    else:
        said = (
            f"{dropped:,} of {documents:,} documents ({100 * dropped / documents:.1f} %) are near-duplicates"
            " of a document that stays. Look at them below before you delete anything."
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
        ("predicted recall", _recall(report["predicted_recall"])),
    ]
    boxes = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in tiles)
    bar = proportion(parts, "kept, dropped and rejected documents")
    return (
        f'<h1>De-duplication report</h1>\n<p class="lead">{said}</p>\n{bar}\n'
        f'<p class="legend">{keys}</p>\n<dl class="tiles">{boxes}</dl>'
    )


def _warnings(report: dict[str, Any]) -> str:
    if not report["warnings"]:
        return "<p>None: no giant cluster, and no comparison was left out.</p>\n"
    return "<ul>" + "".join(f"<li>{safe(warning)}</li>" for warning in report["warnings"]) + "</ul>\n"


def _method(report: dict[str, Any]) -> str:
    parameters = report["parameters"]
    threshold = f"{parameters['threshold']:g}"
    if parameters["clusters"] == "anchored":
        rule = "every dropped document was compared with the one that stays, and their similarity reaches the threshold"
    else:
        rule = (
            "chains of similar pairs were followed, so a dropped document may be less similar to the one that stays"
            " than the threshold says"
        )
    recall = report["predicted_recall"]
    if recall is None:
        found = "No recall is stated, because some comparisons were left out: see the warnings."
    elif recall == 1:
        found = "Every pair that reaches the threshold is found."
    else:
        found = f"A pair at the threshold is found with a probability of {_recall(recall)}."
    rows = [
        *((label, safe(value)) for label, value in _flat({"parameters": parameters})),
        ("text", f"{_bytes(report['text_bytes'])}, {report['features']:,} features"),
        *((f"counted: {key}", safe(f"{value:,}")) for key, value in sorted(report["counters"].items())),
    ]
    table = "".join(f"<tr><th>{safe(label)}</th><td>{value}</td></tr>" for label, value in rows)
    return (
        f"<p>Texts were folded (case, width and compatibility forms do not count), cut into words, and compared by the "
        f"features that both have: Jaccard similarity, at least {threshold}. Of similar documents, "
        f"{_stays(parameters['keep'])}; {rule}. {found}</p>\n"
        f"<details><summary>All parameters</summary><table>{table}</table></details>\n{_inputs(report['inputs'])}"
    )


def _stays(keep: str) -> str:
    rule, _, column = keep.partition(":")
    return f"{_STAYS.get(rule, 'one')}{f' by the column {name(column)}' if column else ''} stays"


def _inputs(inputs: list[dict[str, Any]]) -> str:
    rows = "".join(
        f'<tr><td>{name(place["path"])}</td><td class="number">{place["documents"]:,}</td></tr>'
        for place in inputs[:INPUTS]
    )
    more = f'<p class="note">and {len(inputs) - INPUTS:,} more</p>' if len(inputs) > INPUTS else ""
    files = f"{len(inputs):,} input{'' if len(inputs) == 1 else 's'}"
    return (
        f"<details{' open' if len(inputs) <= 3 else ''}><summary>{files}</summary><table><tr><th>input</th>"
        f'<th class="number">documents</th></tr>{rows}</table>{more}</details>\n'
    )


def _plots(result: Deduplication) -> str:
    sizes = np.bincount(result.grouped.anchor, minlength=1)
    clusters = size_bars(sizes[sizes > 1])
    pairs = similarity_bars(result.found.similarity, result.report["parameters"]["threshold"])
    if not clusters and not pairs:
        return "<p>No two documents are similar: there are no clusters to draw.</p>\n"
    by_size = row_chart(clusters, "how many clusters there are of each size")
    by_similarity = histogram(pairs, "how many pairs there are of each similarity", "similarity of a pair")
    return (
        '<div class="plots">\n'
        f"<figure><figcaption><b>Cluster sizes</b><br>documents in a cluster, and how many clusters have as many"
        f"</figcaption>{by_size}</figure>\n"
        "<figure><figcaption><b>Similar pairs</b><br>from the threshold to 1; the last bar holds pairs of identical "
        f"features</figcaption>{by_similarity}</figure>\n</div>\n"
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
        f'<td class="number">{_bytes(stage["peak_memory_bytes"])}</td></tr>'
        for stage in stages
    )
    peak = max(stage["peak_memory_bytes"] for stage in stages)
    return (
        '<table><tr><th>stage</th><th class="number">time</th><th class="number">share</th>'
        f'<th class="number">peak memory</th></tr>{rows}<tr><th>all</th><th class="number">{total:.2f} s</th>'
        f'<th class="number">100 %</th><th class="number">{_bytes(peak)}</th></tr></table>\n'
        f'<p class="note">On {report["threads"]} threads; memory is that of the whole process.</p>\n'
    )


def _flat(data: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return nested data as one list of names and values."""
    flat: list[tuple[str, Any]] = []
    for key, value in data.items():
        label = key if not prefix or key == "method" else f"{prefix} {key}"
        flat += _flat(value, "" if key == "parameters" else label) if isinstance(value, dict) else [(label, value)]
    return flat


def _recall(recall: float | None) -> str:
    if recall is None:
        return "not stated"
    return "100 %" if recall == 1 else f"{100 * recall:.3f} %"


def _bytes(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB" if count < 2**30 else f"{count / 2**30:,.2f} GiB"
