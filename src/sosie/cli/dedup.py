"""`sosie dedup`: remove near-duplicates."""

from __future__ import annotations

from typing import Any, get_args

import click

from sosie.cli.engine import engine_of, engine_options, refuse_given, run_on
from sosie.cli.options import (
    SHINGLES,
    is_given,
    measure_options,
    memory_option,
    output_options,
    shingle_options,
    shingles_of,
    source_of,
    source_options,
    threshold_option,
)
from sosie.cli.progress import progress
from sosie.cli.render import render_report
from sosie.cli.say import say, say_json
from sosie.clusters.keep import RULES
from sosie.errors import UsageError
from sosie.jobs.dedup import Deduplicator
from sosie.jobs.parameters import MethodName, Wordless
from sosie.matches.reference import Reference, is_stored
from sosie.storage.output import Output


@click.command("dedup")
@source_options
@click.option("-o", "--output", type=click.Path(), help="The directory to write; it appears whole or not at all.")
@threshold_option("0.8")
@click.option(
    "--method",
    type=click.Choice(get_args(MethodName)),
    default="auto",
    show_default=True,
    help="How pairs are found. Auto: exact if its lists fit into half of the memory, else by signatures. Identical:"
    " byte for byte, without folding.",
)
@click.option(
    "--recall",
    type=float,
    default=1.0,
    show_default=True,
    help="The share of the similar pairs that has to be found: of less than all, a faster method may be taken.",
)
@click.option("--keep", metavar="RULE", default="first", show_default=True, help=f"Who stays: {RULES}.")
@click.option(
    "--clusters",
    type=click.Choice(["anchored", "transitive"]),
    default="anchored",
    show_default=True,
    help="Anchored: every dropped document is similar to the kept one. Transitive: chains count.",
)
@measure_options
@shingle_options
@click.option(
    "--wordless",
    type=click.Choice(get_args(Wordless)),
    default="identical",
    show_default=True,
    help="Texts without words, as emoji or nothing: drop those identical to another, or keep all.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="REFERENCE",
    help="Drop what is similar to a document of these files too, or of what `sosie sign --features` wrote.",
)
@click.option("--against-only", is_flag=True, help="Compare with the reference alone, not the documents themselves.")
@click.option("--annotate", is_flag=True, help="Write all documents, with columns that say what was found.")
@memory_option
@click.option("--resume", is_flag=True, help="Go on with a run that was interrupted, and make that possible.")
@engine_options
@click.option("--dry-run", is_flag=True, help="Find and report, write nothing.")
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Remove the near-duplicates of INPUT: JSON, CSV, Parquet, Arrow, text, HTML and WARC files, and folders of them.

    Globs and URLs work too, and - means JSON lines from standard input.

    Writes kept/ and dropped/ in the format of the inputs, pairs.parquet, clusters.parquet, report.html and report.json.
    """
    quiet, as_json, dry_run = options.pop("quiet"), options.pop("as_json"), options.pop("dry_run")
    memory, threads = options.pop("memory"), options.pop("threads")
    output = Output(*(options.pop(name) for name in ("output", "overwrite", "resume", "annotate")))
    if not dry_run and output.path is None:
        raise UsageError("name an output directory with -o DIR, or pass --dry-run")
    if dry_run and (output.resume or output.annotate):
        raise UsageError("a dry run writes nothing: leave out --dry-run, or --resume and --annotate")
    if options["method"] == "identical":
        _refuse_shingles()
    engine = engine_of(options)
    if engine is not None:
        refuse_given("memory", "against", "against_only", "resume", "weighting")
    reference = _reference(options.pop("against"), options.pop("against_only"), options)
    source = source_of(inputs, options, strict=reference is None)
    shingles, written = shingles_of(options), None if dry_run else output
    with progress(quiet or as_json) as shown:
        if engine is None:
            job = Deduplicator(shingles=shingles, **options)
            result = job.run(
                source, against=reference, output=written, memory=memory, threads=threads, progress=shown
            )
        else:
            result = run_on(engine, source, written, threads, shown, shingles=shingles, **options)
    if as_json:
        say_json(result.report.to_dict())
    elif not quiet:
        say(*render_report(result.report.to_dict()).splitlines())
        say("Dry run: nothing was written." if dry_run else f"Written to {output.path}")


def _refuse_shingles() -> None:
    """Refuse options that say how near-duplicates are told, where texts are compared byte for byte."""
    for name in ("threshold", "similarity", "weighting", *SHINGLES, "wordless", "recall"):
        if is_given(name):
            raise UsageError(
                f"--{name.replace('_', '-')}: for near-duplicates; --method identical compares texts byte for byte."
                " Leave one of the two out."
            )


def _reference(paths: tuple[str, ...], only: bool, options: dict[str, Any]) -> Reference | None:
    """Return what documents are held against: one directory of stored features, or files read like the inputs."""
    if not paths:
        if only:
            raise UsageError("--against-only needs a reference: name it with --against")
        return None
    if len(paths) == 1 and is_stored(paths[0]):
        return Reference(paths[0], only)
    for path in filter(is_stored, paths):
        raise UsageError(f"{path}: holds signatures, and can be the only --against.")
    return Reference(source_of(paths, dict(options), strict=False), only)
