"""Whether a batch fits a store: its width, its space and its ids; what does not is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.errors import MismatchError, UsageError
from sosie.matches.store.files import StoreState
from sosie.matches.store.ids import NUMBER, RunIds, kind_of_ids
from sosie.storage.ids import hash_ids
from sosie.types import Signatures


def check_fits(state: StoreState, batch: Any, path: Path) -> None:
    """Refuse a batch that cannot be compared with what a store holds."""
    if not isinstance(batch, Signatures):
        raise UsageError(f"a store holds signatures, got {type(batch).__name__}: sign texts first")
    if not state.rows:
        return
    if batch.bits != state.bits:
        raise MismatchError(
            f"{path}: holds signatures of {state.bits} bits, and the batch has {batch.bits}: sign both the same way"
        )
    if batch.space is not None and state.space is not None and batch.space != state.space:
        raise MismatchError(
            f"{path}: holds signatures of {state.digest}, and the batch is of {batch.digest}: sign both the same way,"
            " or begin another store"
        )


def check_ids(state: StoreState, batch: Signatures, ids: RunIds | None, path: Path) -> None:
    """Refuse ids of another type than those in the store, and those that are known."""
    if not state.rows or not len(batch):
        return
    kind = NUMBER if ids is None else kind_of_ids(batch)
    if kind != state.id_type:
        held, come = ("numbers", "texts") if state.id_type == NUMBER else ("texts", "numbers")
        raise MismatchError(f"{path}: the ids are {held}, and those of the batch {come}: give ids of the same kind")
    numbers = pa.array(np.arange(state.rows, state.rows + len(batch), dtype=np.int64))
    wanted = numbers if ids is None else ids.ids
    hashes = hash_ids(wanted)
    for run in state.runs:
        known = run.find(wanted, hashes)
        if len(known):
            first = wanted[int(known.min())].as_py()
            raise MismatchError(
                f"{path}: the id {first!r} is in the store already ({len(known):,} ids of the batch are): "
                "leave those out, or match without appending"
            )
