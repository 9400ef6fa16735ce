"""`sosie link`: which documents of two languages are about the same thing?"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from sosie.cli.headings import HeadedCommand
from sosie.cli.options import column_options, is_given, memory_option, output_options, source_of
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.crosslingual.bootstrap import ROUNDS
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.spec import ALIGNERS, TrainingSpec
from sosie.crosslingual.views import Formula
from sosie.errors import UsageError
from sosie.jobs.dictionary import Columns
from sosie.jobs.link import Linker
from sosie.jobs.link_spec import BEST
from sosie.matches.chunks import Window
from sosie.planner.constants.links import COMPARED
from sosie.planner.outcome import Outcome
from sosie.report.links import LINKS, PAGE, LinkReport
from sosie.report.summary import counted, percent
from sosie.storage.output import Output

HEADINGS = {
    "Options": ("output", "overwrite", "threshold", "k", "one_to_one", "mutual"),
    "How words are translated": ("dictionary", "parallel", "swap", "rounds", "aligner", "formula", "weights"),
    "How documents are compared": ("recall", "exact", "bits", "seed", "compared", "tables", "window", "set_aside_hubs"),
}


@click.command("link", cls=HeadedCommand, headings=HEADINGS)
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write links.parquet to.")
@click.option("--threshold", metavar="SIMILARITY", help="All pairs of at least this similarity, as 0.3.")
@click.option("-k", type=int, help=f"The best links of each document of SOURCE. [default: {BEST}, if no --threshold]")
@click.option("--one-to-one", is_flag=True, help="Each document once at most: the surest links first.")
@click.option("--mutual", is_flag=True, help="Only links that are the best of both their documents.")
@click.option("--dictionary", type=click.Path(), metavar="DIR", help="What `sosie dictionary` wrote.")
@click.option(
    "--parallel",
    multiple=True,
    type=click.Path(),
    metavar="FILE",
    help="Train on texts and their translations, as `sosie dictionary train` does; can be repeated.",
)
@click.option("--swap", is_flag=True, help="--parallel: what would be the target language is the source.")
@click.option(
    "--rounds",
    type=int,
    default=ROUNDS,
    show_default=True,
    help="Neither of them: at most so many rounds of learning from the two collections.",
)
@click.option(
    "--aligner", type=click.Choice(ALIGNERS), default=TrainingSpec.aligner, show_default=True, help="What aligns words."
)
@click.option(
    "--formula",
    type=click.Choice(get_args(Formula)),
    default="later",
    show_default=True,
    help="How counts are projected: as the authors came to do it, or as their paper has it.",
)
@click.option(
    "--weights",
    metavar="FORWARD,BACKWARD,GRAMS",
    help="Of words projected, of words projected back, and of runs of letters. [default: those of the dictionary]",
)
@click.option(
    "--recall",
    type=float,
    metavar="SHARE",
    help="Find this share of the links wanted, as 0.95, in the fastest way: how many are compared is planned.",
)
@click.option("--exact", is_flag=True, help="Compare all documents with all, instead of the nearest by signatures.")
@click.option("--bits", type=int, default=Signed.bits, show_default=True, help="Bits of a signature.")
@click.option("--seed", type=int, default=Signed.seed, show_default=True, help="Other signatures for each seed.")
@click.option(
    "--compared",
    type=int,
    default=COMPARED,
    show_default=True,
    help="Without a threshold: so many targets that are nearest to a source are compared and ranked.",
)
@click.option("--tables", type=int, help="With a threshold: join signatures by a sliding window with so many tables.")
@click.option("--window", type=int, help="With a threshold: and with so many rows compared with each.")
@click.option("--set-aside-hubs", is_flag=True, help="Leave out targets that are the best match of very many.")
@column_options
@click.option(
    "--on-error",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Stop at a bad record, or write it to rejected.jsonl with the reason and go on.",
)
@memory_option
@output_options
def command(source: str, target: str, **options: Any) -> None:
    """Find the documents of TARGET that are about the same as those of SOURCE, in another language.

    SOURCE and TARGET are documents, each a file, a folder or a glob (see `sosie dedup`). Words are translated by a
    dictionary; without one, it is trained on --parallel text, or learnt from the two collections alone and written to
    OUTPUT/dictionary.
    """
    quiet, as_json, output = options["quiet"], options["as_json"], Output(options["output"], options["overwrite"])
    job = _linker(options)
    first, second = (source_of((path,), dict(options)) for path in (source, target))
    with progress(quiet or as_json) as shown:
        limits = {name: options[name] for name in ("memory", "threads")}
        report = job.run(first, second, output, **limits, progress=shown).report
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        say(*_lines(report, job))
        say(f"Written to {Path(output.path) / LINKS}; look at {Path(output.path) / PAGE} first")


def _linker(options: dict[str, Any]) -> Linker:
    if options["swap"] and not options["parallel"]:
        raise UsageError("--swap is for --parallel")
    for name in ("rounds", "aligner"):
        if is_given(name) and options["dictionary"]:
            raise UsageError(f"--{name} is for what is trained; a dictionary is taken as it is")
    if is_given("rounds") and options["parallel"]:
        raise UsageError("--rounds is for learning from the two collections; leave out --rounds or --parallel")
    for name in ("bits", "seed"):
        if is_given(name) and options["exact"]:
            raise UsageError(f"--{name} is for signatures; --exact does without: leave out one of them")
    if is_given("compared") and options["threshold"] is not None and options["k"] is None:
        raise UsageError(
            "--compared is for the best links of each document (-k); a --threshold compares all candidates"
        )
    return Linker(
        dictionary=options["dictionary"],
        parallel=list(options["parallel"]) or None,
        columns=Columns(swap=options["swap"]),
        training=TrainingSpec(aligner=options["aligner"]),
        weights=_weights(options["weights"]),
        signed=_signed(options),
        compared=options["compared"] if is_given("compared") else None,
        **{
            name: options[name]
            for name in (
                *("k", "threshold", "one_to_one", "mutual", "exact", "recall", "formula", "set_aside_hubs", "rounds"),
            )
        },
    )


def _signed(options: dict[str, Any]) -> Signed | None:
    """Return the signatures that were asked for, if any were."""
    window = _window(options)
    if window is None and not any(map(is_given, ("bits", "seed"))):
        return None
    return Signed(options["bits"], options["seed"], window=window)


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--weights: three numbers, as in 0.4,0.4,0.2; got {text!r}") from None


def _window(options: dict[str, Any]) -> Window | None:
    given = {name: options[name] for name in ("tables", "window") if options[name] is not None}
    if not given:
        return None
    if options["threshold"] is None or options["k"] is not None or options["exact"]:
        raise UsageError(f"--{next(iter(given))} is for a --threshold without -k and --exact")
    return Window(**given)


def _lines(report: LinkReport, job: Linker) -> list[str]:
    """Say what was found, how sure that is, and what to look at."""
    first, second = report.documents["a"], report.documents["b"]
    lines = [f"Note: {warning}" for warning in report.warnings]
    for number, done in enumerate(report.rounds, 1):
        lines.append(
            f"Round {number}: {done['taken']:,} of {counted(done['confident'], 'confident pair')} taken,"
            f" {counted(done['segments'], 'segment')}, {done['words']:,} words learnt"
        )
    lines.append(
        f"{counted(report.links, 'link')} of {report.linked:,} of {counted(first, 'document')},"
        f" with {counted(second, 'other')}"
    )
    left = sum(sum(side.values()) for side in report.left_out.values())
    if left:
        lines.append(f"{counted(left, 'document')} left out: fewer than five words to compare (left_out.jsonl)")
    if report.rejected:
        lines.append(f"{counted(report.rejected, 'record')} rejected: see rejected.jsonl")
    if report.recall is not None and report.recall < 1:
        low, high = report.interval or (report.recall, report.recall)
        of = "all such pairs" if job.wanted is None else f"the {job.wanted} most similar of each document"
        lines.append(
            f"Signatures brought about {percent(report.recall)} of {of} together"
            f" (95 % interval {percent(low)} to {percent(high)}); --exact compares all"
        )
    if report.plan is not None:
        way = "all with all" if report.plan["method"] == "link exact" else "the nearest by signatures"
        lines.append(f"Compared {way}: {Outcome(**report.plan)}")
    return lines
