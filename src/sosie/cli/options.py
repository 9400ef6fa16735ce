"""The options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import click

from sosie.documents.source import Source
from sosie.features.shingles import Shingles
from sosie.matches.similarity import as_fraction

F = TypeVar("F", bound=Callable[..., Any])


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
        help="Documents: least Jaccard similarity, inclusive." + ("" if default else " [default: 0.8]"),
    )


def source_options(function: F) -> F:
    """Add the inputs and how they are read."""
    for option in reversed(
        (
            click.argument("inputs", nargs=-1, required=True, metavar="INPUT..."),
            click.option("--text-column", default="text", show_default=True, help="The column that holds the text."),
            click.option("--id-column", help="The column that holds the ids. [default: id if there is one]"),
            click.option(
                "--on-error",
                type=click.Choice(["raise", "skip"]),
                default="raise",
                show_default=True,
                help="Stop at a bad record, or write it to rejected.jsonl with the reason and go on.",
            ),
        )
    ):
        function = option(function)
    return function


def shingle_options(function: F) -> F:
    """Add what counts as evidence."""
    width = click.option("--width", type=int, default=3, show_default=True, help="Units in a shingle.")
    units = click.Choice(["word", "char"])
    unit = click.option("--unit", type=units, default="word", show_default=True, help="What shingles are made of.")
    return width(unit(function))


def run_options(function: F) -> F:
    """Add how the command runs."""
    for option in reversed(
        (
            click.option("--overwrite", is_flag=True, help="Replace an output directory that Sosie wrote."),
            click.option("--threads", type=click.IntRange(min=1), help="Threads. [default: all cores]"),
            click.option("--quiet", is_flag=True, help="Print nothing but errors."),
            click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
        )
    ):
        function = option(function)
    return function


def source_of(inputs: tuple[str, ...], options: dict[str, Any]) -> Source:
    """Take the source options out of a command's options."""
    return Source(
        [os.fspath(path) for path in inputs],
        text_column=options.pop("text_column"),
        id_column=options.pop("id_column"),
        on_error=options.pop("on_error"),
    )


def shingles_of(options: dict[str, Any]) -> Shingles:
    """Take the shingle options out of a command's options."""
    return Shingles(width=options.pop("width"), unit=options.pop("unit"))
