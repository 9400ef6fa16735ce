"""What a search found, as a table for people, JSON lines or Parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq

from sosie.errors import UsageError
from sosie.jobs.search import SearchReport
from sosie.planner.outcome import Outcome
from sosie.report.summary import counted, percent
from sosie.search.excerpts import marked
from sosie.shown import as_json, printable
from sosie.storage.output_file import output_file

FORMATS = ("table", "jsonl", "parquet")
_SHOWN = ("query", "rank", "id", "similarity", "distance", "estimated_similarity")
_HEADS = {"estimated_similarity": "similarity (estimated)"}
_WIDEST = 60  # characters of an id that are shown


def format_of(given: str | None, output: str | None) -> str:
    """Return the format that is asked for, or that the name of the file says."""
    suffix = Path(output).suffix[1:] if output else ""
    form = given or (suffix if suffix in FORMATS else "table")
    if form == "parquet" and output is None:
        raise UsageError("--format parquet needs a file: name it with -o")
    return form


def write_found(table: Any, path: str, form: str, overwrite: bool) -> None:
    """Write matches to a file, which appears whole."""
    with output_file(path, overwrite) as file:
        if form == "parquet":
            pq.write_table(table, file, compression="zstd")
        else:
            lines = _json_lines(table) if form == "jsonl" else _rows(table, "**", "**")
            with open(file, "w", encoding="utf-8", newline="\n") as written:
                written.writelines(f"{line}\n" for line in lines)


def render_found(table: Any, form: str) -> None:
    """Print matches; on a terminal, shared words are bold."""
    bold = ("\x1b[1m", "\x1b[22m") if sys.stdout.isatty() else ("**", "**")
    for line in _json_lines(table) if form == "jsonl" else _rows(table, *bold):
        click.echo(line)  # its cells and passages have no other codes than these


def render_summary(report: SearchReport) -> str:
    """Say how much was found, and how much of what there is that should be."""
    said = recall_said(report.recall)
    asked = "1 query" if report.queries == 1 else f"{report.queries:,} queries"
    lines = [f"{report.matches:,} match{'' if report.matches == 1 else 'es'} of {asked}; recall: {said}"]
    if report.outcome is not None:
        lines.append(f"Recall: {report.outcome.sentence()}{_by(report.outcome)}")
    if report.without_features:
        lines.append(f"Note: {counted(report.without_features, 'query')} without words, which nothing matches")
    return "\n".join(lines)


def _by(outcome: Outcome) -> str:
    """Return by which effort a recall is to be reached."""
    given = " ".join(f"{name}={value}" for name, value in (outcome.parameters or {}).items() if value is not None)
    return f" by {given}" if given else ""


def recall_said(recall: float | None) -> str:
    """Return a recall as people read it."""
    return "unknown" if recall is None else "exact" if recall == 1 else f"{percent(recall)} expected"


def _json_lines(table: Any) -> list[str]:
    return [as_json(row) for row in table.to_pylist()]


def _rows(table: Any, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a table; the passage of a match, with marks, is a line below it."""
    names = [name for name in _SHOWN if name in table.column_names]
    columns = [[_cell(value) for value in table[name].to_pylist()] for name in names]
    if "margin" in table.column_names:
        margins = table["margin"].to_pylist()
        columns[-1] = [f"{said} ± {margin:.2f}" for said, margin in zip(columns[-1], margins, strict=True)]
    heads = [_HEADS.get(name, name) for name in names]
    widths = [max(map(len, [head, *column])) for head, column in zip(heads, columns, strict=True)]
    pads = ["<" if name in ("query", "id") else ">" for name in names]

    def line(cells: Iterable[str]) -> str:
        return "  ".join(f"{cell:{pad}{width}}" for cell, pad, width in zip(cells, pads, widths, strict=True)).rstrip()

    yield line(heads)
    shown = table.select(["passage", "shared"]).to_pylist() if "passage" in table.column_names else None
    for place, cells in enumerate(zip(*columns, strict=True)):
        yield line(cells)
        if shown is not None:
            yield "    " + marked(*_passage(**shown[place]), before, after)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    text = printable(str(value))
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _passage(passage: str, shared: list[Sequence[int]]) -> tuple[str, list[tuple[int, int]]]:
    """Return a passage on one line, with escapes for what a terminal would take for a command, and what is shared."""
    points = [" " if point.isspace() else printable(point) for point in passage]
    places = [0, *accumulate(map(len, points))]
    return "".join(points), [(places[start], places[stop]) for start, stop in shared]
