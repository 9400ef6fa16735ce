"""`sosie evaluate`: recall and precision of a result, and how good links, an index, signatures or keys are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from sosie.cli.evaluate_links import links
from sosie.cli.kinds import effort_options, efforts_of
from sosie.cli.options import (
    UNITS,
    column_options,
    is_given,
    output_options,
    refuse_reading,
    run_options,
    source_of,
    source_options,
)
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.evaluation.index_quality import IndexQuality
from sosie.evaluation.result import Result, load_result
from sosie.evaluation.sampling.recall import SampledRecall
from sosie.evaluation.signatures.quality import SignatureQuality, Truth
from sosie.evaluation.truth import TruthAgreement
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS
from sosie.jobs.evaluate import SAMPLE, Evaluation, IndexEvaluation, measure_signatures
from sosie.jobs.inputs import are_signatures
from sosie.report.signature_page import quality_rows
from sosie.report.summary import unit_name
from sosie.storage.output import Output


class Evaluate(click.Group):
    """A group whose own command is taken where no other is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the own command before what is not the name of another."""
        named = bool(args) and args[0] in ("result", "index", "signatures", "links")
        return super().parse_args(ctx, args if named else ["result", *args])


@click.group("evaluate", cls=Evaluate)
def command() -> None:
    """Measure how good a result is, or how good links, an index or signatures are."""


command.add_command(links)


@command.command("result")
@click.argument("result", type=click.Path(), metavar="RESULT")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "--truth", type=click.Path(), help="True pairs: TSV, CSV, JSONL or Parquet, columns a and b or the first two."
)
@click.option(
    "--sample", type=click.IntRange(min=1), help=f"Documents to compare with all. [default: {SAMPLE}, if no --truth]"
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another sample for each seed.")
@column_options
@click.option("--threshold", metavar="SIMILARITY", help="Least similarity of a pair, if the report does not say.")
@click.option("--width", type=int, help="Units in a shingle, if the report does not say. [default: 3]")
@click.option(
    "--unit",
    type=UNITS,
    help="Units of a shingle, if the report does not say. [default: word]",
)
@run_options
def result_command(result: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Measure how good RESULT is, a directory that `sosie dedup` or `sosie join` wrote.

    `sosie evaluate index DIR` measures an index instead, `sosie evaluate signatures INPUT...` signatures, and
    `sosie evaluate links OUT` links: see their --help.

    With --truth, its pairs and clusters are compared with known pairs. With --sample, random documents of INPUT are
    compared exactly with all of INPUT, and the pairs found so are looked up in RESULT. INPUT is what the run read; by
    default, the files that the report of `sosie dedup` names. Columns, threshold and shingles are those of the report
    as far as it says.
    """
    quiet, as_json, seed = options["quiet"], options["as_json"], options["seed"]
    opened = load_result(result)
    job = Evaluation(
        truth=options["truth"],
        sample=options["sample"],
        seed=seed,
        threshold=options["threshold"],
        shingles=_shingles(opened, options),
    )
    files = list(inputs) or opened.inputs
    source = _source(files, opened, options) if files else None
    with progress(quiet or as_json) as shown:
        found = job.run(opened, source, threads=options["threads"], progress=shown)
    if as_json:
        say_json({"result": result, **found.to_dict()})
    elif not quiet:
        truth = [] if found.truth is None else _truth_lines(found.truth, opened.across)
        sample = [] if found.sample is None else _sample_lines(found.sample, opened, seed)
        say(*truth, *sample)


def _source(files: list[str], result: Result, options: dict[str, Any]) -> Source:
    """Read the documents as the run did, unless an option says otherwise."""
    names = {"html": ["html", "html_content"], "format": ["input_format"]}
    said = {
        name: value
        for name, value in result.reading.items()
        if not any(is_given(option) for option in names.get(name, [name]))
    }
    return source_of(files, dict(options), on_error="skip", **said)


def _shingles(result: Result, options: dict[str, Any]) -> Shingles | None:
    """Return the shingles as given; those of the report may be left out."""
    width, unit = options["width"], options["unit"]
    if result.identical:
        if width is not None or unit is not None:
            raise UsageError(f"{result.path}: was compared byte for byte: leave --width and --unit out")
        return None
    said = result.shingles
    if said is not None and width is None and unit is None:
        return None
    default = said or Shingles()
    return replace(default, width=default.width if width is None else width, unit=unit or default.unit)


def _truth_lines(agreed: TruthAgreement, across: bool) -> list[str]:
    pairs, clusters = agreed.pairs, agreed.clusters
    lines = [
        f"{pairs.recall:>12.4f} recall: {pairs.right:,} of {pairs.true:,} true pairs found",
        f"{pairs.precision:>12.4f} precision: {pairs.right:,} of {pairs.found:,} found pairs true",
    ]
    if clusters is not None:
        lines += [
            f"{clusters.f1:>12.4f} F1 of the pairs in one cluster: recall {clusters.recall:.4f},"
            f" precision {clusters.precision:.4f}",
            f"{clusters.adjusted_rand:>z12.4f} adjusted Rand index",
        ]
    if agreed.repeated or agreed.selves:
        lines.append(
            f"Note: of the truth, {agreed.repeated:,} repeated pairs and {agreed.selves:,} of an id with itself"
            " were left out."
        )
    if not agreed.checked and not across:
        lines.append("Note: name the documents (INPUT...) to check that all ids of the truth are among them.")
    return lines


