"""What it costs to flip the bits of a query's header: the less likely a near-duplicate differs there, the more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.arrays import check_column, read_only
from sosie.errors import MismatchError, UsageError
from sosie.kernels.tables.vosh import COSTLIEST, costs_by_size, costs_by_table
from sosie.types import F32, F64, I32, I64, Signatures

_STEPS = 4096  # of the table from |W| to cost
_UNIT = 1 << 16  # of a cost: one unit of the log-odds


@dataclass(frozen=True, eq=False)
class FlipModel:
    """How likely a bit is flipped in a near-duplicate, by the size of the sum |W| behind it (PSM 5.1).

    `costs[i]` is the log-odds against a flip where |W| is about `(i + 0.5) * step`, or more for the last one.
    """

    step: float
    costs: I32

    def __post_init__(self) -> None:
        if not isinstance(self.step, float | np.floating) or not 0 < self.step < math.inf:
            raise MismatchError(f"the step of flips is a number above 0, got {self.step!r}")
        check_column("the costs of flips", self.costs, np.int32)
        if not len(self.costs) or self.costs.min() < 1 or self.costs.max() > COSTLIEST:
            raise MismatchError(f"a flip costs 1 to {COSTLIEST}")

    @staticmethod
    def of(sample: Signatures, least: float = 1e-6) -> FlipModel:
        """Estimate it from signatures with volatility: p = P(Y > |W|), where Y is the difference of two of them.

        The differences of all bits are pooled; `least` is the smallest probability.

        >>> sums = np.random.default_rng(0).normal(size=(1000, 64)).astype(np.float32)
        >>> model = FlipModel.of(Signatures(np.zeros(1000, np.uint64), volatility=sums))
        >>> model.probability([0.0, 1.0, 2.0, 99.0]).round(2).tolist()
        [0.5, 0.24, 0.08, 0.0]
        """
        sums = checked_volatility(sample)
        if sums is None or len(sums) < 2:
            raise UsageError("flips are estimated from at least two signatures with volatility")
        if not 0 < least < 0.5:
            raise UsageError(f"least must be between 0 and 0.5, got {least}")
        half = len(sums) // 2
        differences = np.sort(np.abs(sums[:half] - sums[half : 2 * half]).reshape(-1))
        step = max(float(differences[-1]), 1e-6) / _STEPS
        beyond = 1 - np.searchsorted(differences, (np.arange(_STEPS) + 0.5) * step) / len(differences)
        p = np.clip(beyond / 2, least, 0.5)  # Y is symmetric
        return FlipModel(step, np.clip(np.log((1 - p) / p) * _UNIT, 1, COSTLIEST).astype(np.int32))

    def probability(self, sizes: Any) -> F64:
        """Return how likely bits are flipped that have sums of these sizes."""
        steps = np.minimum(np.abs(np.asarray(sizes)) / self.step, len(self.costs) - 1).astype(np.int64)
        return np.asarray(1 / (1 + np.exp(self.costs[steps] / _UNIT)))


def flip_costs(sums: F32, places: I64, model: FlipModel | None) -> I32:
    """Return what it costs to flip the bits at some places: by the model, without one by |W| itself."""
    if model is None:
        return costs_by_size(sums, places)
    return costs_by_table(sums, places, model.step, read_only(model.costs))


def checked_volatility(signatures: Signatures) -> F32 | None:
    """Return the sums behind the bits, None if there are none."""
    sums = signatures.volatility
    if sums is None:
        return None
    if not isinstance(sums, np.ndarray) or sums.shape != (len(signatures), signatures.bits):
        shape = list(np.shape(sums))
        raise MismatchError(f"volatility of shape {shape} for {len(signatures)} x {signatures.bits} bits")
    if not math.isfinite(np.vdot(sums, sums)) and not np.isfinite(sums).all():  # the first is quick
        raise MismatchError("the volatility of a signature is not a finite number")
    return sums
