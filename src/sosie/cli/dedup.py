"""`sosie dedup`: remove near-duplicates."""

from __future__ import annotations

import json
from typing import Any, get_args

import click

from sosie.cli.options import output_options, shingle_options, shingles_of, source_of, source_options, threshold_option
from sosie.cli.progress import notices, progress
from sosie.cli.render import render_report
from sosie.clusters.keep import Keep
from sosie.deduplicate import Deduplicator, MethodName
from sosie.errors import UsageError
from sosie.storage.output import Output


@click.command("dedup")
@source_options
@click.option("-o", "--output", type=click.Path(), help="The directory to write; it appears whole or not at all.")
@threshold_option("0.8")
@click.option("--method", type=click.Choice(get_args(MethodName)), default="auto", show_default=True)
@click.option("--keep", type=click.Choice(get_args(Keep)), default="first", show_default=True, help="Who stays.")
@click.option(
    "--clusters",
    type=click.Choice(["anchored", "transitive"]),
    default="anchored",
    show_default=True,
    help="Anchored: every dropped document is similar to the kept one. Transitive: chains count.",
)
@shingle_options
@click.option("--resume", is_flag=True, help="Go on with a run that was interrupted, and make that possible.")
@click.option("--dry-run", is_flag=True, help="Find and report, write nothing.")
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Remove the near-duplicates of INPUT: JSONL, CSV or TSV (plain, gzip, zstd), Parquet, text files, folders.

    Globs work too, and - means JSON lines from standard input.

    Writes kept/ and dropped/ in the format of the inputs, pairs.parquet, clusters.parquet, report.html and report.json.
    """
    quiet, as_json, dry_run = options.pop("quiet"), options.pop("as_json"), options.pop("dry_run")
    path, threads = options.pop("output"), options.pop("threads")
    overwrite, resume = options.pop("overwrite"), options.pop("resume")
    if not dry_run and path is None:
        raise UsageError("name an output directory with -o DIR, or pass --dry-run")
    if dry_run and resume:
        raise UsageError("a dry run writes nothing, so there is nothing to resume: leave out --dry-run or --resume")
    source = source_of(inputs, options)
    job = Deduplicator(shingles=shingles_of(options), **options)
    output = None if dry_run else Output(path, overwrite, resume)
    with notices(quiet), progress(quiet or as_json) as shown:
        result = job.run(source, output=output, threads=threads, progress=shown)
    if as_json:
        click.echo(json.dumps(result.report))
    elif not quiet:
        click.echo(render_report(result.report))
        click.echo("Dry run: nothing was written." if dry_run else f"Written to {path}")
