"""`sosie join`: all similar pairs of one collection, or of two."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, get_args

import click
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.cli.options import (
    SHINGLES,
    is_given,
    output_options,
    shingle_options,
    shingles_of,
    source_of,
    source_options,
    threshold_option,
)
from sosie.cli.progress import progress
from sosie.documents.batch import Reject
from sosie.documents.inputs import list_inputs
from sosie.documents.rejects import RejectLog
from sosie.errors import UsageError
from sosie.jobs.join import join, join_documents
from sosie.matches.similarity import Measure, as_fraction
from sosie.report.summary import bounded
from sosie.report.timing import Timing
from sosie.signatures.files import load_signatures
from sosie.storage.manifest import MANIFEST
from sosie.storage.output import OutputDirectory


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
@shingle_options
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Find all similar pairs of INPUT: documents above a threshold, or saved signatures within a radius.

    INPUT is documents (see `sosie dedup`), or one directory that `sosie sign` wrote; saved keys take neither
    threshold nor radius. Pairs of signatures and keys are candidates; pairs of documents are verified.
    """
    output, quiet, as_json = options["output"], options["quiet"], options["as_json"]
    saved = [os.path.exists(os.path.join(path, MANIFEST)) for path in (*inputs, *options["other"])]
    if any(saved) and not (all(saved) and len(inputs) == 1 and len(options["other"]) <= 1):
        raise UsageError("join documents with documents, or one directory of signatures with at most one other")
    if any(saved) and any(map(is_given, SHINGLES)):
        named = " and ".join(f"--{name.replace('_', '-')}" for name in SHINGLES if is_given(name))
        raise UsageError(f"{named}: for documents; signatures are compared by the shingles that they were made of")
    sides = [side for side in (inputs, options["other"]) if side]
    files = [path for side in sides for path in (side if any(saved) else _paths(side))]
    with progress(quiet or as_json) as shown, OutputDirectory(output, options["overwrite"], files) as directory:
        timing = Timing(shown)
        with timing.stage("join") as stage:
            joined = _saved(inputs[0], options) if any(saved) else _documents(inputs, dict(options), stage.advance)
        table, counters, rejects = joined
        with RejectLog(directory.path) as log:
            log.add(rejects)
        pq.write_table(table, directory.path / "pairs.parquet", compression="zstd")
        report = {
            "format": "sosie-join",
            "version": 1,
            "parameters": {} if any(saved) else _parameters(options),
            "across": bool(options["other"]),
            "pairs": table.num_rows,
            "rejected": len(rejects),
            "counters": dict(counters),
            "warnings": bounded(counters),
            "stages": timing.described(),
        }
        (directory.path / "report.json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    if as_json:
        click.echo(json.dumps(report))
    elif not quiet:
        click.echo("\n".join([f"{table.num_rows:,} pairs", *(f"Note: {warning}" for warning in report["warnings"])]))
        click.echo(f"Written to {Path(output) / 'pairs.parquet'}")


def _parameters(options: dict[str, Any]) -> dict[str, Any]:
    """Return what documents are joined by, as the report of a de-duplication has it."""
    shingles = shingles_of(dict(options)).to_dict()
    threshold = float(options["threshold"] or as_fraction("0.8"))
    similarity = options["similarity"] or "jaccard"
    return {"threshold": threshold, "similarity": similarity, "method": {"method": "exact", "shingles": shingles}}


def _paths(side: tuple[str, ...]) -> list[str]:
    return [place.path for place in list_inputs(side)]


def _documents(inputs: tuple[str, ...], options: dict[str, Any], advance: Any) -> tuple[Any, Any, list[Reject]]:
    if options["radius"] is not None:
        raise UsageError("--radius is for saved signatures; documents are joined above a --threshold")
    second = source_of(options["other"], dict(options)) if options["other"] else None
    joined = join_documents(
        source_of(inputs, dict(options)),
        second,
        threshold=options["threshold"] or "0.8",
        shingles=shingles_of(options),
        measure=options["similarity"] or "jaccard",
        threads=options["threads"],
        advance=advance,
    )
    return joined.table, joined.pairs.counters, joined.rejects


def _saved(path: str, options: dict[str, Any]) -> tuple[Any, Any, list[Reject]]:
    if options["similarity"] is not None:
        raise UsageError("--similarity is for documents; saved signatures and keys are compared as they are")
    first = load_signatures(path)
    second = load_signatures(options["other"][0]) if options["other"] else None
    threshold, radius = options["threshold"], options["radius"]
    pairs = join(first, second, radius=radius, threshold=threshold, threads=options["threads"])
    ids = first.ids if second is None else second.ids
    table = pa.table({"a": first.ids.take(pa.array(pairs.a)), "b": ids.take(pa.array(pairs.b))})
    return table, pairs.counters, []
