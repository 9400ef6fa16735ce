"""`sosie index`: indexes of documents, built, changed and checked."""

from __future__ import annotations

import json
from typing import Any

import click

from sosie.cli.headings import HeadedCommand, described
from sosie.cli.kinds import build_options, built_with
from sosie.cli.options import (
    READING,
    column_options,
    output_options,
    print_options,
    refuse_reading,
    run_options,
    shingle_options,
    source_of,
    source_options,
)
from sosie.cli.progress import progress
from sosie.cli.render import render_left_out
from sosie.cli.say import say, say_json
from sosie.cli.signer import signer_options
from sosie.cli.task import PASSAGE, built_by, task_option
from sosie.errors import UsageError
from sosie.index.registry import AUTO, KINDS
from sosie.jobs.index import BuildReport, IndexBuilder, IndexCalibration, add_to_index, remove_from_index, verify_index
from sosie.jobs.inputs import are_signatures
from sosie.report.summary import counted, percent
from sosie.report.timing import Progress
from sosie.search.files import describe_index
from sosie.search.tasks import WORDS
from sosie.signatures.registry import METHODS
from sosie.storage.output import Output

BUILDING = {
    "Options": ("output", "task", "text_column", "id_column", "keep_texts", "overwrite"),
    "Reading": (*(name for name in READING if name not in ("text_column", "id_column")), "on_error"),
    "Passages": ("passages", "words", "overlap"),
    "What texts are compared by": ("width", "unit", "stem", "stop_words"),
    "Signatures instead of words": (
        *("method", "bits", "weighting", "seed", "signer", "minima", "rows", "b", "keys", "parameters"),
    ),
    "How signatures are searched": (
        "kind",
        "queries",
        *dict.fromkeys(each.name for kind in KINDS.values() for each in kind.options),
    ),
    "Running": ("threads", "quiet", "as_json", "config"),
}
CALIBRATING = {
    "Options": ("radius", "recall", "first", "flips", "exclude_self"),
    "Reading": READING,
    "Running": ("threads", "quiet", "as_json", "config"),
}
OWN = ("inputs", "output", "overwrite", "threads", "quiet", "as_json", "kind", "queries")


class InOrder(click.Group):
    """A group that lists its commands as they are written here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names."""
        return list(self.commands)


@click.group("index", cls=InOrder)
def command() -> None:
    """Build an index of documents, change it, and check it. `sosie search` asks it."""


@command.command("build", cls=HeadedCommand, headings=BUILDING, short_help="Build an index of documents or signatures.")
@source_options
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the index to.")
@task_option
@build_options
@click.option("--keep-texts", is_flag=True, help="Keep the texts, too: `sosie search --passages` shows them.")
@click.option("--passages", is_flag=True, help="Index overlapping passages of the documents instead of whole ones.")
@click.option("--words", type=int, help=f"Passages: words of each. [default: {PASSAGE}]")
@click.option("--overlap", type=int, help="Passages: words that neighbours share. [default: half of them]")
@signer_options
@shingle_options
@output_options
def build(inputs: tuple[str, ...], **options: Any) -> None:
    """Build an index of INPUT: documents (see `sosie dedup`), or what `sosie sign` wrote.

    `sosie search` finds documents in it by some of their words. For near-duplicates of whole documents, or for the
    place of a passage, say so with --for. How texts are read is kept with the index: `sosie search` reads queries so.
    """
    quiet, as_json = options["quiet"], options["as_json"]
    with progress(quiet or as_json) as shown:
        report, cut = _build(inputs, options, shown)
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        rows = counted(report.rows, "passage" if cut else "row")
        read = counted(report.documents, "document")
        say(f"{rows} of {read} indexed ({report.kind}, {report.digest})")
        if report.plan is not None:
            say(f"Chosen: {report.plan}")
        render_left_out(report.without_features, report.rejected)
        say(f"Written to {options['output']}")


described(build, "width", "Units in a shingle. [default: words and pairs of words; 3 for signatures]")
described(build, "method", "What stands for a document. [default: words; simhash where options are for signatures]")
next(each for each in build.params if each.name == "method").type = click.Choice([WORDS, *sorted(METHODS)])


def _build(inputs: tuple[str, ...], options: dict[str, Any], shown: Progress) -> tuple[BuildReport, bool]:
    parameters = built_with(options)
    output = Output(options["output"], options["overwrite"])
    if are_signatures(inputs):
        refuse_reading(inputs[0], options, (*OWN, *parameters))
        builder = IndexBuilder(kind=options["kind"] or AUTO, parameters=parameters, queries=options["queries"])
        return builder.from_signatures(inputs[0], output, progress=shown), False
    source, built = source_of(inputs, options), built_by(options)
    job = IndexBuilder(kind=built.kind, parameters=parameters, queries=options["queries"], form=built.form)
    report = job.from_documents(
        source, built.reader, output, reads=built.reads, threads=options["threads"], progress=shown
    )
    return report, built.form.windows is not None


