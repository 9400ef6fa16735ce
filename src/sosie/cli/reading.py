"""How `sosie plan` reads documents: options that it has where there are some, and what they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from sosie.cli.options import (
    READING,
    SHINGLES,
    column_options,
    is_given,
    refuse_reading,
    shingle_options,
    shingles_of,
    source_of,
)
from sosie.documents.memory.listed import Paths
from sosie.documents.source import Source
from sosie.features.shingles import Shingles
from sosie.jobs.inputs import are_signatures

HEADINGS = {"Reading documents": list(READING), "What documents are compared by": list(SHINGLES)}


@click.command()
@column_options
@shingle_options
def _reading() -> None:
    """Have the options."""


def parameters() -> list[click.Parameter]:
    """Return the options."""
    return list(_reading.params)


def given(inputs: tuple[str, ...], options: Mapping[str, Any]) -> tuple[Paths | Source, Shingles]:
    """Return one directory of signatures as its path, or documents as a source, and what these are compared by."""
    shingles = shingles_of({name: options[name] for name in SHINGLES})
    if are_signatures(inputs):
        refuse_reading(inputs[0], {name: options[name] for name in (*READING, *SHINGLES)}, ())
        return Paths(inputs), shingles
    return source_of(inputs, {name: options[name] for name in READING}, on_error="skip"), shingles


def typed(options: Mapping[str, Any]) -> list[str]:
    """Return those of the options that were given, as they are typed."""
    words: list[str] = []
    for option in (each for each in _reading.params if each.name is not None and is_given(each.name)):
        value = options[option.name or ""]
        for each in value if option.multiple else [value]:
            words += [option.opts[0]] if each is True else [option.opts[0], str(each)]
    return words
