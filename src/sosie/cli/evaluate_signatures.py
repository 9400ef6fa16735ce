"""`sosie evaluate signatures`: how good signatures and keys are on a collection, by every measure of the papers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sosie.cli.options import output_options, source_of, source_options
from sosie.cli.progress import progress
from sosie.documents.source import Source
from sosie.evaluation.signature_quality import SignatureQuality, Truth, default_specs, evaluate_signatures
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS
from sosie.report.signature_page import quality_rows, signature_page
from sosie.report.timing import Timing
from sosie.signatures.named import SHINGLES, default_shingles, parse_spec
from sosie.signatures.spec import Spec
from sosie.storage.output import OutputDirectory


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
    specs = [spec_like(text, truth) for text in options["specs"] or default_specs(truth)]
    with progress(options["quiet"] or options["as_json"]) as shown:
        timing = Timing(shown)
        texts = _read(source, timing, options["threads"])
        with timing.stage("measure", total=len(specs)) as stage:
            measured = []
            for spec in specs:
                measured += evaluate_signatures([spec], texts, truth, options["threads"])
                stage.advance(1)
    said = {"documents": len(texts), "truth": _said(truth), "specs": [quality_rows(each) for each in measured]}
    if options["output"]:
        with OutputDirectory(options["output"], options["overwrite"]) as directory:
            written = Path(directory.path)
            (written / "signatures.json").write_text(json.dumps(said, indent=1) + "\n", "utf-8")
            (written / "signatures.html").write_text(signature_page(measured, truth, len(texts)), "utf-8")
    if options["as_json"]:
        click.echo(json.dumps(said))
    elif not options["quiet"]:
        click.echo(_table(measured, truth, len(texts)))
        if options["output"]:
            click.echo(f"Written to {options['output']}")


def spec_like(text: str, truth: Truth) -> Spec:
    """Return the spec of a line; where it names no shingles and its method takes words, those of the cosine."""
    spec = parse_spec(text)
    named = any(f"{name}=" in text.replace("-", "_") for name in SHINGLES)
    return spec if named or default_shingles(type(spec)).unit != "word" else replace(spec, shingles=truth.shingles)


def _read(source: Source, timing: Timing, threads: int | None) -> Any:
    import pyarrow as pa

    with timing.stage("read") as stage:
        parts = []
        for batch in source.batches(threads):
            parts.append(batch.texts)
            stage.advance(len(batch) + len(batch.rejects))
    return pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())


def _said(truth: Truth) -> dict[str, Any]:
    return {**vars(truth), "shingles": truth.shingles.to_dict()}


def _table(measured: list[SignatureQuality], truth: Truth, documents: int) -> str:
    lines = [
        f"{documents:,} documents; all pairs of {measured[0].documents:,}, cosine of {truth.weighting} weights of"
        f" {truth.shingles.width}-word shingles; similar from {truth.similar} on"
    ]
    for each in measured:
        lines.append("")
        lines += [f"{name:>34}: {value}" for name, value in quality_rows(each)["shown"].items()]
    return "\n".join(lines)
