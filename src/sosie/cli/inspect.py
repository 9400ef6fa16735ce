"""`sosie inspect`: a collection in numbers, before anything is done with it."""

from __future__ import annotations

from typing import Any

import click

from sosie.cli.options import (
    SHINGLES,
    column_options,
    measure_options,
    memory_option,
    run_options,
    shingle_options,
    shingles_of,
    source_of,
    threshold_option,
)
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.evaluation.inspection import Inspection, Lengths, Repeats
from sosie.features.shingles import Shingles
from sosie.jobs.inspect import inspect_documents
from sosie.jobs.parameters import DedupParameters
from sosie.storage.size import show_size

SHOWN = 8  # scripts in the table; --json has all


@click.command("inspect")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@column_options
@threshold_option("0.8")
@measure_options
@shingle_options
@memory_option
@run_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Count the documents of INPUT, their lengths, scripts and duplicates, and say what `sosie dedup` would do.

    INPUT is read once and nothing is written. Bad records are counted by reason; `sosie dedup` stops at the first
    one unless it has --on-error skip.
    """
    quiet, as_json = options["quiet"], options["as_json"]
    source = source_of(inputs, options, on_error="skip")
    measure = {name: options[name] for name in ("threshold", "similarity", "weighting")}
    job = DedupParameters(shingles=shingles_of(options), **measure)
    with progress(quiet or as_json) as shown:
        done = inspect_documents(source, job, memory=options["memory"], threads=options["threads"], progress=shown)
    if as_json:
        say_json(done.to_dict())
    elif not quiet:
        say(*_rows(done.found, done.plan, job.shingles))


def _rows(found: Inspection, plan: dict[str, Any], shingles: Shingles) -> list[str]:
    units, folded = ("tokens", "but for white space") if shingles.unit == "code" else ("words", "once folded")
    rejected = sum(found.rejected.values())
    lines = [f"{found.documents:>14,} documents", f"{rejected:>14,} rejected"]
    lines += [f"{'':>14}   {count:,}: {reason}" for reason, count in found.rejected.items()]
    lines += [
        f"{found.empty:>14,} empty texts",
        f"{found.wordless:>14,} texts without {units}",
        _repeats(found.identical, "identical to an earlier one, byte for byte"),
        _repeats(found.same_features, f"the same as an earlier one {folded}"),
        "",
        f"{'length':<14}{'least':>12}{'median':>12}{'mean':>12}{'95 %':>12}{'greatest':>12}",
        _lengths("bytes", found.text_bytes),
        _lengths(units, found.words),
        "",
        f"{'script':<14}{'letters':>14}{'share':>10}{'mainly':>14}{'share':>10}",
        *_scripts(found),
        "",
    ]
    return [*lines, _planned(plan, shingles)]


def _planned(plan: dict[str, Any], shingles: Shingles) -> str:
    """Say what `sosie dedup` would do with these options."""
    command = f"sosie dedup --threshold {plan['threshold']:g}"
    for name in SHINGLES:
        value = getattr(shingles, name)
        command += "" if value == getattr(Shingles(), name) else f" --{name.replace('_', '-')} {value}"
    for name, default in (("similarity", "jaccard"), ("weighting", "binary")):
        command += "" if plan[name] == default else f" --{name} {plan[name]}"
    if plan["problem"] is not None:
        return f"{command} would not run within {show_size(plan['memory'])}: {plan['problem']}."
    disk = "on disk" if plan["features_on_disk"] else "in memory"
    lists = "" if plan["list_bytes"] is None else f", {_size(plan['list_bytes'])} of lists"
    return (
        f"{command} would compare {plan['features']:,} features (method {plan['method']}):"
        f" {_size(plan['feature_bytes'])} of features {disk}{lists}."
    )


def _repeats(repeats: Repeats, what: str) -> str:
    more = f" ({repeats.groups:,} groups, the largest of {repeats.largest:,})" if repeats.documents else ""
    return f"{repeats.documents:>14,} {what}{more}"


def _lengths(name: str, lengths: Lengths) -> str:
    return (
        f"{name:<14}{lengths.least:>12,}{lengths.median:>12,.1f}{lengths.mean:>12,.1f}"
        f"{lengths.percentile_95:>12,}{lengths.greatest:>12,}"
    )


def _scripts(found: Inspection) -> list[str]:
    letters, documents = max(sum(found.letters.values()), 1), max(found.usable, 1)
    names = sorted({*found.letters, *found.mainly}, key=lambda name: (-found.letters.get(name, 0), name))
    lines = []
    for name in names[:SHOWN]:
        written, mainly = found.letters.get(name, 0), found.mainly.get(name, 0)
        lines.append(f"{name:<14}{written:>14,}{written / letters:>10.2%}{mainly:>14,}{mainly / documents:>10.2%}")
    if len(names) > SHOWN:
        lines.append(f"and {len(names) - SHOWN} more: see --json")
    return lines


def _size(count: int) -> str:
    unit = 30 if count >= 2**30 else 20 if count >= 2**20 else 10
    return f"{count / 2**unit:,.1f} {'KMG'[unit // 10 - 1]}iB"
