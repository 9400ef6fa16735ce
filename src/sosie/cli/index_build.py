"""Build an index: documents are signed on the way, saved signatures are taken as they are."""

from __future__ import annotations

import json
from typing import Any

import click

from sosie.cli.entries import is_saved, saved_entries, windows_of
from sosie.cli.kinds import build_options, built_with
from sosie.cli.options import is_given, output_options, shingle_options, source_of, source_options
from sosie.cli.progress import progress
from sosie.cli.signer import fitted, form_of, saved_signer, signer_options, spec_of
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.errors import UsageError
from sosie.index.registry import check_kind
from sosie.report.stages import Stages
from sosie.report.summary import counted
from sosie.search.entries import Entries, Form, sign_entries
from sosie.search.text_index import TextIndex
from sosie.search.windows import Windows
from sosie.signatures.files import load_signer
from sosie.signatures.signer import Signer
from sosie.storage.output import OutputDirectory
from sosie.storage.room import Room
from sosie.types import Keys

OWN = ("inputs", "output", "overwrite", "threads", "quiet", "as_json", "kind")


@click.command("build")
@source_options
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the index to.")
@build_options
@click.option("--keep-texts", is_flag=True, help="Keep the texts, too: `sosie search --passages` shows them.")
@click.option("--passages", is_flag=True, help="Index overlapping passages of the documents instead of whole ones.")
@click.option("--words", type=int, help="Passages: words of each. [default: 100]")
@click.option("--overlap", type=int, help="Passages: words that neighbours share. [default: half of them]")
@signer_options
@shingle_options
@output_options
def build(inputs: tuple[str, ...], **options: Any) -> None:
    """Build an index of INPUT: documents (see `sosie dedup`), signed as by `sosie sign`, or what that wrote.

    The signer is kept with the index, so that `sosie search` signs texts the same way.
    """
    quiet, as_json = options["quiet"], options["as_json"]
    parameters = built_with(options)
    with progress(quiet or as_json) as shown:
        stages = Stages(shown)
        if is_saved(inputs):
            entries, signer = saved_entries(inputs[0], options, (*OWN, *parameters)), load_signer(inputs[0])
            kind = _kind(options, parameters, keys=isinstance(entries.signed, Keys))
            with OutputDirectory(options["output"], options["overwrite"], inputs) as directory:
                _write(TextIndex.build(entries, signer, kind, parameters), directory, stages)
            documents, rejected = len(entries), 0
        else:
            reading, entries, signer, kind = _documents(inputs, options, parameters, stages)
            documents, rejected = reading.documents, reading.rejected
    report = {
        "documents": documents,
        "rows": len(entries),
        "without_features": entries.unsigned,
        "rejected": rejected,
        "kind": kind,
        "digest": signer.digest,
        "spec": signer.spec.to_dict(),
        "stages": stages.finished,
    }
    if as_json:
        click.echo(json.dumps(report))
    elif not quiet:
        rows, read = counted(len(entries), "passage" if options["passages"] else "row"), counted(documents, "document")
        click.echo(f"{rows} of {read} indexed ({kind}, {signer.digest})")
        for reason in ("without_features", "rejected"):
            if report[reason]:
                click.echo(f"{report[reason]:,} {reason.replace('_', ' ')}")
        click.echo(f"Written to {options['output']}")


def _documents(
    inputs: tuple[str, ...], options: dict[str, Any], parameters: dict[str, Any], stages: Stages
) -> tuple[Reading, Entries, Signer, str]:
    source = source_of(inputs, options)
    saved = saved_signer(options) if options["signer"] else None
    spec = saved.spec if saved else spec_of(options)
    keys = bool(form_of(spec, options).get("keys"))
    kind = _kind(options, parameters, keys=keys)
    form = Form(keys=keys, windows=_windows(options), texts=options["keep_texts"])
    reading = source.batches(options["threads"])
    read = [*(place.path for place in reading.inputs), *([options["signer"]] if saved else [])]
    with OutputDirectory(options["output"], options["overwrite"], read) as directory:
        signer = saved or fitted(spec, source, stages, options["threads"])
        room = Room(directory.scratch, threads=options["threads"])
        with stages.run("sign") as stage, RejectLog(directory.scratch) as log:
            entries = sign_entries(reading, signer, form, room, log=log, advance=stage.advance)
        with stages.run("index"):
            index = TextIndex.build(entries, signer, kind, parameters)
        _write(index, directory, stages)
    return reading, entries, signer, kind


def _write(index: TextIndex, directory: OutputDirectory, stages: Stages) -> None:
    with stages.run("write"):
        index.write(directory)


def _kind(options: dict[str, Any], parameters: dict[str, Any], *, keys: bool) -> str:
    kind = options["kind"] or ("keys" if keys else "flat")
    check_kind(kind, keys=keys, options=parameters)
    return str(kind)


def _windows(options: dict[str, Any]) -> Windows | None:
    if options["passages"]:
        return windows_of(options, words=100)
    for name in ("words", "overlap"):
        if is_given(name):
            raise UsageError(f"--{name} is for --passages")
    return None
