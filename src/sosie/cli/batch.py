"""`sosie batch`: new documents matched with a store of signatures, and appended to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from sosie.cli.found import FORMATS, format_of, recall_said, write_found
from sosie.cli.headings import HeadedCommand
from sosie.cli.options import (
    READING,
    SHINGLES,
    query_options,
    refuse_reading,
    run_options,
    shingle_options,
    source_of,
)
from sosie.cli.progress import progress
from sosie.cli.render import render_left_out
from sosie.cli.say import say, say_json
from sosie.cli.signer import form_of, saved_signer, signer_of, signer_options
from sosie.errors import UsageError
from sosie.jobs.batch import BatchMatching
from sosie.jobs.inputs import are_signatures
from sosie.matches.store.files import SIGNER
from sosie.report.summary import counted
from sosie.storage.output_file import check_file

SIGNING = ("method", "bits", "weighting", "minima", "rows", "b", "parameters", "keys", "seed", "signer")
BATCH = {
    "Options": ("output", "radius", "first", "append", "form", "overwrite"),
    "How it is matched": ("recall", "blocks", "probes", "flips"),
    "Reading documents": READING,
    "A new store: how documents are signed": (*SIGNING, *SHINGLES),
    "Running": ("threads", "quiet", "as_json", "config"),
}


@click.command("batch", cls=HeadedCommand, headings=BATCH)
@click.argument("directory", type=click.Path(), metavar="STORE")
@click.argument("inputs", nargs=-1, required=True, metavar="NEW...")
@click.option("-o", "--output", type=click.Path(), required=True, help="The file to write the matches to.")
@click.option("--radius", type=int, default=3, show_default=True, help="Most bits that may differ.")
@click.option("--first", is_flag=True, help="One match of each document is enough.")
@click.option(
    "--recall", type=float, help="The share of all matches that is enough, as 0.95; how is planned. [default: 1]"
)
@click.option("--blocks", type=int, help="Cut the bits into so many blocks: tables that find all. [default: by size]")
@click.option("--probes", type=int, help="Look so many likely flips of each signature up instead: quicker, not all.")
@click.option("--flips", is_flag=True, help="With --probes: order flips by their probability, estimated of NEW.")
@click.option("--append/--no-append", default=True, help="Append NEW to the store, or only match it.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="What is written. [default: as the file is named, else table]"
)
@click.option("--overwrite", is_flag=True, help="Replace the file.")
@query_options
@signer_options
@shingle_options
@run_options
def command(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Match NEW with the signatures in STORE and with what is before it in NEW, and append it to STORE, in one step.

    NEW is documents (every format that INPUT of `sosie dedup` has), or one directory that `sosie sign` wrote. A store
    that is not there is made, and documents are signed as the options say; from then on, all are signed like the first
    ones. Matches are candidates: query, id, rank and distance. The file of matches is there before the batch is in the
    store.
    """
    form = format_of(options["form"], options["output"])
    check_file(options["output"], options["overwrite"])
    _check_inside(directory, options["output"])
    named = {name: options[name] for name in ("radius", "first", "probes", "blocks", "recall", "append", "flips")}
    if are_signatures(inputs):
        own = ("output", "form", "overwrite", "threads", "quiet", "as_json", *named)
        refuse_reading(inputs[0], options, own)
        new: Any = inputs[0]
        job = BatchMatching(**named)
    else:
        job = BatchMatching(**named, signer=_signer(directory, options))
        new = source_of(inputs, options)
    with progress(options["quiet"] or options["as_json"]) as shown:

        def write(table: Any) -> None:
            write_found(table, options["output"], form, options["overwrite"])

        _, report = job.run(directory, new, write, threads=options["threads"], progress=shown)
    if options["as_json"]:
        say_json(report.to_dict())
    elif not options["quiet"]:
        found = f"{report.matches:,} match{'' if report.matches == 1 else 'es'}"
        say(f"{found} of {report.matched:,} of {counted(report.signed, 'row')}; recall: {recall_said(report.recall)}")
        if report.plan is not None and report.plan["asked"] < 1:
            say(f"Plan: {report.plan['method']}: {report.plan['said']}")
        render_left_out(report.without_features, report.rejected)
        say(f"{report.rows:,} rows in {directory}" + ("" if report.appended else " (nothing was appended)"))
        say(f"Written to {options['output']}")


def _signer(directory: str, options: dict[str, Any]) -> Any:
    """Return what signs documents: what the options say, which must not contradict a store that is there."""
    held = Path(directory) / SIGNER
    if held.is_dir():
        if options["signer"]:
            raise UsageError(f"--signer: {directory} has a signer of its own, which signs its documents")
        return saved_signer({**options, "signer": str(held)})
    spec, signer, _ = signer_of(options)
    if form_of(spec, options)["keys"]:
        raise UsageError(f"a store holds signatures, and --method {spec.method} makes keys: choose another method")
    return signer


def _check_inside(directory: str, output: str) -> None:
    if Path(os.path.realpath(output)).is_relative_to(os.path.realpath(directory)):
        raise UsageError(f"{output}: is inside the store. Choose another output file.")
