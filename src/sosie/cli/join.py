"""`sosie join`: all similar pairs of one collection, or of two."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click

from sosie.cli.options import (
    SHINGLES,
    is_given,
    memory_option,
    output_options,
    shingle_options,
    shingles_of,
    source_of,
    source_options,
    threshold_option,
)
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.errors import UsageError
from sosie.jobs.inputs import is_signatures
from sosie.jobs.join import Joiner, JoinReport
from sosie.jobs.join_rows import JoinMethod
from sosie.matches.check import MAX_PAIRS
from sosie.matches.chunks import Window
from sosie.matches.join import SignatureJoin
from sosie.matches.sets.similarity import Measure
from sosie.report.summary import percent
from sosie.storage.output import Output

_WAITED = 1.0  # seconds
_WINDOW = tuple(field.name for field in fields(Window))


@click.command("join")
@source_options
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write pairs.parquet to.")
@click.option("--with", "other", multiple=True, metavar="INPUT", help="Join with these instead of INPUT with itself.")
@threshold_option(None)
@click.option(
    "--similarity",
    type=click.Choice(get_args(Measure)),
    help="Documents: what the threshold is of; containment is how much of the smaller is in the larger."
    " [default: jaccard]",
)
@click.option("--radius", type=int, help="Saved signatures: most bits that may differ.")
@click.option(
    "--method",
    type=click.Choice(("auto", *get_args(SignatureJoin))),
    default="auto",
    show_default=True,
    help="Saved signatures: block tables and brute force find all pairs, auto takes the cheaper; a sliding window finds"
    " those that are neighbours in some table, and says what share that is.",
)
@click.option(
    "--recall",
    type=float,
    help="Saved signatures: the share of all pairs that is enough, as 0.95; what finds it is planned. [default: 1]",
)
@click.option("--tables", type=int, default=Window.tables, show_default=True, help="Window: orders of permuted bits.")
@click.option(
    "--window", type=int, default=Window.window, show_default=True, help="Window: rows compared with each."
)
@click.option(
    "--chunk", type=int, default=Window.chunk, show_default=True, help="Window: rows held at a time."
)
@click.option("--seed", type=int, default=Window.seed, show_default=True, help="Window: other orders for each seed.")
@click.option(
    "--max-pairs",
    type=click.IntRange(min=0),
    default=MAX_PAIRS,
    show_default=True,
    help="Refuse to list more pairs than this.",
)
@shingle_options
@memory_option
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Find all similar pairs of INPUT: documents above a threshold, or saved signatures within a radius.

    INPUT is documents (see `sosie dedup`), or one directory that `sosie sign` wrote; saved keys take neither
    threshold nor radius. Pairs of signatures and keys are candidates; pairs of documents are verified.
    """
    quiet, as_json, output = options["quiet"], options["as_json"], Output(options["output"], options["overwrite"])
    sides = [_side(paths, options) for paths in (inputs, options["other"]) if paths]
    measured = {name: options[name] for name in ("threshold", "radius", "recall", "similarity", "max_pairs")}
    job = Joiner(shingles=shingles_of(options), method=_method(options), **measured)
    with progress(quiet or as_json) as shown:
        other = sides[1] if len(sides) > 1 else None
        limits = {name: options[name] for name in ("memory", "threads")}
        report = job.run(sides[0], other, output, **limits, progress=shown)
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        notes = [f"Note: {warning}" for warning in report.warnings]
        say(f"{report.pairs:,} pairs{_share(report)}", *_cost(report), *_planned(report), *notes)
        say(f"Written to {Path(output.path) / 'pairs.parquet'}")


def _method(options: dict[str, Any]) -> JoinMethod:
    """Return how signatures are joined; the options of a window are refused where there is none."""
    if options["method"] == "window":
        return Window(**{name: options[name] for name in _WINDOW})
    if given := [name for name in _WINDOW if is_given(name)]:
        raise UsageError(f"--{given[0]} is for --method window")
    method: JoinMethod = options["method"]
    return method


def _share(report: JoinReport) -> str:
    """Return what is known of the share that was found, where it is not all."""
    if report.recall == 1:
        return ""
    if report.recall is None:
        return "; what share of all that is cannot be said" if "tables" in report.counters else ""
    low, high = report.interval or (report.recall, report.recall)
    return f", about {percent(report.recall)} of all (95 % interval {percent(low)} to {percent(high)})"


def _cost(report: JoinReport) -> list[str]:
    """Return what a window cost beside brute force, as the paper counts (NFL 6.1)."""
    counters = report.counters
    if not counters.get("brute_comparisons"):
        return []
    made, brute = counters["comparisons"] + counters["making_chunks"], counters["brute_comparisons"]
    return [
        f"{counters['comparisons']:,} comparisons in {counters['tables']:,} tables; with making the chunks"
        f" {made / brute:.1%} of the cost of comparing all with all"
    ]


def _planned(report: JoinReport) -> list[str]:
    """Return what was expected beside what happened, where less than all was asked for or anyone had to wait."""
    plan = report.plan
    if plan is None or (plan["asked"] == 1 and plan["predicted_seconds"] < _WAITED):
        return []
    chosen = "".join(f", {name} {value:,}" for name, value in (plan["parameters"] or {}).items())
    return [f"Plan: {plan['method']}{chosen}: {plan['said']}"]


def _side(paths: tuple[str, ...], options: dict[str, Any]) -> Any:
    """Return documents as a source, and one directory of signatures as its path."""
    if not any([is_signatures(path) for path in paths]):
        return source_of(paths, dict(options), strict=not options["other"])
    if len(paths) > 1:
        raise UsageError("join documents with documents, or one directory of signatures with at most one other")
    if any(map(is_given, SHINGLES)):
        named = " and ".join(f"--{name.replace('_', '-')}" for name in SHINGLES if is_given(name))
        raise UsageError(f"{named}: for documents; signatures are compared by the shingles that they were made of")
    return paths[0]
