"""What was done, in words: the measure, who stays, the recall predicted and measured, the parameters, the inputs."""

from __future__ import annotations

from typing import Any

from sosie.planner.machine import PROGRAM
from sosie.report.panels import name, safe
from sosie.report.summary import counted, of_reference, percent, unit_name
from sosie.shown import show_seconds, show_share

INPUTS = 50  # files listed by name
_STAYS = {"first": "the first one", "longest": "the longest one", "newest": "the newest one", "max": "the greatest one"}
_MEASURES = {
    "jaccard": "the features that both have over the features that either has: Jaccard similarity",
    "cosine": "the angle between their features: cosine similarity",
    "containment": "how much of the smaller one the larger one holds: containment",
}


def method_section(report: dict[str, Any]) -> str:
    """Say what was done, and list every parameter and input."""
    parameters = report["parameters"]
    rows = [
        *((label, safe(value)) for label, value in _flat({"parameters": parameters})),
        (
            "text",
            size(report["text_bytes"]) + ("" if _is_identical(parameters) else f", {report['features']:,} features"),
        ),
        *((f"counted: {key}", safe(f"{value:,}")) for key, value in sorted(report["counters"].items())),
    ]
    table = "".join(f"<tr><th>{safe(label)}</th><td>{value}</td></tr>" for label, value in rows)
    return (
        f"<p>{_read(parameters)} {_done(parameters)}. Of similar documents, "
        f"{_stays(parameters['keep'])}; {_rule(parameters)}.{_against(report)}</p>\n"
        f"<p>{_predicted(report)} {_measured(report.get('measured'))}</p>\n{_planned(report.get('plan'))}"
        f"<details><summary>All parameters</summary><table>{table}</table></details>\n{_inputs(report['inputs'])}"
    )


def recall_tile(report: dict[str, Any]) -> tuple[str, str]:
    """Return the recall for the head of the page, with its name: as predicted, and as measured.

    Where lists were bounded, few pairs are listed on purpose, and what counts is which of them are settled.
    """
    predicted, measured = report["predicted_recall"], report.get("measured", {})
    share = measured.get("recall")
    found = f"{measured['found_pairs']:,} of {measured['true_pairs']:,} pairs in a sample" if share is not None else ""
    if predicted is not None:
        more = f"; measured {percent(share)}: {found}" if found else ""
        return "recall", f"{percent(predicted)}<small>predicted{more}</small>"
    if not found:
        return "recall", "not stated"
    listed = f"{found} ({percent(share)}) are listed, not all of dense groups"
    return "pairs settled", f"{percent(measured['settled'])}<small>measured: not both documents stay; {listed}</small>"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / 2**20:,.1f} MiB" if count < 2**30 else f"{count / 2**30:,.2f} GiB"


def _read(parameters: dict[str, Any]) -> str:
    html = {"main": "The main content of HTML pages was", "all": "All text of HTML pages was"}
    return html.get(parameters.get("html", ""), "Texts were")


def _done(parameters: dict[str, Any]) -> str:
    """Say how texts were read and compared."""
    if _is_identical(parameters):
        return "compared byte for byte, without folding: only identical ones are duplicates"
    shingles = parameters["method"]["shingles"]
    bare = ", byte for byte where there are none" if parameters.get("wordless") == "identical" else ""
    return (
        f"{_folded(shingles)} turned into features: {_features(shingles)}. They were compared by"
        f" {_compared(parameters)}, at least {parameters['threshold']:g}{bare}"
    )


def _is_identical(parameters: dict[str, Any]) -> bool:
    return bool(parameters["method"]["method"] == "identical")


def _folded(shingles: dict[str, Any]) -> str:
    if shingles["unit"] == "code":
        return "read as code (case counts, white space does not) and"
    return "folded (case, width and compatibility forms do not count) and"


def _features(shingles: dict[str, Any]) -> str:
    """Say what shingles are.

    >>> _features({"width": 3, "unit": "word"}), _features({"width": 1, "unit": "char"})
    ('runs of 3 words', 'single characters')
    >>> _features({"width": 2, "unit": "prefix"})
    'beginnings of words, up to 2 characters'
    >>> _features({"width": 5, "unit": "code"})
    'runs of 5 tokens of code (identifiers, numbers, single operator characters)'
    """
    if shingles["unit"] == "prefix":
        return f"beginnings of words, up to {shingles['width']} characters"
    width, unit = shingles["width"], unit_name(shingles["unit"])
    said = f"single {unit}s" if width == 1 else f"runs of {width} {unit}s"
    if shingles["unit"] == "code":
        said += " of code (identifiers, numbers, single operator characters)"
    if "stem" in shingles:
        said += f", of their stems ({safe(shingles['stem']['algorithm'])})"
    if "stop_words" in shingles:
        said += f", without stop words ({safe(shingles['stop_words']['list'])})"
    return said


