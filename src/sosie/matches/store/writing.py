"""A run is written: sorted rows as they are, or merged from several runs in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from sosie.matches.store.ids import HASHES, RunIds
from sosie.matches.store.run import StoreRun
from sosie.matches.store.sorted_rows import PIECE, SortedRows, merged
from sosie.storage.ids import id_arrays
from sosie.storage.manifest import write_artefact
from sosie.storage.spill import Spill


def write_run(folder: Path, kind: str, runs: Sequence[StoreRun], scratch: Path) -> None:
    """Write runs that follow each other as one; `scratch` is a folder of the same file system."""
    count = sum(map(len, runs))
    if len(runs) == 1:
        write_artefact(folder, kind, runs[0].arrays(), meta={"count": count})
        return
    with ExitStack() as stack:
        merging = _Merging(scratch, stack)
        merging.put_sorted(("words", "rows"), [run.sorted for run in runs], runs[0].bits)
        if any(run.ids is not None for run in runs):
            ids = [run.all_ids() for run in runs]
            merging.put_sorted(HASHES, [each.hashed for each in ids], 64)
            merging.put_ids(ids)
        arrays = merging.arrays()
        arrays["words"] = arrays["words"].reshape(count, -1)
        moved = {name: Path(str(array.filename)) for name, array in arrays.items() if isinstance(array, np.memmap)}
        write_artefact(folder, kind, arrays, meta={"count": count}, moved=moved)


class _Merging:
    """Arrays that are written piece by piece to files of a folder."""

    def __init__(self, scratch: Path, stack: ExitStack) -> None:
        self._scratch = scratch
        self._stack = stack
        self._spills: dict[str, Spill] = {}

    def put_sorted(self, names: tuple[str, str], sources: Sequence[SortedRows], bits: int) -> None:
        """Merge sorted rows."""
        for part in merged(sources, bits):
            self._append(names[0], part.words.reshape(-1))
            self._append(names[1], part.rows)

    def put_ids(self, sources: Iterable[RunIds]) -> None:
        """Put the ids of one run after those of another."""
        end = 0
        for number, source in enumerate(sources):
            arrays = id_arrays(source.ids)
            if "ids" in arrays:
                self._append("ids", arrays["ids"])
                continue
            self._append("id_bytes", arrays["id_bytes"])
            self._append("id_offsets", arrays["id_offsets"][1 if number else 0 :] + end)
            end += int(arrays["id_offsets"][-1])

    def arrays(self) -> dict[str, Any]:
        """Return what was put, mapped."""
        return {name: spill.array() for name, spill in self._spills.items()}

    def _append(self, name: str, array: Any) -> None:
        if name not in self._spills:
            self._spills[name] = self._stack.enter_context(Spill(self._scratch, array.dtype, memory=0, keep=True))
        for begin in range(0, len(array), PIECE):
            self._spills[name].append(np.asarray(array[begin : begin + PIECE]))
