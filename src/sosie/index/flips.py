"""What it costs to flip the bits of a query's header: the less likely a near-duplicate differs there, the more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sosie.arrays import read_only
from sosie.errors import MismatchError, StorageError, UsageError
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

    @staticmethod
    def restored(step: Any, costs: Any) -> FlipModel:
        """Return a model that was read from a file, and is not trusted."""
        if type(step) is not float or not 0 < step < math.inf:
            raise StorageError("the step of flips is no number above 0")
        if costs.dtype != np.int32 or costs.ndim != 1 or not len(costs):
            raise StorageError("the costs of flips are none")
        if costs.min() < 1 or costs.max() > COSTLIEST:
            raise StorageError(f"a flip costs 1 to {COSTLIEST}")
        return FlipModel(step, costs)

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
    if sums.shape != (len(signatures), signatures.bits):
        raise MismatchError(f"volatility of shape {list(sums.shape)} for {len(signatures)} x {signatures.bits} bits")
    if not math.isfinite(np.vdot(sums, sums)) and not np.isfinite(sums).all():  # the first is quick
        raise MismatchError("the volatility of a signature is not a finite number")
    return sums
