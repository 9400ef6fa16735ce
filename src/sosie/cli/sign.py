"""`sosie sign`: documents become signatures or keys, saved as files."""

from __future__ import annotations

from typing import Any

import click

from sosie.cli.options import output_options, shard_option, shingle_options, source_of, source_options
from sosie.cli.progress import progress
from sosie.cli.render import render_left_out
from sosie.cli.say import say, say_json
from sosie.cli.signer import form_of, signer_of, signer_options
from sosie.jobs.sign import Signing
from sosie.storage.output import Output


@click.command("sign")
@source_options
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the signatures to.")
@signer_options
@click.option("--volatility", is_flag=True, default=None, help="Simhash, projection: keep the sums behind the bits.")
@click.option("--features", is_flag=True, help="Store the distinct features, too: pairs can be verified later.")
@shard_option(required=False)
@shingle_options
@output_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Sign the documents of INPUT and save the signatures (simhash, b-bit minhash) or keys (minhash) with their ids."""
    source = source_of(inputs, options)
    spec, signer, reads = signer_of(options)
    part = options.pop("part")
    job = Signing(signer=signer, features=options["features"], **form_of(spec, options))
    with progress(options["quiet"] or options["as_json"]) as shown:
        output = Output(options["output"], options["overwrite"])
        report = job.run(source, output, reads=reads, part=part, threads=options["threads"], progress=shown)
    if options["as_json"]:
        say_json(report.to_dict())
    elif not options["quiet"]:
        say(f"{report.signed:,} of {report.documents:,} documents signed ({spec.method}, {report.digest})")
        render_left_out(report.without_features, report.rejected)
        say(f"Written to {options['output']}")
