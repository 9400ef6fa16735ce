"""Folders that `save_to_disk` of Hugging Face datasets wrote: which of their files hold the rows."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from sosie.documents.places.remote import open_file
from sosie.errors import DataError

_STATE, _SPLITS = "state.json", "dataset_dict.json"


def saved_files(folder: str, names: Collection[str]) -> set[str] | None:
    """Return the files of a saved dataset that hold rows; None if a folder with files of these names is none.

    A dictionary of splits has none itself: each split is a folder inside.
    """
    if _STATE in names and any(name.endswith(".arrow") for name in names):
        state = _read(f"{folder}/{_STATE}")
        if state is not None and isinstance(state.get("_data_files"), list):
            if state.get("_indices_data_files") or state.get("_indices_files"):
                raise DataError(
                    f"{folder}: is a dataset that was saved with an order of its own, by an old version of datasets. "
                    "Save it again: load_from_disk(...).flatten_indices().save_to_disk(...)."
                )
            files = {str(file.get("filename")) for file in state["_data_files"] if isinstance(file, dict)}
            if missing := sorted(files.difference(names)):
                raise DataError(f"{folder}/{missing[0]}: is missing, and {_STATE} names it. Restore the file.")
            return files
    if _SPLITS in names:
        splits = _read(f"{folder}/{_SPLITS}")
        if splits is not None and isinstance(splits.get("splits"), list):
            return set()
    return None


def _read(path: str) -> dict[str, Any] | None:
    try:
        with open_file(path) as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
