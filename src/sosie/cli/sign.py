"""`sosie sign`: documents become signatures or keys, saved as files."""

from __future__ import annotations

import json
from typing import Any

import click

from sosie.cli.options import output_options, shingle_options, shingles_of, source_of, source_options
from sosie.cli.progress import progress
from sosie.documents.rejects import RejectLog
from sosie.errors import UsageError
from sosie.report.stages import Stages
from sosie.signatures.files import save_signatures
from sosie.signatures.minhash import Minhash
from sosie.signatures.sign import sign_documents
from sosie.signatures.simhash import Simhash
from sosie.storage.output import OutputDirectory

OWN = {"simhash": ("bits", "weighting", "volatility"), "minhash": ("minima", "rows", "b")}


@click.command("sign")
@source_options
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the signatures to.")
@click.option("--method", type=click.Choice(list(OWN)), default="simhash", show_default=True)
@click.option("--bits", type=int, help="Simhash: bits of a signature. [default: 64]")
@click.option("--weighting", type=click.Choice(["tf", "binary"]), help="Simhash: how features weigh. [default: tf]")
@click.option("--volatility", is_flag=True, default=None, help="Simhash: keep the sums behind the bits, too.")
@click.option("--minima", type=int, help="Minhash: minima of a document. [default: 128]")
@click.option("--rows", type=int, help="Minhash: minima in a key. [default: 5]")
@click.option("--b", type=int, help="Minhash: make binary signatures of b bits of each minimum instead of keys.")
@click.option("--seed", type=int, default=0, show_default=True, help="Other bits for each seed.")
@shingle_options
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Sign the documents of INPUT and save the signatures (simhash, b-bit minhash) or keys (minhash) with their ids."""
    source = source_of(inputs, options)
    output, overwrite = options["output"], options["overwrite"]
    spec, extra = _spec(options)
    with progress(options["quiet"] or options["as_json"]) as shown:
        stages = Stages(shown)
        reading = source.batches(options["threads"])
        with OutputDirectory(output, overwrite, [place.path for place in reading.inputs]) as directory:
            with stages.run("sign") as stage, RejectLog(directory.path) as log:
                signed = sign_documents(
                    reading, spec, log=log, threads=options["threads"], advance=stage.advance, **extra
                )
            save_signatures(directory.path, signed, spec)
    report = {
        "documents": reading.documents,
        "signed": len(signed),
        "without_features": len(signed.unsigned),
        "rejected": reading.rejected,
        "digest": spec.digest,
        "spec": spec.to_dict(),
        "stages": stages.finished,
    }
    if options["as_json"]:
        click.echo(json.dumps(report))
    elif not options["quiet"]:
        click.echo(f"{len(signed):,} of {reading.documents:,} documents signed ({spec.method}, {spec.digest})")
        for reason in ("without_features", "rejected"):
            if report[reason]:
                click.echo(f"{report[reason]:,} {reason.replace('_', ' ')}")
        click.echo(f"Written to {output}")


def _spec(options: dict[str, Any]) -> tuple[Simhash | Minhash, dict[str, Any]]:
    """Build the spec; an option of the other method is wrong usage, not ignored."""
    method = options["method"]
    for name in (name for other, names in OWN.items() if other != method for name in names):
        if options[name] is not None:
            raise UsageError(f"--{name} does not belong to --method {method}")
    given = {name: options[name] for name in OWN[method] if options[name] is not None}
    shared = {"shingles": shingles_of(options), "seed": options["seed"]}
    if method == "simhash":
        extra = {"volatility": True} if given.pop("volatility", None) else {}
        return Simhash(**given, **shared), extra
    return Minhash(**given, **shared), {"keys": "b" not in given}
