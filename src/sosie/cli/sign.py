"""`sosie sign`: documents become signatures or keys, saved as files."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import click

from sosie.cli.options import output_options, shingle_options, source_of, source_options
from sosie.cli.progress import progress
from sosie.cli.signer import fitted, form_of, saved_signer, signer_options, spec_of
from sosie.documents.batch import Batch
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.report.stages import Stages
from sosie.signatures.files import save_signatures
from sosie.signatures.signer import Signer
from sosie.signatures.stream import FeatureKeep, stream
from sosie.storage.output import OutputDirectory
from sosie.storage.room import Room
from sosie.types import Keys, Signatures


@click.command("sign")
@source_options
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the signatures to.")
@signer_options
@click.option("--volatility", is_flag=True, default=None, help="Simhash: keep the sums behind the bits.")
@click.option("--features", is_flag=True, help="Store the distinct features, too: pairs can be verified later.")
@shingle_options
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Sign the documents of INPUT and save the signatures (simhash, b-bit minhash) or keys (minhash) with their ids."""
    source = source_of(inputs, options)
    saved = saved_signer(options) if options["signer"] else None
    spec = saved.spec if saved else spec_of(options)
    with progress(options["quiet"] or options["as_json"]) as shown:
        stages = Stages(shown)
        reading = source.batches(options["threads"])
        read = [*(place.path for place in reading.inputs), *([options["signer"]] if saved else [])]
        with OutputDirectory(options["output"], options["overwrite"], read) as directory:
            signer = saved or fitted(spec, source, stages, options["threads"])
            signed = _sign(reading, signer, directory, stages, options)
    report = {
        "documents": reading.documents,
        "signed": len(signed),
        "without_features": len(signed.unsigned),
        "rejected": reading.rejected,
        "digest": signer.digest,
        "spec": spec.to_dict(),
        "stages": stages.finished,
    }
    if options["as_json"]:
        click.echo(json.dumps(report))
    elif not options["quiet"]:
        click.echo(f"{len(signed):,} of {reading.documents:,} documents signed ({spec.method}, {signer.digest})")
        for reason in ("without_features", "rejected"):
            if report[reason]:
                click.echo(f"{report[reason]:,} {reason.replace('_', ' ')}")
        click.echo(f"Written to {options['output']}")


def _sign(
    reading: Reading, signer: Signer, directory: OutputDirectory, stages: Stages, options: dict[str, Any]
) -> Signatures | Keys:
    with stages.run("sign") as stage, RejectLog(directory.path) as log:
        form = {**form_of(signer.spec, options), "threads": options["threads"]}

        def after(batch: Batch) -> None:
            log.add(batch.rejects)
            stage.advance(len(batch) + len(batch.rejects))

        with ExitStack() as stack:
            room, keep = Room(directory.scratch), None
            if options["features"]:
                keep = stack.enter_context(FeatureKeep(signer.spec.shingles, room))
            signed = stream(reading, signer, keep=keep, after=after, **form)
            save_signatures(directory.path, signed, signer, keep.features() if keep else None)
            return signed
