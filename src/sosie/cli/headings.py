"""Help under headings: what most people need first, the rest by what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

OTHERS = "Other options"


class HeadedCommand(click.Command):
    """A command whose help lists its options under headings, as `click.command(..., cls=HeadedCommand, headings=...)`.

    `headings` name the options of each by their parameters, in the order of the help. What is under none of them is
    listed in the end, and `--help` itself under the first.
    """

    def __init__(self, *args: Any, headings: Mapping[str, Sequence[str]], **named: Any) -> None:
        super().__init__(*args, **named)
        self.headings = {heading: list(names) for heading, names in headings.items()}
        known = {parameter.name for parameter in self.params}
        unknown = [name for names in self.headings.values() for name in names if name not in known]
        if unknown:
            raise ValueError(f"{self.name}: no parameter is called {', '.join(unknown)}")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those of a heading in the order that it names them."""
        lines = {
            each.name: each.get_help_record(ctx) for each in self.get_params(ctx) if isinstance(each, click.Option)
        }
        asks = self.get_help_option(ctx)
        below = {name for names in self.headings.values() for name in names}
        others = [name for name in lines if name not in below and (asks is None or name != asks.name)]
        for place, (heading, names) in enumerate([*self.headings.items(), (OTHERS, others)]):
            listed = [line for name in names if (line := lines.get(name)) is not None]
            if place == 0 and asks is not None and (said := asks.get_help_record(ctx)) is not None:
                listed.append(said)
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed)


def described(command: click.Command, name: str, help: str) -> None:
    """Say something else of an option that several commands share, and leave its default to the command."""
    option = next(each for each in command.params if each.name == name)
    assert isinstance(option, click.Option)
    option.help, option.default, option.show_default = help, None, False
