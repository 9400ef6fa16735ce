"""`sosie demo`: the main job on a generated corpus with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sosie.cli.options import output_options
from sosie.cli.progress import progress
from sosie.cli.render import render_report
from sosie.cli.say import say, say_json
from sosie.evaluation.planted import PlantedCorpus
from sosie.jobs.demo import CORPUS, RESULT, demonstrate
from sosie.storage.output import Output


@click.command("demo")
@click.option("-o", "--output", type=click.Path(), default="demo-output", show_default=True, help="Where to write.")
@click.option("--documents", type=click.IntRange(min=0), default=20_000, show_default=True, help="Size of the corpus.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another corpus for each seed.")
@output_options
def command(output: str, documents: int, seed: int, **options: Any) -> None:
    """Generate a corpus with planted near-duplicates, de-duplicate it, and compare with the known truth."""
    quiet, as_json = options["quiet"], options["as_json"]
    corpus, place = PlantedCorpus(documents, seed=seed), Output(output, options["overwrite"])
    with progress(quiet or as_json) as shown:
        found = demonstrate(corpus, place, threads=options["threads"], progress=shown)
    score = found.score
    if as_json:
        say_json(found.to_dict())
    elif not quiet:
        say(*render_report(found.result.report.to_dict()).splitlines())
        say(
            f"{score.right:>12,} of the {score.true:,} planted pairs found:"
            f" recall {score.recall:.4f}, precision {score.precision:.4f}"
        )
        say(f"Corpus: {Path(output) / CORPUS}", f"Report: {Path(output) / RESULT / 'report.html'}")
