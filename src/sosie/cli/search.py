"""`sosie search`: what an index holds that is like a text."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from sosie.cli.entries import is_saved, naming_index, saved_entries, windows_of
from sosie.cli.found import FORMATS, format_of, render_found, render_summary, write_found
from sosie.cli.kinds import effort_options, efforts_of
from sosie.cli.options import column_options, is_given, run_options, source_of
from sosie.cli.progress import progress
from sosie.documents.inputs import list_inputs
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.index.registry import effort_of
from sosie.report.stages import Stages
from sosie.search.entries import Entries
from sosie.search.files import load_text_index
from sosie.search.found import match_table, with_passages
from sosie.search.text_index import TextIndex
from sosie.search.windows import Windows
from sosie.storage.output_file import check_file
from sosie.storage.room import Room
from sosie.types import Matches

READING = ("text_column", "id_column", "html", "html_content", "max_expansion")


@click.command("search")
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.argument("inputs", nargs=-1, metavar="[QUERY]...")
@click.option("--text", "texts", multiple=True, metavar="TEXT", help="Look for this text; may be repeated.")
@click.option("-k", "--nearest", "k", type=int, help="So many matches of each query at most. [default: 10]")
@click.option("--radius", type=int, help="All matches of which at most so many bits differ, instead of the nearest.")
@click.option("--first", is_flag=True, help="With --radius: one match of each query is enough.")
@click.option("--exclude-self", is_flag=True, help="Leave out what has the id of the query.")
@effort_options
@click.option("--passages", is_flag=True, help="Show the passage of each match that is most like the query.")
@click.option("--words", type=int, help="Words of a passage that is shown. [default: 50]")
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
@column_options
@run_options
def command(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Find what the index in DIR holds that is like each QUERY: the nearest, or all within a radius.

    QUERY is a file of documents (every format that INPUT of `sosie dedup` has), or one directory that `sosie sign`
    wrote. Matches are candidates: their bits or keys agree; the similarity that is shown is an estimate.
    """
    form = format_of(options["form"], options["output"])
    _check(options)
    if options["output"]:
        _check_output(directory, inputs, options)
    quiet = options["quiet"] or options["as_json"]
    with progress(quiet) as shown, tempfile.TemporaryDirectory(prefix="sosie-") as scratch, naming_index(directory):
        stages = Stages(shown)
        with stages.run("open"):
            index = load_text_index(directory, texts=options["passages"] and not options["documents"])
            effort = effort_of(index.index, efforts_of(options))
        with stages.run("sign"):
            queries = _queries(index, inputs, options, Room(scratch, threads=options["threads"]))
        with stages.run("search"):
            matches = _found(index, queries, effort, options)
            table = match_table(index, queries, matches)
        if options["passages"]:
            with stages.run("passages"):
                documents = _source(options["documents"], options) if options["documents"] else None
                table = with_passages(table, index, queries, matches, _windows(index, options), documents)
    report = {
        "queries": len(queries) + queries.unsigned,
        "without_features": queries.unsigned,
        "matches": len(table),
        "recall": matches.recall,
        "counters": dict(matches.counters),
        "stages": stages.finished,
    }
    if options["output"]:
        write_found(table, options["output"], form, options["overwrite"])
    if options["as_json"]:
        click.echo(json.dumps(report if options["output"] else {**report, "found": table.to_pylist()}))
        return
    if not options["output"]:
        render_found(table, form)
    if not options["quiet"]:
        click.echo(render_summary(report), err=not options["output"] and form != "table")
        if options["output"]:
            click.echo(f"Written to {options['output']}")


def _check(options: dict[str, Any]) -> None:
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
    files = [path for path in (*options["documents"], *inputs) if not is_saved((path,))]
    read = [directory, *inputs, *(place.path for place in (list_inputs(files) if files else []))]
    final = Path(os.path.realpath(options["output"]))
    if any(final.is_relative_to(os.path.realpath(path)) for path in read):
        raise UsageError(f"{options['output']}: is an input of this search. Choose another output file.")


def _queries(index: TextIndex, inputs: tuple[str, ...], options: dict[str, Any], room: Room) -> Entries:
    texts = options["texts"]
    if bool(inputs) == bool(texts):
        raise UsageError("say what to look for: either --text TEXT, or files (QUERY), or a directory of signatures")
    if texts:
        if not all(text.strip() for text in texts):
            raise UsageError("--text is empty: give some words to look for")
        ids = [f"text:{number}" for number in range(1, len(texts) + 1)]
        return index.sign_source(Source(pa.table({"id": ids, "text": list(texts)})), room)
    if is_saved(inputs):
        own = tuple(name for name in options if name not in READING)
        return saved_entries(inputs[0], options, own)
    return index.sign_source(_source(inputs, options), room)


def _source(inputs: tuple[str, ...], options: dict[str, Any]) -> Source:
    return source_of(inputs, {**options, "on_error": "raise"})


def _found(index: TextIndex, queries: Entries, effort: Any, options: dict[str, Any]) -> Matches:
    how = {"effort": effort, "exclude_self": options["exclude_self"], "threads": options["threads"]}
    if options["radius"] is None:
        return index.search(queries, 10 if options["k"] is None else options["k"], **how)
    return index.within(queries, options["radius"], first=options["first"], **how)


def _windows(index: TextIndex, options: dict[str, Any]) -> Windows:
    if index.places is None:
        return windows_of(options, words=50)
    for name in ("words", "overlap"):
        if is_given(name):
            raise UsageError(f"--{name}: the rows of this index are passages, which are shown as they are")
    return index.places.windows
