"""What several readings know of the inputs that follow each other, as one reading of all of them would know it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.types import offsets_of

State = Mapping[str, NDArray[Any]]


def joined_state(states: Sequence[State]) -> dict[str, NDArray[Any]]:
    """Return what `Reading.state` says of all inputs, from what it says of some and of those that follow, in order.

    >>> import pyarrow as pa
    >>> from sosie.documents.source import Source
    >>> def state(ids):
    ...     reading = Source(pa.table({"text": ["a"] * len(ids), "id": ids})).batches()
    ...     return (sum(len(batch) for batch in reading), reading.state())[1]
    >>> joined = joined_state([state([7, 8]), state([9])])
    >>> joined["counts"].tolist(), joined["ids"].tolist()
    ([2, 1], [7, 8, 9])
    """
    counts = np.concatenate([state["counts"] for state in states])
    before = offsets_of(np.array([int(state["counts"].sum()) for state in states]))[:-1]
    # Lines are shifted as far as the latest change before a document says: none has come at the start of a reading.
    starts = [np.array([first]) for first in before]
    moved = [[start, state["shift_rows"] + start] for start, state in zip(starts, states, strict=True)]
    joined = {
        "counts": counts,
        "rejected": np.array([int(sum(int(state["rejected"][0]) for state in states))]),
        "firsts": offsets_of(counts),
        "shift_rows": np.concatenate([each for pair in moved for each in pair]),
        "shifts": np.concatenate([each for state in states for each in (np.zeros(1, np.int64), state["shifts"])]),
    }
    if not any("ids_known" in state for state in states):
        return joined
    joined["ids_known"] = np.concatenate([state["ids_known"] for state in states])
    if "ids" in states[0]:
        return joined | {"ids": np.concatenate([state["ids"] for state in states])}
    sizes = [np.diff(state["id_offsets"]) for state in states]
    return joined | {
        "id_offsets": offsets_of(np.concatenate(sizes)),
        "id_bytes": np.concatenate([state["id_bytes"] for state in states]),
    }
