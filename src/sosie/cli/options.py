"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, get_args

import click

from sosie.cli.running import F as F
from sosie.cli.running import is_given as is_given
from sosie.cli.running import memory_option as memory_option
from sosie.cli.running import output_options as output_options
from sosie.cli.running import print_options as print_options
from sosie.cli.running import run_options as run_options
from sosie.documents.formats import CHOICES
from sosie.documents.html import Content
from sosie.documents.input import MAX_EXPANSION
from sosie.documents.memory.listed import Paths
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS
from sosie.jobs.shards.part import Part
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction

SHINGLES = ("width", "unit", "stem", "stop_words")
UNITS = click.Choice(["word", "char", "code"])


def threshold_option(default: str | None) -> Callable[[F], F]:
    """Add the threshold, kept as the exact fraction that its decimal form says."""

    def parse(ctx: click.Context, param: click.Parameter, value: str | None) -> Fraction | None:
        return None if value is None else as_fraction(value)

    return click.option(
        "--threshold",
        metavar="SIMILARITY",
        default=default,
        show_default=default is not None,
        callback=parse,
        help="Documents: least similarity, inclusive." + ("" if default else " [default: 0.8]"),
    )


def source_options(function: F) -> F:
    """Add the inputs and how they are read."""
    inputs = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
    on_error = click.option(
        "--on-error",
        type=click.Choice(["raise", "skip"]),
        default="raise",
        show_default=True,
        help="Stop at a bad record, or write it to rejected.jsonl with the reason and go on.",
    )
    return inputs(column_options(on_error(function)))


def column_options(function: F) -> F:
    """Add which files and columns are read, how, and how far files may expand."""
    return _reading_options("--format", "--input-format")(function)


def query_options(function: F) -> F:
    """Add the same for a command whose --format is that of its output."""
    return _reading_options("--input-format")(function)


# The options that say how documents are read, as `source_of` takes them.
READING = (
    *("text_column", "id_column", "html", "html_content", "input_format", "include", "exclude", "delimiter"),
    *("encoding", "max_expansion"),
)


def _reading_options(*format_names: str) -> Callable[[F], F]:
    decorators = (
        click.option(
            "--text-column",
            multiple=True,
            default=["text"],
            show_default=True,
            help="The text; meta.body is inside meta. Repeated: texts of several columns, joined by newlines.",
        ),
        click.option(
            "--id-column",
            help="The column that holds the ids; none numbers the documents instead. [default: id if there is one]",
        ),
        click.option("--html", is_flag=True, help="The texts are HTML: compare their main content."),
        click.option(
            "--html-content",
            type=click.Choice(get_args(Content)),
            help="The texts are HTML: compare this much of them. [default: main]",
        ),
        click.option(
            *format_names,
            "input_format",
            type=click.Choice(CHOICES),
            help="What all inputs are, whatever their suffix; text: every file is a document. [default: by the suffix]",
        ),
        click.option(
            "--include",
            multiple=True,
            metavar="GLOB",
            help="Of folders, read only what matches, as in '*.py' or 'docs/**'; can be repeated.",
        ),
        click.option(
            "--exclude", multiple=True, metavar="GLOB", help="Of folders, leave out what matches; can be repeated."
        ),
        click.option(
            "--delimiter",
            metavar="CHARACTER",
            help="CSV: what separates fields. [default: a comma, for .tsv a tab; another if only that fits the header]",
        ),
        click.option("--encoding", help="CSV, JSON and text files: their encoding, as in cp1252. [default: utf-8]"),
        click.option(
            "--max-expansion",
            type=click.IntRange(min=1),
            default=MAX_EXPANSION,
            show_default=True,
            help="A compressed file may expand to so many times its size plus 64 MiB.",
        ),
    )

    def decorate(function: F) -> F:
        for option in reversed(decorators):
            function = option(function)
        return function

    return decorate


def shingle_options(function: F) -> F:
    """Add what counts as evidence."""
    width = click.option("--width", type=int, default=3, show_default=True, help="Units in a shingle.")
    unit = click.option(
        "--unit",
        type=UNITS,
        default="word",
        show_default=True,
        help="What shingles are made of. Code: identifiers, numbers and operators, as they are written.",
    )
    stem = click.option("--stem", metavar="LANGUAGE", help="Compare stems of words: Snowball's, as in en or english.")
    stop_words = click.option(
        "--stop-words", metavar="LANGUAGE|FILE", help="Leave out the stop words of a language, or of a file of words."
    )
    return width(unit(stem(stop_words(function))))


def measure_options(function: F) -> F:
    """Add what similar means."""
    similarity = click.option(
        "--similarity",
        type=click.Choice(get_args(Measure)),
        default="jaccard",
        show_default=True,
        help="Containment: how much of the smaller document is in the larger one.",
    )
    weights = click.Choice(WEIGHTINGS)
    weighting = click.option(
        "--weighting", type=weights, default="binary", show_default=True, help="Cosine: how features weigh."
    )
    return similarity(weighting(function))


def shard_option(*, required: bool) -> Callable[[F], F]:
    """Add which part of the work is to be done."""

    def parse(ctx: click.Context, param: click.Parameter, value: str | None) -> Part | None:
        return None if value is None else Part.parse(value)

    return click.option(
        "--shard",
        "part",
        metavar="I/N",
        required=required,
        callback=parse,
        help="Only the I-th of N parts, as in 3/16; whole files, in their order.",
    )


def source_of(inputs: Sequence[str], options: dict[str, Any], **changed: Any) -> Source:
    """Take the source options out of a command's options; some may be `changed`."""
    given = {name: options.pop(name) for name in READING}
    html = html_of(given.pop("html"), given.pop("html_content"))
    taken = {"format": given.pop("input_format"), "html": html, **given}
    if "on_error" in options:
        taken["on_error"] = options.pop("on_error")
    return Source(Paths(inputs), **{**taken, **changed})


def html_of(is_html: bool, content: Content | None) -> Content | None:
    """Return how much of HTML is compared, from both options; None where texts are not HTML."""
    return content or ("main" if is_html else None)


def shingles_of(options: dict[str, Any]) -> Shingles:
    """Take the shingle options out of a command's options."""
    return Shingles(**{name: options.pop(name) for name in SHINGLES})


def refuse_reading(path: str, options: dict[str, Any], own: tuple[str, ...]) -> None:
    """Refuse options that say how documents are read or signed, where signatures were saved; `own` are the others."""
    given = [name for name in options if name not in own and is_given(name)]
    if given:
        named = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{named}: for documents; {path} holds signatures, which are taken as they are")