def _sample_lines(measured: SampledRecall, result: Result, seed: int) -> list[str]:
    low, high = measured.interval
    lines = [f"{measured.sampled:>12,} of {measured.documents:,} documents compared with all (seed {seed})"]
    if measured.recall is None:
        remedy = "; take a larger sample" if measured.sampled < measured.documents else ""
        lines.append(f"{'unknown':>12} recall: these documents have no similar ones{remedy}")
    else:
        lines.append(
            f"{measured.recall:>12.4f} recall: {measured.found_pairs:,} of {measured.true_pairs:,} true pairs found"
            f" (95 % confidence: {low:.4f} to {high:.4f})"
        )
    if measured.wrong_pairs:
        lines.append(f"{measured.wrong_pairs:>12,} pairs of the result are not similar")
    if measured.kept is not None:
        if measured.settled is not None:
            settled = measured.true_pairs - (measured.unsettled_pairs or 0)
            lines.append(f"{measured.settled:>12.4f} settled: of {settled:,} true pairs not both documents stay")
        lines.append(
            f"{measured.missed:>12,} of {measured.kept:,} sampled documents that stay are similar to another that stays"
        )
    if result.report.get("counters", {}).get("bounded_lists"):
        lines.append(
            "Note: the run did not list all pairs of dense groups (see its warnings); those are not found here."
        )
    return lines


@command.command("signatures")
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
@click.option("--width", type=int, default=1, show_default=True, help="Units in a shingle of the true cosine.")
@click.option("--unit", type=UNITS, default="word", show_default=True, help="What shingles of the true cosine are of.")
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
        Shingles(options["width"], options["unit"]),
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
        say_json(found.to_dict())
    elif not options["quiet"]:
        say(*_figures(found.measured, truth, found.documents).splitlines())
        if options["output"]:
            say(f"Written to {options['output']}")


def _figures(measured: list[SignatureQuality], truth: Truth, documents: int) -> str:
    lines = [
        f"{documents:,} documents; all pairs of {measured[0].documents:,}, cosine of {truth.weighting} weights of"
        f" {truth.shingles.width}-{unit_name(truth.shingles.unit)} shingles; similar from {truth.similar} on"
    ]
    for each in measured:
        lines.append("")
        lines += [f"{name:>34}: {value}" for name, value in quality_rows(each)["shown"].items()]
    return "\n".join(lines)


@command.command("index")
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.argument("inputs", nargs=-1, metavar="[QUERY]...")
@click.option("-k", "--nearest", type=int, default=10, show_default=True, help="How many nearest rows count.")
@click.option("--sample", type=int, help=f"Rows of the index to look up, if no QUERY is given. [default: {SAMPLE}]")
@click.option("--seed", type=int, help="Another sample for each seed. [default: 0]")
@click.option("--exclude-self", is_flag=True, help="What has the id of a QUERY is no answer: it is in the index.")
@effort_options
@column_options
@run_options
def index_command(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Measure searches of the index in DIR, of signatures, beside an exhaustive search of the same rows.

    QUERY are documents (every format that INPUT of `sosie dedup` has), or one directory that `sosie sign` wrote;
    without any, a sample of the index's own rows is looked up, and no row is its own answer. Recall is the share of the
    nearest that was found; CDR, or HDR, says how near the rows are that were found, beside the nearest. It is no
    recall.
    """
    for name in ("sample", "seed"):
        if inputs and options[name] is not None:
            raise UsageError(f"--{name} draws rows of the index: leave it out where a QUERY is given")
    if options["exclude_self"] and not inputs:
        raise UsageError("--exclude-self is for a QUERY: a row that is drawn is never its own answer")
    saved = are_signatures(inputs)
    if saved:
        own = ("nearest", "exclude_self", "threads", "quiet", "as_json", *efforts_of(options))
        refuse_reading(inputs[0], options, own)
    queries = None if not inputs else inputs[0] if saved else source_of(inputs, {**options, "on_error": "raise"})
    job = IndexEvaluation(
        k=options["nearest"],
        effort=efforts_of(options),
        sample=SAMPLE if options["sample"] is None else options["sample"],
        seed=options["seed"] or 0,
        exclude_self=options["exclude_self"],
    )
    with progress(options["quiet"] or options["as_json"]) as shown:
        found = job.run(directory, queries, threads=options["threads"], progress=shown)
    if options["as_json"]:
        drawn = {} if inputs else {"sample": {"seed": job.seed}}
        say_json({"index": directory, **drawn, **found.to_dict()})
    elif not options["quiet"]:
        say(*_index_lines(found, None if inputs else job.seed))


def _index_lines(found: IndexQuality, seed: int | None) -> list[str]:
    """Say what a search is worth; at how many ranks depends on k."""
    asked = "queries of" if seed is None else f"rows looked up, none its own answer (seed {seed}):"
    said = ", ".join(f"{name} {value}" for name, value in found.effort.items() if value is not None)
    ranks = [rank for rank in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if rank < found.k] + [found.k]
    spent, scanned = (1000 * seconds / found.queries for seconds in (found.seconds, found.exhaustive_seconds))
    held = f"{found.rows:,} rows of {found.bits:,} bits, {found.kind}"
    return [
        f"{found.queries:>12,} {asked} {held}{said and f': {said}'}",
        f"{found.recall:>12.4f} recall@{found.k}: the share of the {found.k} nearest that was found",
        *(f"{found.ratios[rank - 1]:>12.4f} CDR@{rank}{', which is HDR' * (rank == found.k)}" for rank in ranks),
        f"{spent:>12.3f} ms a query; {scanned:.3f} ms exhaustively",
    ]
