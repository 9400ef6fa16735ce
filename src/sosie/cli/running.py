"""How every command runs: threads, memory, where its options come from, and what is printed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from sosie.cli.progress import notices
from sosie.errors import UsageError
from sosie.storage.size import parse_size

F = TypeVar("F", bound=Callable[..., Any])


def is_given(name: str) -> bool:
    """Whether an option of the running command was given, there or in a configuration file."""
    return click.get_current_context().get_parameter_source(name) not in (ParameterSource.DEFAULT, None)


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
            click.option("--quiet", is_flag=True, callback=_quieten, help="Print nothing but errors."),
            click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
        )
    ):
        function = option(function)
    return function


def _quieten(ctx: click.Context, param: click.Parameter, quiet: bool) -> bool:
    """Hold back what Sosie has to say beside its results while the command runs, such as that it compiles."""
    ctx.with_resource(notices(quiet))
    return quiet


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
            near = get_close_matches(name, known, 1)
            meant = f" Did you mean {near[0]!r}?" if near else f" The options are: {there}."
            raise UsageError(f"{path}: there is no option {name!r}.{meant}")
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
