"""`sosie evaluate signatures`: how good signatures and keys are on a collection, by every measure of the papers."""

from __future__ import annotations

import json
from typing import Any

import click

from sosie.cli.options import output_options, source_of, source_options
from sosie.cli.progress import progress
from sosie.evaluation.signature_quality import SignatureQuality, Truth
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS
from sosie.jobs.evaluate import measure_signatures
from sosie.report.signature_page import quality_rows
from sosie.storage.output import Output


@click.command("signatures")
@source_options
@click.option(
    "--spec",
    "specs",
    multiple=True,
    metavar="METHOD:NAME=VALUE,...",
    help="What to measure, as simhash:bits=64,weighting=tf-idf; can be repeated. [default: one of each family]",
)
@click.option("--sample", type=int, default=1000, show_default=True, help="Documents of which all pairs are compared.")
@click.option(
    "--cosine", type=float, default=0.9, show_default=True, help="From which cosine on documents are similar."
)
@click.option("-k", "--nearest", type=int, default=10, show_default=True, help="How many nearest documents count.")
@click.option("--width", type=int, default=1, show_default=True, help="Words in a shingle of the true cosine.")
@click.option(
    "--weighting",
    type=click.Choice(WEIGHTINGS),
    default="tf-idf",
    show_default=True,
    help="Weights of the true cosine.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another sample for each seed.")
@click.option(
    "-o", "--output", type=click.Path(), help="A directory for signatures.json and signatures.html, with plots."
)
@output_options
def signatures(inputs: tuple[str, ...], **options: Any) -> None:
    """Measure specs on the documents of INPUT: the cosines of a sample beside what signatures and keys make of them.

    Signatures: the error of the cosine, precision and recall of a Hamming radius, the nearest documents, stress. Keys:
    recall, precision and the size of results by similarity. A spec that names no shingles takes those of the cosine.
    """
    source = source_of(inputs, options)
    truth = Truth(
        Shingles(options["width"]),
        options["weighting"],
        options["sample"],
        options["cosine"],
        options["nearest"],
        options["seed"],
    )
    output = Output(options["output"], options["overwrite"]) if options["output"] else None
    with progress(options["quiet"] or options["as_json"]) as shown:
        found = measure_signatures(
            source, options["specs"], truth, output=output, threads=options["threads"], progress=shown
        )
    if options["as_json"]:
        click.echo(json.dumps(found.to_dict()))
    elif not options["quiet"]:
        click.echo(_table(found.measured, truth, found.documents))
        if options["output"]:
            click.echo(f"Written to {options['output']}")


def _table(measured: list[SignatureQuality], truth: Truth, documents: int) -> str:
    lines = [
        f"{documents:,} documents; all pairs of {measured[0].documents:,}, cosine of {truth.weighting} weights of"
        f" {truth.shingles.width}-word shingles; similar from {truth.similar} on"
    ]
    for each in measured:
        lines.append("")
        lines += [f"{name:>34}: {value}" for name, value in quality_rows(each)["shown"].items()]
    return "\n".join(lines)
