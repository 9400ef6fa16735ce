"""`sosie search`: what an index holds that is like a text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from sosie.cli.found import FORMATS, format_of, render_found, render_summary, write_found
from sosie.cli.headings import HeadedCommand
from sosie.cli.kinds import effort_options, efforts_of, windows_of
from sosie.cli.options import READING, is_given, query_options, refuse_reading, run_options, source_of
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.index.registry import KINDS
from sosie.jobs.inputs import are_signatures, is_signatures
from sosie.jobs.search import WORDS, IndexSearch, texts_to_find
from sosie.storage.output_file import check_file

WANTED = 10  # matches of each query
SEARCHING = {
    "Options": ("texts", "k", "passages", "exclude_self", "form", "output", "overwrite"),
    "Reading queries from files": READING,
    "Passages": ("words", "overlap", "documents"),
    "Indexes of signatures": (
        "radius",
        "first",
        "recall",
        *dict.fromkeys(each.name for kind in KINDS.values() for each in kind.effort),
    ),
    "Running": ("threads", "quiet", "as_json", "config"),
}


@click.command("search", cls=HeadedCommand, headings=SEARCHING)
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.argument("inputs", nargs=-1, metavar="[QUERY]...")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="Look for this text; may be repeated.")
@click.option("-k", "--nearest", "k", type=int, help=f"So many matches of each query at most. [default: {WANTED}]")
@click.option("--radius", type=int, help="All matches of which at most so many bits differ, instead of the nearest.")
@click.option("--first", is_flag=True, help="With --radius: one match of each query is enough.")
@click.option("--exclude-self", is_flag=True, help="Leave out what has the id of the query.")
@click.option("--recall", type=float, help="Approximate kinds: search so far that this share of the answer is found.")
@effort_options
@click.option("--passages", is_flag=True, help="Show the passage of each match that is most like the query.")
@click.option("--words", type=int, help=f"Words of a passage that is shown. [default: {WORDS}]")
@click.option("--overlap", type=int, help="Words that neighbouring passages share. [default: half of them]")
@click.option("--documents", multiple=True, metavar="INPUT", help="The indexed documents, if the index has no texts.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="What is written or printed. [default: as the file is named, else table]",
)
@click.option("-o", "--output", type=click.Path(), help="The file to write to. [default: standard output]")
@click.option("--overwrite", is_flag=True, help="Replace the file.")
@query_options
@run_options
def command(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Find what the index in DIR holds that is like each QUERY: the most similar, or all within a radius.

    QUERY is a file of documents (every format that INPUT of `sosie dedup` has), or one directory that `sosie sign`
    wrote. In an index of words the similarity is the share of the query that a match has, rare words weighing more. In
    one of signatures or keys, matches are candidates, and their similarity is an estimate, shown with its margin.
    """
    form = format_of(options["form"], options["output"])
    _check(inputs, options)
    if options["output"]:
        _check_output(directory, inputs, options)
    job = IndexSearch(
        k=WANTED if options["k"] is None else options["k"],
        effort=efforts_of(options),
        windows=windows_of(options, WORDS) if is_given("words") or is_given("overlap") else None,
        **{name: options[name] for name in ("radius", "first", "recall", "exclude_self", "passages")},
    )
    documents = _source(options["documents"], options) if options["documents"] else None
    with progress(options["quiet"] or options["as_json"]) as shown:
        queries = _queries(inputs, options)
        table, report = job.run(directory, queries, documents=documents, threads=options["threads"], progress=shown)
    if options["output"]:
        write_found(table, options["output"], form, options["overwrite"])
    if options["as_json"]:
        said = report.to_dict()
        say_json(said if options["output"] else {**said, "found": table.to_pylist()})
        return
    if not options["output"]:
        render_found(table, form)
    if not options["quiet"]:
        say(*render_summary(report).splitlines(), err=not options["output"] and form != "table")
        if options["output"]:
            say(f"Written to {options['output']}")


def _check(inputs: tuple[str, ...], options: dict[str, Any]) -> None:
    if bool(inputs) == bool(options["texts"]):
        raise UsageError("say what to look for: either --text TEXT, or files (QUERY), or a directory of signatures")
    if options["k"] is not None and options["radius"] is not None:
        raise UsageError("-k finds the nearest, --radius all within it: give one of the two")
    if options["first"] and options["radius"] is None:
        raise UsageError("--first is for --radius; the nearest alone is -k 1")
    for name in ("documents", "words", "overlap"):
        if is_given(name) and not options["passages"]:
            raise UsageError(f"--{name} is for --passages")
    if options["overwrite"] and not options["output"]:
        raise UsageError("--overwrite is for --output")


def _check_output(directory: str, inputs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse an output that cannot be written before anything is done, and one that this search reads."""
    check_file(options["output"], options["overwrite"])
    files = [path for path in (*options["documents"], *inputs) if not is_signatures(path)]
    read = [directory, *inputs, *(place.path for place in (_source(files, options).inputs() if files else []))]
    final = Path(os.path.realpath(options["output"]))
    if any(final.is_relative_to(os.path.realpath(path)) for path in read):
        raise UsageError(f"{options['output']}: is an input of this search. Choose another output file.")


def _queries(inputs: tuple[str, ...], options: dict[str, Any]) -> Any:
    """Return texts and documents as a source, and one directory of signatures as its path."""
    if options["texts"]:
        return texts_to_find(options["texts"])
    if not are_signatures(inputs):
        return _source(inputs, options)
    refuse_reading(inputs[0], options, tuple(name for name in options if name not in READING))
    return inputs[0]


def _source(inputs: Sequence[str], options: dict[str, Any]) -> Source:
    return source_of(inputs, dict(options), strict=not options["documents"])
