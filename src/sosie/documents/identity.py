"""What tells two runs over files apart without reading them: paths, sizes and times, and how they are read."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from sosie.documents.reading import Reading
from sosie.documents.source import Source
from sosie.documents.standard_input import LABEL

_IRRELEVANT = ("paths", "batch_size")  # the inputs stand for the paths; batches never change results


def identity(source: Source, reading: Reading) -> list[Any]:
    """Return the options of a source, as they were resolved, and all its inputs in order.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     source = Source(file.name)
    ...     identity(source, source.batches())[0]
    {'text_column': 'text', 'id_column': None, 'on_error': 'raise', 'html': None, 'max_expansion': 200}
    """
    options = {field.name: getattr(source, field.name) for field in dataclasses.fields(source)}
    given = {name: value for name, value in options.items() if name not in _IRRELEVANT}
    columns = [*reading.columns.names, str(reading.columns.id_type)]
    return [given, columns, [os.path.abspath(place.path) for place in reading.inputs], reading.inputs]


def why_unrepeatable(reading: Reading) -> str | None:
    """Say why a later run cannot know that its documents are those of this one, None if it can."""
    if reading.table is not None:
        return "Arrow data in memory"
    if any(place.title == LABEL for place in reading.inputs):
        return "standard input"
    return None
