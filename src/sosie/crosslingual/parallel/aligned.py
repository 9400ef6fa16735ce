"""Two aligned files: line i of one is the translation of line i of the other."""

from __future__ import annotations

from itertools import zip_longest

from sosie.crosslingual.parallel.file import read_lines
from sosie.crosslingual.parallel.segment import Gathered
from sosie.documents.input import Input
from sosie.errors import DataError
from sosie.shown import counted


def read_aligned(source: Input, target: Input, gathered: Gathered) -> None:
    """Gather the lines of two files, which have as many; raise if one has more than the other."""
    lines = [0, 0]
    for ours, theirs in zip_longest(read_lines(source), read_lines(target)):
        for side, line in enumerate((ours, theirs)):
            lines[side] += line is not None
        if ours is not None and theirs is not None:
            gathered.add(ours[1], theirs[1])
    if lines[0] != lines[1]:
        raise DataError(
            f"{source.path} has {counted(lines[0], 'line')} and {target.path} has {lines[1]:,}: line i of one must be "
            "the translation of line i of the other. Align the files anew, or give pairs as TSV."
        )
