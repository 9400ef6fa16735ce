"""How far apart the models of the sliding window and what it finds are: NFL's, and the one that the planner goes by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.nfl_window_data import BITS, Sides
from experiments.slice_page import table
from sosie.planner.methods.window import crowded_rows
from sosie.planner.models.permuted import chance_beside, found_in_any
from sosie.planner.models.window import Window, relative_cost

if TYPE_CHECKING:
    from experiments.nfl_window import Measured, Swept

LEAST = 1e-6  # of all pairs, that are counted
HEAD = ["B", "Q", "within both bounds", "furthest below", "furthest above", "planner: mean off", "most off"]


def planned_recall(sides: Sides, window: int) -> Callable[[int], float]:
    """Return a function of the number of tables: the share of the true pairs that the planner's orders are to find.

    It is averaged over how many bits the true pairs differ in; beyond the radius nothing is found. Where rows share
    bits more often than by chance, a window reaches less far.
    """
    every = sides.distances
    likely = (every.values <= BITS.radius) & (every.weights > LEAST * every.total)
    crowded = crowded_rows(sides.rows, window, BITS.width, sides.facts)
    beside = chance_beside(every.values[likely], BITS.width, crowded, window)
    weights = every.weights[likely] / every.total
    return lambda tables: float(found_in_any(beside, tables) @ weights)


def tell_model(measured: Sequence[Measured]) -> str:
    """Return for each window how far what was found is outside of NFL's bounds, and from the planner's curve."""
    return "\n\n".join(map(_of_sides, measured))


def _of_sides(measured: Measured) -> str:
    sides, rows = measured.sides, []
    for swept in measured.windows:
        found, bounds = np.array(swept.recall), np.array(swept.model)
        below, above = bounds[:, 0] - found, found - bounds[:, 1]
        off = np.array(swept.planned) - found
        inside = f"{np.sum((below <= 0) & (above <= 0))} of {len(found)}"
        tables = f"{swept.tables[0]} to {swept.tables[-1]}"
        worst = off[np.argmax(np.abs(off))]
        rows.append([swept.paper, tables, inside, *map(_far, (below.max(), above.max())), f"{np.abs(off).mean():.3f}"])
        rows[-1].append(f"{worst:+.3f}")
    compared = [_compared(swept, sides) for swept in measured.windows]
    return (
        f"{sides.name}, {len(sides.true):,} true pairs. Comparisons are {min(compared):.3f} to "
        f"{max(compared):.3f} times those of the relative cost (NFL 6.1).\n\n{table(HEAD, rows)}"
    )


def _far(gap: float) -> str:
    return f"{gap:.3f}" if gap > 0 else ""


def _compared(swept: Swept, sides: Sides) -> float:
    """Return what was compared, in comparisons that are expected."""
    share = swept.tables[-1] * relative_cost(sides.rows, Window(1, sides.window(swept.paper)))
    return swept.comparisons[-1] / (share * len(sides.a) * len(sides.b))
