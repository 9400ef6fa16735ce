"""`sosie index`: indexes of documents, built, changed and checked."""

from __future__ import annotations

from importlib import import_module

import click

SUBCOMMANDS = {
    "build": ("index_build", "Build an index of documents or saved signatures."),
    "add": ("index_change", "Add documents or saved signatures to an index."),
    "remove": ("index_change", "Remove documents from an index by their ids."),
    "info": ("index_look", "Say what an index is, without reading it."),
    "verify": ("index_look", "Check every file of an index."),
}


class Subcommands(click.Group):
    """A group that imports each of its commands when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's file."""
        if cmd_name not in SUBCOMMANDS:
            return None
        found: click.Command = getattr(import_module(f"sosie.cli.{SUBCOMMANDS[cmd_name][0]}"), cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (_, said) in SUBCOMMANDS.items()])


@click.command("index", cls=Subcommands)
def command() -> None:
    """Build an index of documents, change it, and check it. `sosie search` asks it."""
