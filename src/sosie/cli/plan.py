"""`sosie plan`: which method, with which parameters, what it finds, takes and holds, before anything runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any, get_args

import click

from sosie.cli.headings import HeadedCommand
from sosie.cli.progress import progress
from sosie.cli.running import is_given, run_options
from sosie.cli.say import say, say_json
from sosie.errors import UsageError
from sosie.jobs.planning.plan import Planning
from sosie.planner.command import commands
from sosie.planner.curve import plot, trade_offs
from sosie.planner.explain import constants, explain
from sosie.planner.wish import MEASURES, WEIGHTINGS, Task
from sosie.report.timing import Progress
from sosie.storage.output_file import check_file, output_file

HEADINGS = {
    "What is planned": (
        "task",
        "rows",
        "bits",
        "radius",
        "k",
        "queries",
        "single",
        "similarity",
        "measure",
        "weighting",
    ),
    "What it may cost": ("recall", "memory", "time"),
    "What else is told": ("threshold", "page", "svg", "overwrite", "machine", "measure_again"),
    "Running": ("threads", "quiet", "as_json", "config"),
}
ASKED = (*HEADINGS["What is planned"], *HEADINGS["What it may cost"])


class PlanCommand(HeadedCommand):
    """A command that has the options of documents only where there are some, or its help is asked for.

    What reads documents takes longer to load than a plan to make.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options, those of documents with them where there is an input."""
        if self._has_documents(ctx, args):
            reading = import_module("sosie.cli.reading")
            known = {each.name for each in self.params}
            self.params += [each for each in reading.parameters() if each.name not in known]
            self.headings |= reading.HEADINGS
        return super().parse_args(ctx, args)

    def _has_documents(self, ctx: click.Context, args: list[str]) -> bool:
        try:
            given, _, _ = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError:
            return True
        inputs = given.get("inputs")
        return bool(isinstance(inputs, tuple | list) and inputs) or "config" in given or "help" in given


@click.command("plan", cls=PlanCommand, headings=HEADINGS)
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "--task", type=click.Choice(get_args(Task)), help="What is to be done. [default: what the other options are for]"
)
@click.option("--rows", metavar="NUMBER", help="How many documents or signatures there are, as in 10M.")
@click.option("--bits", type=int, help="Signatures: their bits.")
@click.option("--radius", type=int, help="Signatures: most bits that may differ.")
@click.option("-k", "--nearest", "k", type=int, help="Signatures: so many nearest of each query, instead of a radius.")
@click.option(
    "--queries", metavar="NUMBER", help="Signatures: so many are searched, or matched as a batch. [default: all pairs]"
)
@click.option("--single", is_flag=True, help="Queries come one after the other, not in one batch.")
@click.option("--similarity", type=float, help="Documents: least similarity. [default: 0.8]")
@click.option(
    "--measure",
    type=click.Choice(MEASURES),
    default="jaccard",
    show_default=True,
    help="Documents: what similar means.",
)
@click.option(
    "--weighting",
    type=click.Choice(WEIGHTINGS),
    default="binary",
    show_default=True,
    help="Documents: how features weigh, for the cosine.",
)
@click.option("--recall", type=float, default=1.0, show_default=True, help="The share of all that has to be found.")
@click.option("--memory", metavar="SIZE", help="Most memory, as in 4GB. [default: what this machine has]")
@click.option("--time", metavar="TIME", help="Most time, as in 60s, 5min or 2h. [default: no limit]")
@click.option("--threshold", is_flag=True, help="Documents: show which similarities there are, to choose a threshold.")
@click.option("--page", type=click.Path(dir_okay=False), metavar="FILE", help="--threshold: write a page of it, too.")
@click.option("--svg", type=click.Path(dir_okay=False), metavar="FILE", help="Draw the curves to a file, too.")
@click.option("--overwrite", is_flag=True, help="Replace the file of --svg or --page.")
@click.option("--machine", is_flag=True, help="Show what single steps take on this machine; measure it, if not yet.")
@click.option("--measure-again", is_flag=True, help="--machine: measure it again.")
@run_options
def command(inputs: tuple[str, ...], **options: Any) -> None:
    """Say which method a run should take, with which parameters, what it finds, and what time and memory it takes.

    Without INPUT it is planned for so many --rows: documents, or with --bits signatures. INPUT are documents (see
    `sosie dedup`), or one directory that `sosie sign` wrote: there, what can be counted is counted. Nothing is run.
    """
    quiet, as_json = options["quiet"], options["as_json"]
    _check(inputs, options)
    with progress(quiet or as_json) as shown:
        if options["machine"]:
            _machine(options, shown)
            return
        if options["threshold"]:
            _threshold(inputs, options, shown)
            return
        reading = import_module("sosie.cli.reading") if inputs else None
        given, shingles = reading.given(inputs, options) if reading else (None, None)
        asked = Planning(**{name: options[name] for name in ASKED}, shingles=shingles)
        plan = asked.run(given, threads=options["threads"])
    if options["svg"]:
        drawn = import_module("sosie.jobs.planning.picture").picture(plan)
        with output_file(options["svg"], options["overwrite"]) as file:
            file.write_text(drawn, "utf-8")
    chosen, more = plan.chosen, reading.typed(options) if reading else []
    run = [] if chosen is None else commands(chosen, plan.wish, inputs, more)
    if as_json:
        say_json({**plan.to_dict(), "commands": run, "curves": [each.to_dict() for each in trade_offs(plan)]})
    elif not quiet:
        curves = trade_offs(plan)
        say(*explain(plan), *(["", *plot(curves)] if len(curves) > 1 or len(curves[0].settings) > 1 else []))
        say(*(["", "To run it:", "", *(f"  {line}" for line in run)] if run else []))
        if options["svg"]:
            say("", f"Written to {options['svg']}")


def _check(inputs: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse options that have nothing to do with each other, and a file that cannot be written."""
    instead = [name for name in ("machine", "threshold") if options[name]]
    planned = [name for name in (*ASKED, "svg") if is_given(name)]
    if len(instead) > 1:
        raise UsageError("--machine and --threshold tell different things: give one of the two")
    if instead and planned and not (instead == ["threshold"] and set(planned) <= {"measure", "memory"}):
        raise UsageError(f"--{planned[0]} is for a plan: leave it out, or --{instead[0]}")
    if options["machine"] and inputs:
        raise UsageError(f"{inputs[0]}: --machine tells of this machine, not of documents: leave one of the two out")
    if options["measure_again"] and not options["machine"]:
        raise UsageError("--measure-again is for --machine")
    if options["threshold"] and not inputs:
        raise UsageError("--threshold needs documents: name them as INPUT")
    if options["page"] and not options["threshold"]:
        raise UsageError("--page is for --threshold; --svg draws a plan")
    files = [options[name] for name in ("svg", "page") if options[name]]
    if options["overwrite"] and not files:
        raise UsageError("--overwrite is for --svg or --page")
    for file in files:
        check_file(file, options["overwrite"])


