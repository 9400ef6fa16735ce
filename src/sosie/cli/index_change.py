"""Change an index: rows are added or removed, and the result takes the place of the old index at once."""

from __future__ import annotations

import json
from typing import Any

import click

from sosie.cli.entries import is_saved, naming_index, saved_entries
from sosie.cli.options import print_options, run_options, source_of, source_options
from sosie.cli.progress import progress
from sosie.documents.rejects import RejectLog
from sosie.errors import UsageError
from sosie.report.summary import counted
from sosie.report.timing import Timing
from sosie.search.entries import sign_entries
from sosie.search.files import changing
from sosie.storage.room import Room

OWN = ("directory", "inputs", "threads", "quiet", "as_json")


@click.command("add")
@click.argument("directory", type=click.Path(), metavar="DIR")
@source_options
@run_options
def add(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Add INPUT to the index in DIR: documents, signed like those that are there, or what `sosie sign` wrote.

    An id that is in the index is an error, and nothing has changed. The new index takes the place of the old one as a
    whole; whoever has the old one open goes on with it.
    """
    quiet, as_json = options["quiet"], options["as_json"]
    entries = saved_entries(inputs[0], options, OWN) if is_saved(inputs) else None
    reading = None if entries is not None else source_of(inputs, dict(options)).batches(options["threads"])
    read = inputs if reading is None else [place.path for place in reading.inputs]
    with progress(quiet or as_json) as shown, changing(directory, read) as (index, output):
        timing = Timing(shown)
        if reading is not None:
            room = Room(output.scratch, threads=options["threads"])
            with timing.stage("sign") as stage, RejectLog(output.scratch) as log:
                entries = sign_entries(reading, index.signer, index.form, room, log=log, advance=stage.advance)
        assert entries is not None
        with timing.stage("index"), naming_index(directory):
            index.add(entries)
    report = {
        "documents": reading.documents if reading else len(entries),
        "added": len(entries),
        "without_features": entries.unsigned,
        "rejected": reading.rejected if reading else 0,
        "rows": len(index),
        "stages": timing.described(),
    }
    if as_json:
        click.echo(json.dumps(report))
    elif not quiet:
        click.echo(f"{counted(len(entries), 'row')} added; {directory} has {len(index):,}")
        for reason in ("without_features", "rejected"):
            if report[reason]:
                click.echo(f"{report[reason]:,} {reason.replace('_', ' ')}")


@click.command("remove")
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--ids", "file", type=click.Path(dir_okay=False), help="A UTF-8 file with one id per line.")
@print_options
def remove(directory: str, names: tuple[str, ...], file: str | None, quiet: bool, as_json: bool) -> None:
    """Remove documents from the index in DIR by their ids, and their texts if it keeps them.

    An unknown id is an error, and nothing has changed. Of an index of passages, all passages of a document go.
    """
    if bool(names) == bool(file):
        raise UsageError("name the documents to remove: either ID..., or --ids FILE")
    wanted = _read_ids(file) if file else list(names)
    with changing(directory) as (index, _), naming_index(directory):
        removed = index.remove(wanted)
    if as_json:
        click.echo(json.dumps({"removed": removed, "rows": len(index)}))
    elif not quiet:
        click.echo(f"{counted(removed, 'row')} removed; {directory} has {len(index):,}")


def _read_ids(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as lines:
            return [line.rstrip("\r\n") for line in lines if line.strip()]
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror}). Check the path.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is not UTF-8 ({error}).") from error