@command.command("add", short_help="Add documents or saved signatures to an index.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@source_options
@run_options
def add(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Add INPUT to the index in DIR: documents, signed like those that are there, or what `sosie sign` wrote.

    An id that is in the index is an error, and nothing has changed. The new index takes the place of the old one as a
    whole; whoever has the old one open goes on with it.
    """
    quiet, as_json, threads = options["quiet"], options["as_json"], options["threads"]
    saved = are_signatures(inputs)
    if saved:
        refuse_reading(inputs[0], options, ("directory", "inputs", "threads", "quiet", "as_json"))
    documents = inputs[0] if saved else source_of(inputs, options)
    with progress(quiet or as_json) as shown:
        report = add_to_index(directory, documents, threads=threads, progress=shown)
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        say(f"{counted(report.added, 'row')} added; {directory} has {report.rows:,}")
        render_left_out(report.without_features, report.rejected)


@command.command(
    "calibrate",
    cls=HeadedCommand,
    headings=CALIBRATING,
    short_help="Measure how far searches of a probe index have to go for a recall.",
)
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--radius", type=int, required=True, help="The radius of the searches to come: bits that differ.")
@click.option("--recall", type=float, default=0.95, show_default=True, help="The share of all matches to be found.")
@click.option("--first", is_flag=True, help="Something is to be found for that share of the queries with a match.")
@click.option("--flips", is_flag=True, help="Estimate how likely bits flip from INPUT, too, and probe in that order.")
@click.option("--exclude-self", is_flag=True, help="What has the id of a query is no match: INPUT is in the index.")
@column_options
@run_options
def calibrate(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Measure on the queries of INPUT how many probes of the index in DIR, of the kind probes, reach a recall.

    INPUT are documents like the queries to come, or one directory that `sosie sign --volatility` wrote. Half of its
    matches choose the number of probes, the other half measure the recall. The index keeps both: from then on
    `sosie search --radius` makes so many probes, and says what recall is expected.
    """
    quiet, as_json, threads = options.pop("quiet"), options.pop("as_json"), options.pop("threads")
    job = IndexCalibration(**{name: options[name] for name in ("radius", "recall", "first", "flips", "exclude_self")})
    saved = are_signatures(inputs)
    if saved:
        own = ("radius", "recall", "first", "flips", "exclude_self", "threads")
        refuse_reading(inputs[0], options, own)
    sample = inputs[0] if saved else source_of(inputs, {**options, "on_error": "raise"})
    with progress(quiet or as_json) as shown:
        report = job.run(directory, sample, threads=threads, progress=shown)
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        found = "queries with a match" if report.first else "matches"
        say(
            f"{counted(report.probes, 'probe')} for each query: {percent(report.recall)} of {report.measured:,} "
            f"{found} within radius {report.radius} found"
        )


@command.command("remove", short_help="Remove documents from an index by their ids.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.argument("names", nargs=-1, metavar="[ID]...")
@click.option("--ids", "file", type=click.Path(dir_okay=False), help="A UTF-8 file with one id per line.")
@print_options
def remove(directory: str, names: tuple[str, ...], file: str | None, quiet: bool, as_json: bool) -> None:
    """Remove documents from the index in DIR by their ids, and their texts if it keeps them.

    An unknown id is an error, and nothing has changed. Of an index of passages, all passages of a document go.
    """
    if bool(names) == bool(file):
        raise UsageError("name the documents to remove: either ID..., or --ids FILE")
    report = remove_from_index(directory, _read_ids(file) if file else names)
    if as_json:
        say_json(report)
    elif not quiet:
        say(f"{counted(report['removed'], 'row')} removed; {directory} has {report['rows']:,}")


def _read_ids(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as lines:
            return [line.rstrip("\r\n") for line in lines if line.strip()]
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror}). Check the path.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: is not UTF-8 ({error}).") from error


@command.command("info", short_help="Say what an index is, without reading it.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@print_options
def info(directory: str, quiet: bool, as_json: bool) -> None:
    """Say what the index in DIR is: kind, rows, bits, how its rows were signed, and sizes. Nothing else is read."""
    said = describe_index(directory)
    if as_json:
        say_json(said)
    elif not quiet:
        say(*(f"{name:>12}: {value}" for name, value in _lines(said)))


def _lines(said: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("kind", f"{said['kind'] or '?'} ({said['class']}, format {said['version']})")]
    lines.append(("rows", f"{said['rows']:,}" + (f", {said['removed']:,} removed" if said["removed"] else "")))
    lines.append(("ids", said["ids"]))
    lines += [(name, f"{said[name]:,}") for name in ("bits", "tables") if name in said]
    lines += [(name.replace("_", " "), str(value)) for name, value in said["parameters"].items() if value is not None]
    lines.append(("digest", said["digest"] or "unknown"))
    spec = said["spec"]
    if spec:
        lines += [(name, str(spec[name])) for name in ("method", "weighting", "minima") if name in spec]
        lines += [(name, str(value)) for name, value in spec["shingles"].items() if name in ("width", "unit")]
    lines.append(("signer", json.dumps(spec) if spec else "none: it takes signatures only"))
    if said["passages"]:
        lines.append(
            ("passages", "of {words:,} words, of which neighbours share {overlap:,}".format(**said["passages"]))
        )
    return lines + [(f"{name} size", f"{size:,} bytes") for name, size in said["bytes"].items() if size]


@command.command("verify", short_help="Check every file of an index.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@print_options
def verify(directory: str, quiet: bool, as_json: bool) -> None:
    """Check every file of the index in DIR: sizes, checksums, and whether everything fits together.

    Damage is an error that names the file, with exit code 1.
    """
    report = verify_index(directory)
    if as_json:
        say_json(report)
    elif not quiet:
        checked = ", ".join(report["checked"])
        say(f"{directory}: {checked} checked, {report['rows']:,} rows; everything is as it was written")
