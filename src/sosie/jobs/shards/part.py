"""A part of the work of a stage: which one of how many, and what belongs to it, whatever machine it runs on."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from sosie.documents.input import Inputs
from sosie.errors import UsageError

_SAID = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True)
class Part:
    """Part `number` of `of`, counted from 1.

    >>> Part.parse("3/16")
    Part(number=3, of=16)
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise UsageError(f"shards are counted from 1, as in 1/{max(self.of, 1)}; got {self}")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, said: str) -> Part:
        """Return a part as people write it."""
        match = _SAID.fullmatch(said)
        if match is None:
            raise UsageError(f"a shard is a number of how many, as in 3/16; got {said!r}")
        return cls(int(match[1]), int(match[2]))

    @property
    def name(self) -> str:
        """What its folder is called: names of all parts sort as they are numbered."""
        return f"{self.number:0{len(str(self.of))}d}-of-{self.of}"

    def share(self, count: int) -> range:
        """Return which of so many tasks, in their order, are those of this part.

        >>> [list(Part(number, 3).share(7)) for number in (1, 2, 3)]
        [[0, 1], [2, 3], [4, 5, 6]]
        """
        return range((self.number - 1) * count // self.of, self.number * count // self.of)

    def inputs(self, inputs: Inputs) -> range:
        """Return which inputs belong to this part, by their order and sizes; refuse more parts than inputs."""
        if self.of > len(inputs):
            raise UsageError(
                f"{self.of} shards for {len(inputs)} input files: each takes whole files. Take at most {len(inputs)}, "
                "or split the files, as `split --number l/16` does with JSON lines. The text files of a folder are one "
                "input."
            )
        return cut([place.size for place in inputs], self.of)[self.number - 1]

    def of_inputs(self, inputs: Inputs) -> Inputs:
        """Return the inputs of this part."""
        here = self.inputs(inputs)
        return Inputs(inputs[here.start : here.stop], inputs.passed_over)


def cut(sizes: list[int], parts: int) -> list[range]:
    """Return which files belong to each part: files that follow each other, about as many bytes for each, at least one.

    >>> cut([5, 1, 1, 1, 9, 1], 3)
    [range(0, 2), range(2, 4), range(4, 6)]
    """
    ends, left = [0], sum(sizes)
    for part in range(parts):
        files = ends[-1]
        most = len(sizes) - (parts - part - 1)  # each later part has one, too
        goal, here = left / (parts - part), 0
        while files < most and (files == ends[-1] or part == parts - 1 or here + sizes[files] / 2 <= goal):
            here += sizes[files]
            files += 1
        ends.append(files)
        left -= here
    return [range(first, last) for first, last in itertools.pairwise(ends)]
