"""A collection as a checkpoint: what reading has found, so that the inputs need not be read again for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sosie.documents.reading import Reading
from sosie.documents.rejects import Rejects
from sosie.features.collect import Collection
from sosie.storage.checkpoint import Checkpoints
from sosie.types import Features

_NAME = "read"
_FEATURES, _COLUMNS, _REJECTS = "features.", "columns.", "rejects."
_ORDER, _NULL = "order", "order_null"


def save_collection(checkpoints: Checkpoints, reading: Reading, collection: Collection) -> None:
    """Save a collection and what its reading knows, if that is worth it."""
    if not checkpoints.due():
        return
    columns = {
        **{_FEATURES + name: value for name, value in vars(collection.features).items()},
        **{_COLUMNS + name: value for name, value in vars(collection).items()},
        **{_REJECTS + name: value for name, value in vars(collection.rejects).items()},
    }
    arrays = {name: value for name, value in columns.items() if isinstance(value, np.ndarray)}
    if collection.order is not None:
        arrays[_ORDER] = collection.order.fill_null(0).to_numpy(zero_copy_only=False)
        arrays[_NULL] = collection.order.is_null().to_numpy(zero_copy_only=False)
    checkpoints.save(_NAME, {**arrays, **reading.state()})


def load_collection(checkpoints: Checkpoints, reading: Reading) -> Collection | None:
    """Return the collection that was saved, if there is one, and let the reading know what it knew."""
    found = checkpoints.load(_NAME)
    if found is None:
        return None
    arrays = found[0]
    reading.restore(arrays)
    features, rejects = Features(**_named(arrays, _FEATURES)), Rejects(**_named(arrays, _REJECTS))
    columns: dict[str, Any] = {name: np.array(array) for name, array in _named(arrays, _COLUMNS).items()}
    if _ORDER in arrays:
        columns["order"] = pa.array(arrays[_ORDER], mask=arrays[_NULL])
    return Collection(features=features, rejects=rejects, **columns)


def _named(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the arrays whose names begin with the prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
