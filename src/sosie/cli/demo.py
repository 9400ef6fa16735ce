"""`sosie demo`: the main job on a generated corpus with known truth."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.cli.options import output_options
from sosie.cli.progress import progress
from sosie.cli.render import render_report
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.truth import agreement
from sosie.jobs.dedup import Deduplicator
from sosie.matches.similarity import as_fraction
from sosie.storage.output import OutputDirectory
from sosie.types import Pairs

THRESHOLD = "0.8"


@click.command("demo")
@click.option("-o", "--output", type=click.Path(), default="demo-output", show_default=True, help="Where to write.")
@click.option("--documents", type=click.IntRange(min=0), default=20_000, show_default=True, help="Size of the corpus.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another corpus for each seed.")
@output_options
def command(output: str, documents: int, seed: int, **options: Any) -> None:
    """Generate a corpus with planted near-duplicates, de-duplicate it, and compare with the known truth."""
    quiet, as_json, overwrite = options["quiet"], options["as_json"], options["overwrite"]
    corpus = PlantedCorpus(documents, seed=seed)
    files, truth = Path(output) / "corpus", corpus.pairs(THRESHOLD)
    with OutputDirectory(files, overwrite) as directory:
        write_corpus(corpus, truth, directory.path)
    job = Deduplicator(threshold=as_fraction(THRESHOLD))
    with progress(quiet or as_json) as shown:
        result = job.run(
            os.fspath(files / "documents.jsonl"),
            output=Path(output) / "deduplicated",
            overwrite=overwrite,
            threads=options["threads"],
            progress=shown,
        )
    score = agreement(result.found, truth)
    if as_json:
        click.echo(json.dumps({**result.report.to_dict(), "recall": score.recall, "precision": score.precision}))
    elif not quiet:
        click.echo(render_report(result.report.to_dict()))
        click.echo(
            f"{score.right:>12,} of the {score.true:,} planted pairs found:"
            f" recall {score.recall:.4f}, precision {score.precision:.4f}"
        )
        click.echo(f"Corpus: {files}\nReport: {Path(output) / 'deduplicated' / 'report.html'}")


def write_corpus(corpus: PlantedCorpus, truth: Pairs, directory: Path) -> None:
    """Write documents.jsonl, truth.parquet (the pairs at the threshold) and a manifest."""
    with open(directory / "documents.jsonl", "w", encoding="utf-8") as file:
        for table in corpus.tables():
            for document in table.to_pylist():
                file.write(json.dumps(document) + "\n")
    names = {side: pa.array([f"d{row}" for row in rows.tolist()]) for side, rows in (("a", truth.a), ("b", truth.b))}
    pq.write_table(pa.table(names), directory / "truth.parquet")
    manifest = {"format": "sosie-corpus", "documents": corpus.documents, "copies": corpus.copies, "seed": corpus.seed}
    (directory / "manifest.json").write_text(json.dumps({**manifest, "threshold": float(THRESHOLD)}) + "\n", "utf-8")
