"""The one way from a command to a terminal: nothing that is printed can be a command to it."""

from __future__ import annotations

from typing import Any

import click

from sosie.shown import as_json, printable


def say(*lines: str, err: bool = False) -> None:
    """Print lines, each as one line, with escapes for what a terminal would take for a command."""
    click.echo("\n".join(map(printable, lines)), err=err)


def say_json(value: Any) -> None:
    """Print a value as one line of JSON, in ASCII."""
    click.echo(as_json(value, ensure_ascii=True))
