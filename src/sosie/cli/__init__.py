"""One file per command, thin: parse, call, render.

Commands are imported when they run, so that `sosie --help` loads neither Numba nor Arrow.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from sosie import __version__
from sosie.cli.say import say
from sosie.cli.signals import Terminated, terminated
from sosie.errors import SosieError, UsageError
from sosie.shown import printable

COMMANDS = {
    "dedup": "Remove near-duplicates, every one of them verified.",
    "sign": "Turn documents into signatures or keys, saved as files.",
    "index": "Build an index of documents, and change or check it.",
    "search": "Find what an index holds that is like a text.",
    "join": "Find all similar pairs of one collection, or of two.",
    "batch": "Match new documents with a store of signatures, and append them.",
    "shards": "Remove near-duplicates in shards, stage by stage, on many machines.",
    "link": "Find the documents of another language that are about the same.",
    "dictionary": "Make a dictionary of two languages, and look words up in it.",
    "plan": "Say which method and parameters a run should take, and what that costs.",
    "evaluate": "Measure recall and precision of a result.",
    "inspect": "Look at a collection before anything is done with it.",
    "warm": "Compile everything beforehand, once on a machine.",
    "demo": "De-duplicate a generated corpus with known truth.",
}


class Commands(click.Group):
    """A group that knows its commands by name and imports each when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's file."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"sosie.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a name that there is not is told with the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, 1)
            meant = f" Did you mean '{near[0]}'?" if near else f" The commands are: {', '.join(COMMANDS)}."
            ctx.fail(f"No such command '{args[0]}'.{meant}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **named: Any) -> click.Context:
        """Read the command line up to the command; what was typed is shown so that it can be printed."""
        with _printable():
            return super().make_context(*args, **named)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an interrupt has its usual exit code instead of Click's, which is that of bad data."""
        try:
            with _printable():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            ended = isinstance(error, Terminated)
            with suppress(OSError):  # a terminal that is closed
                notes = getattr(error, "__notes__", [])
                say(" ".join([f"{'Terminated' if ended else 'Interrupted'}; nothing was written.", *notes]), err=True)
            ctx.exit(128 + (error.number if isinstance(error, Terminated) else signal.SIGINT))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sosie")
def sosie() -> None:
    """Find every lookalike in a text collection, verified, with the recall stated."""


@contextmanager
def _printable() -> Iterator[None]:
    """Let no error of Click's hold what a terminal would take for a command."""
    try:
        yield
    except click.ClickException as error:
        vars(error)["message"] = printable(error.message, lines=True)
        raise


def main() -> None:
    """Run the command line: exit code 2 for wrong usage, 1 for bad data, no traceback for either."""
    try:
        with terminated():
            sosie(prog_name="sosie")
    except SosieError as error:
        say(f"Error: {error}", err=True)
        sys.exit(2 if isinstance(error, UsageError) else 1)
