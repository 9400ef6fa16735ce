"""`sosie shards`: a de-duplication in shards, each stage a command for a scheduler to run."""

from __future__ import annotations

from typing import Any, get_args

import click

from sosie.cli.index import InOrder
from sosie.cli.options import (
    measure_options,
    run_options,
    shard_option,
    shingle_options,
    shingles_of,
    source_of,
    source_options,
    threshold_option,
)
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.clusters.keep import RULES
from sosie.jobs.parameters import Wordless
from sosie.jobs.shards.cluster import cluster_shards
from sosie.jobs.shards.collapse import collapse_shards
from sosie.jobs.shards.folder import ShardFolder, ShardReport
from sosie.jobs.shards.join import join_shards
from sosie.jobs.shards.part import Part
from sosie.jobs.shards.sign import ShardSigning
from sosie.jobs.shards.write import write_shard

_METHODS = ("exact", "minhash", "simhash", "identical")
FOLDER = click.argument("folder", type=click.Path(file_okay=False))


@click.group("shards", cls=InOrder)
def command() -> None:
    """Remove near-duplicates in shards: sign, collapse, join, cluster, write, in this order.

    Each stage reads what the one before has left in FOLDER, which all machines share. Stages with --shard run as many
    processes as you like, one for each shard. What is done is not done again, so any command may be repeated.
    """


@command.command("sign", short_help="Read the documents of some files: the first stage.")
@source_options
@click.option(
    "-o", "--output", "folder", type=click.Path(file_okay=False), required=True, help="The folder of all stages."
)
@shard_option(required=True)
@threshold_option("0.8")
@click.option(
    "--method", type=click.Choice(_METHODS), default="exact", show_default=True, help="How pairs are found later."
)
@click.option("--keep", metavar="RULE", default="first", show_default=True, help=f"Who stays: {RULES}.")
@measure_options
@shingle_options
@click.option(
    "--wordless",
    type=click.Choice(get_args(Wordless)),
    default="identical",
    show_default=True,
    help="Texts without words, as emoji or nothing: drop those identical to another, or keep all.",
)
@run_options
def sign(inputs: tuple[str, ...], **options: Any) -> None:
    """Read the documents of some files of INPUT, and keep what later stages need of them.

    Give all shards the same INPUT and options: which files are those of a shard is decided by their order and sizes.
    """
    folder, part = ShardFolder.at(options.pop("folder")), options.pop("part")
    quiet, as_json, threads = (options.pop(name) for name in ("quiet", "as_json", "threads"))
    source = source_of(inputs, options)
    job = ShardSigning(shingles=shingles_of(options), **options)
    with progress(quiet or as_json) as shown:
        report = job.run(source, folder, part, threads=threads, progress=shown)
    _say(report, quiet, as_json)


@command.command("collapse", short_help="Bring identical documents of all shards together.")
@FOLDER
@run_options
def collapse(folder: str, threads: int | None, quiet: bool, as_json: bool) -> None:
    """Bring identical documents of all shards together, so that each is compared once. One process does it."""
    with progress(quiet or as_json) as shown:
        report = collapse_shards(ShardFolder.at(folder), shown)
    _say(report, quiet, as_json)


@command.command("join", short_help="Find similar pairs, in some shards and between them.")
@FOLDER
@shard_option(required=True)
@run_options
def join(folder: str, part: Part, threads: int | None, quiet: bool, as_json: bool) -> None:
    """Find and verify the similar pairs of some shards with each other; there may be more or fewer parts than shards.

    Of n shards there are n (n + 1) / 2 joins, which are cut into parts.
    """
    with progress(quiet or as_json) as shown:
        report = join_shards(ShardFolder.at(folder), part, threads=threads, progress=shown)
    _say(report, quiet, as_json)


@command.command("cluster", short_help="Decide who stays, and write tables and reports.")
@FOLDER
@run_options
def cluster(folder: str, threads: int | None, quiet: bool, as_json: bool) -> None:
    """Decide who stays, and write pairs.parquet, clusters.parquet, report.json and report.html. One process does it."""
    with progress(quiet or as_json) as shown:
        report = cluster_shards(ShardFolder.at(folder), threads=threads, progress=shown)
    _say(report, quiet, as_json)


@command.command("write", short_help="Write the documents of some files: the last stage.")
@FOLDER
@shard_option(required=True)
@click.option("--annotate", is_flag=True, help="Write all documents, with columns that say what was found.")
@run_options
def write(folder: str, part: Part, annotate: bool, threads: int | None, quiet: bool, as_json: bool) -> None:
    """Write the documents of some files to kept/ and dropped/, in the format of the inputs."""
    with progress(quiet or as_json) as shown:
        report = write_shard(ShardFolder.at(folder), part, annotate=annotate, threads=threads, progress=shown)
    _say(report, quiet, as_json)


def _say(report: ShardReport, quiet: bool, as_json: bool) -> None:
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        shard = "" if report.shard is None else f" {report.shard}"
        counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in report.counts.items())
        say(f"{report.stage}{shard}: {'done before: ' if report.done_before else ''}{counts}")