def _compared(parameters: dict[str, Any]) -> str:
    measure = _MEASURES.get(parameters["similarity"], safe(parameters["similarity"]))
    weighting = parameters.get("weighting", "binary")
    return measure if weighting == "binary" else f"{measure} (features weighted by {safe(weighting)})"


def _stays(keep: str) -> str:
    rule, _, column = keep.partition(":")
    return f"{_STAYS.get(rule, 'one')}{f' by the column {name(column)}' if column else ''} stays"


def _rule(parameters: dict[str, Any]) -> str:
    if parameters["clusters"] == "anchored":
        return "every dropped document was compared with the one that stays, and their similarity reaches the threshold"
    return (
        "chains of similar pairs were followed, so a dropped document may be less similar to the one that stays than"
        " the threshold says"
    )


def _against(report: dict[str, Any]) -> str:
    """Say what went because of a reference collection, where there was one."""
    reference = report.get("against")
    if not reference:
        return ""
    dropped = report["counts"].get("dropped_against", 0)
    files = ", ".join(name(path) for path in reference["inputs"][:3])
    alone = " The documents were not compared with each other." if reference["only"] else ""
    more = f" and {len(reference['inputs']) - 3:,} more" if len(reference["inputs"]) > 3 else ""
    return (
        f" {counted(dropped, 'document')} went because of a similar one among the {reference['documents']:,} of the"
        f" reference ({files}{more}), of which nothing is dropped.{alone}"
    )


def _predicted(report: dict[str, Any]) -> str:
    recall = report["predicted_recall"]
    if recall is None:
        return "Some comparisons were left out (see the warnings), so that no recall is predicted."
    if recall == 1:
        return "Every pair that reaches the threshold is found."
    said = f"A pair at the threshold is found with a probability of {percent(recall)}."
    if "estimated_recall" not in report:
        return said
    estimated = report["estimated_recall"]
    low, high = estimated["interval"]
    return (
        f"{said} By how similar those that were found are, they are {percent(estimated['recall'])} of all pairs (95 %"
        f" confidence: {percent(low)} to {percent(high)})."
    )


def _measured(measured: dict[str, Any] | None) -> str:
    if not measured:
        return ""
    drawn = (
        f"As a check, {measured['sampled']:,} of {measured['documents']:,} documents, drawn at random, were compared"
        " with all others, exactly"
    )
    if measured["recall"] is None:
        return f"{drawn}: none of them is similar to another."
    low, high = measured["interval"]
    return (
        f"{drawn}: {measured['found_pairs']:,} of their {measured['true_pairs']:,} similar pairs were"
        f" found{of_reference(measured)},"
        f" {percent(measured['recall'])} (95 % confidence: {percent(low)} to {percent(high)});"
        f" {percent(measured['settled'])} of the pairs are settled: not both documents stay. Of the"
        f" {measured['kept']:,} sampled documents that stay, {measured['missed']:,} are similar to another that stays."
    )


def _planned(plan: dict[str, Any] | None) -> str:
    """Say what was expected beside what happened, and which other methods were considered."""
    if not plan:
        return ""
    head = "".join(f"<th>{each}</th>" for each in ("method", "parameters", "recall", "time", "memory"))
    rows = "".join(
        f"<tr><td>{safe(each['method'])}</td><td>{safe(_settings(each['parameters']))}</td>"
        f'<td class="number">{show_share(each["recall"])}</td><td class="number">{show_seconds(each["seconds"])}</td>'
        f'<td class="number">{size(PROGRAM + each["bytes"]["heap"] + each["bytes"]["mapped"])}</td></tr>'
        for each in plan["considered"]
    )
    said = f'<p id="plan">The plan ({safe(plan["method"])}): {safe(plan["said"])}.</p>\n'
    if len(plan["considered"]) < 2:
        return said
    table = f"<table><tr>{head}</tr>{rows}</table>"
    return f"{said}<details><summary>What else was considered</summary>{table}</details>\n"


def _settings(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in parameters.items())


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


def _flat(data: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return nested data as one list of names and values."""
    flat: list[tuple[str, Any]] = []
    for key, value in data.items():
        label = key if not prefix or key == "method" else f"{prefix} {key}"
        flat += _flat(value, "" if key == "parameters" else label) if isinstance(value, dict) else [(label, value)]
    return flat
