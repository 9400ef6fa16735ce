"""The options that several commands share."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource

from sosie.documents.html import Content
from sosie.documents.input import MAX_EXPANSION
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.features.weighting import WEIGHTINGS
from sosie.matches.sets.similarity import Measure
from sosie.matches.sets.threshold import as_fraction
from sosie.storage.size import parse_size

F = TypeVar("F", bound=Callable[..., Any])

SHINGLES = ("width", "unit", "stem", "stop_words")


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
    """Add which columns are read, how, and how far files may expand."""
    text = click.option("--text-column", default="text", show_default=True, help="The text; meta.body is inside meta.")
    ids = click.option("--id-column", help="The column that holds the ids. [default: id if there is one]")
    html = click.option("--html", is_flag=True, help="The texts are HTML: compare their main content.")
    content = click.option(
        "--html-content",
        type=click.Choice(get_args(Content)),
        help="The texts are HTML: compare this much of them. [default: main]",
    )
    expansion = click.option(
        "--max-expansion",
        type=click.IntRange(min=1),
        default=MAX_EXPANSION,
        show_default=True,
        help="A compressed file may expand to so many times its size plus 64 MiB.",
    )
    return text(ids(html(content(expansion(function)))))


def shingle_options(function: F) -> F:
    """Add what counts as evidence."""
    width = click.option("--width", type=int, default=3, show_default=True, help="Units in a shingle.")
    units = click.Choice(["word", "char"])
    unit = click.option("--unit", type=units, default="word", show_default=True, help="What shingles are made of.")
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


def memory_option(function: F) -> F:
    """Add how much memory a run may use."""

    def parse(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
        return None if value is None else parse_size(value)

    said = "Use no more memory than this, as in 4GB; disk instead."
    return click.option("--memory", metavar="SIZE", callback=parse, help=said)(function)


def output_options(function: F) -> F:
    """Add how a command runs that writes a directory."""
    overwrite = click.option("--overwrite", is_flag=True, help="Replace an output directory that Sosie wrote.")
    return overwrite(run_options(function))


def run_options(function: F) -> F:
    """Add how every command runs that computes."""
    threads = click.option("--threads", type=click.IntRange(min=1), help="Threads. [default: all cores]")
    return threads(print_options(function))


def print_options(function: F) -> F:
    """Add where options come from and what is printed."""
    for option in reversed(
        (
            click.option(
                "--config",
                type=click.Path(dir_okay=False),
                is_eager=True,
                expose_value=False,
                callback=_read_config,
                help="A TOML file with options by name, as in threshold = 0.8; options given here win.",
            ),
            click.option("--quiet", is_flag=True, help="Print nothing but errors."),
            click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
        )
    ):
        function = option(function)
    return function


def _read_config(ctx: click.Context, param: click.Parameter, path: str | None) -> None:
    """Take the options of a TOML file as defaults; a name that the command does not have is wrong usage."""
    if path is None:
        return
    try:
        with open(path, "rb") as file:
            given = {name.replace("-", "_"): value for name, value in tomllib.load(file).items()}
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}). Check the path.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML ({error}).") from error
    flags = {option.name: option for option in ctx.command.params if isinstance(option, click.Option)}
    names = {spelled.lstrip("-").replace("-", "_"): name for name, option in flags.items() for spelled in option.opts}
    known = {name: target for name, target in names.items() if len(name) > 1 and name not in ("config", "help")}
    for name, value in given.items():
        if name not in known or isinstance(value, dict):
            there = ", ".join(sorted(known))
            raise UsageError(f"{path}: there is no option {name!r}. The options are: {there}.")
        if flags[known[name]].is_flag != isinstance(value, bool):
            raise UsageError(f"{path}: {name} takes {'true or false' if flags[known[name]].is_flag else 'a value'}.")
        if isinstance(value, list) and not flags[known[name]].multiple:
            raise UsageError(f"{path}: {name} takes one value.")
    ctx.default_map = {known[name]: _default(flags[known[name]], value) for name, value in given.items()}


def _default(option: click.Option, value: Any) -> Any:
    """Return a value of a TOML file as if it had been typed; an option that may be repeated takes one or a list."""
    if isinstance(value, bool):
        return value
    values = [str(each) for each in (value if isinstance(value, list) else [value])]
    return values if option.multiple else values[0]


def source_of(inputs: tuple[str, ...], options: dict[str, Any]) -> Source:
    """Take the source options out of a command's options."""
    return Source(
        [os.fspath(path) for path in inputs],
        text_column=options.pop("text_column"),
        id_column=options.pop("id_column"),
        on_error=options.pop("on_error"),
        html=html_of(options.pop("html"), options.pop("html_content")),
        max_expansion=options.pop("max_expansion"),
    )


def html_of(is_html: bool, content: Content | None) -> Content | None:
    """Return how much of HTML is compared, from both options; None where texts are not HTML."""
    return content or ("main" if is_html else None)


def shingles_of(options: dict[str, Any]) -> Shingles:
    """Take the shingle options out of a command's options."""
    return Shingles(**{name: options.pop(name) for name in SHINGLES})


def is_given(name: str) -> bool:
    """Whether an option of the running command was given, there or in a configuration file."""
    return click.get_current_context().get_parameter_source(name) not in (ParameterSource.DEFAULT, None)


def refuse_reading(path: str, options: dict[str, Any], own: tuple[str, ...]) -> None:
    """Refuse options that say how documents are read or signed, where signatures were saved; `own` are the others."""
    given = [name for name in options if name not in own and is_given(name)]
    if given:
        named = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{named}: for documents; {path} holds signatures, which are taken as they are")