def _machine(options: dict[str, Any], shown: Progress) -> None:
    """Show the constants of this machine."""
    measured = import_module("sosie.jobs.planning.machine").measured_machine
    machine = measured(again=options["measure_again"], threads=options["threads"], progress=shown)
    if options["as_json"]:
        say_json(machine.to_dict())
    elif not options["quiet"]:
        say(*constants(machine))


def _threshold(inputs: tuple[str, ...], options: dict[str, Any], shown: Progress) -> None:
    """Show which similarities there are among documents, and what would go at some thresholds."""
    source, shingles = import_module("sosie.cli.reading").given(inputs, options)
    if isinstance(source, list):
        raise UsageError(f"{inputs[0]}: holds signatures, and a threshold is of documents: give those")
    asked = {"shingles": shingles, "similarity": options["measure"], "memory": options["memory"]}
    advise = import_module("sosie.jobs.planning.threshold").advise
    advice = advise(source, **asked, threads=options["threads"], progress=shown)
    if options["page"]:
        advice.write_page(options["page"], overwrite=options["overwrite"])
    if options["as_json"]:
        say_json(advice.to_dict())
    elif not options["quiet"]:
        import_module("sosie.cli.threshold").show(advice)
        say(*([f"Written to {options['page']}"] if options["page"] else []))
