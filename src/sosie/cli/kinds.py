"""The options of every kind of index, made from the table of kinds, and how texts are cut into passages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sosie.cli.options import F
from sosie.index.registry import AUTO, COMING, HINTS, KINDS, Option
from sosie.search.windows import Windows

_ASKED = {"radius": "what will be asked for are all rows within it, not the nearest."}  # by hints


def build_options(function: F) -> F:
    """Add the kind of an index, and what the kinds are built with."""
    said = "How it searches. [default: auto, the fastest exact one for these rows; keys for minhash keys]"
    kind = click.option("--kind", type=click.Choice([AUTO, *KINDS]), help=said)
    coming = "Auto: how queries will come. [default: the kind is good for both]"
    queries = click.option("--queries", type=click.Choice(COMING), help=coming)
    return kind(queries(_options({name: kind.options for name, kind in KINDS.items()})(function)))


def effort_options(function: F) -> F:
    """Add how far the approximate kinds search."""
    return _options({name: kind.effort for name, kind in KINDS.items()})(function)


def built_with(options: dict[str, Any]) -> dict[str, Any]:
    """Return what the kinds are built with, out of a command's options."""
    return {each.name: options[each.name] for kind in KINDS.values() for each in kind.options}


def efforts_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return how far to search, out of a command's options."""
    return {each.name: options[each.name] for kind in KINDS.values() for each in kind.effort}


def windows_of(options: dict[str, Any], words: int) -> Windows:
    """Return how texts are cut into passages: of so many words, which neighbours share by half, if nothing is said."""
    length = words if options["words"] is None else options["words"]
    return Windows(length, length // 2 if options["overlap"] is None else options["overlap"])


def _options(owned: dict[str, tuple[Option, ...]]) -> Callable[[F], F]:
    """Return what adds an option for each name; the help of one that several kinds have tells all of its meanings."""
    meanings: dict[str, list[str]] = {}
    types: dict[str, Any] = {}
    for kind, options in owned.items():
        for option in options:
            if option.name in HINTS and option in KINDS[kind].options:
                meanings.setdefault(option.flag, []).append(f"Auto: {_ASKED[option.name]}")
            meanings.setdefault(option.flag, []).append(f"{kind.capitalize()}: {option.meaning}")
            types[option.flag] = click.Choice(option.type) if isinstance(option.type, tuple) else option.type

    def add(function: F) -> F:
        for flag in reversed(meanings):
            function = click.option(flag, type=types[flag], help=" ".join(meanings[flag]))(function)
        return function

    return add
