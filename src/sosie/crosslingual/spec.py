"""How a dictionary is made of parallel text, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from sosie.errors import UsageError

AlignerName = Literal["fast_align", "ibm1", "hmm", "eflomal"]
Origin = Literal["trained", "loaded"]
ALIGNERS: tuple[AlignerName, ...] = get_args(AlignerName)
LONGEST = 200  # words of a segment that every aligner takes


@dataclass(frozen=True, kw_only=True)
class TrainingSpec:
    """The parameters of a training; `origin` says whether there was one, or the dictionary was read from a table.

    `iterations` None are as many as the aligner wants: 5, of HMM as many of IBM 1 before; of eflomal more, the less
    text there is. Of the translations of a word stay those with a probability of at least `least`, at most `most` of
    them, the most probable ones until their sum reaches `mass`; they are renormalised. Segments of more than `longest`
    words are left out. `seed` is for eflomal, which samples.

    >>> TrainingSpec(aligner="hmm").rounds
    10
    """

    aligner: AlignerName = "fast_align"
    iterations: int | None = None
    most: int = 15
    mass: float = 0.95
    least: float = 0.001
    longest: int = 150
    seed: int = 0
    origin: Origin = "trained"

    def __post_init__(self) -> None:
        if self.aligner not in ALIGNERS:
            raise UsageError(f"aligner must be one of {', '.join(ALIGNERS)}, got {self.aligner!r}")
        if self.origin not in get_args(Origin):
            raise UsageError(f"origin must be trained or loaded, got {self.origin!r}")
        if self.iterations is not None:
            _check_whole("iterations", self.iterations, 1, 1000)
        _check_whole("most", self.most, 1, 1 << 20)
        _check_whole("longest", self.longest, 1, LONGEST)
        _check_whole("seed", self.seed, 0, (1 << 31) - 1)
        if type(self.mass) not in (int, float) or not 0 < self.mass <= 1:
            raise UsageError(f"mass must be above 0 and at most 1, got {self.mass!r}")
        if type(self.least) not in (int, float) or not 0 <= self.least < 1:
            raise UsageError(f"least must be at least 0 and below 1, got {self.least!r}")

    @property
    def rounds(self) -> int:
        """How many times the segments are gone through in each direction; of eflomal, that its text decides, 0."""
        if self.aligner == "eflomal":
            return 0 if self.iterations is None else 6 * self.iterations  # its own parts: 1 of IBM 1, 1 of HMM, 4 more
        return (self.iterations or 5) * (2 if self.aligner == "hmm" else 1)

    def to_dict(self) -> dict[str, Any]:
        """Return all parameters, as JSON-ready data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TrainingSpec:
        """Return the spec that `to_dict` described; missing fields raise."""
        return cls(**{field.name: data[field.name] for field in fields(cls)})


def _check_whole(name: str, value: Any, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise UsageError(f"{name} must be a whole number from {least} to {most:,}, got {value!r}")
