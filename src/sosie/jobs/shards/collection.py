"""All shards that were signed, as one collection: what is small of each row is put together, features stay in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sosie.clusters.keep import keep_rank, parse_keep
from sosie.documents.joined import joined_state
from sosie.documents.order import Order
from sosie.documents.reading import Reading
from sosie.documents.rejects import Rejects
from sosie.documents.seen import SeenIds
from sosie.errors import DataError, MismatchError
from sosie.features.collect import Collection
from sosie.jobs.shards.folder import SIGNED, ShardFolder, Stage, key_from
from sosie.jobs.shards.sign import REJECTS, STATE, source_from
from sosie.types import I64, U64, Features, offsets_of

_SAME = ("threshold", "similarity", "keep", "by", "parameters", "source")


@dataclass(frozen=True, eq=False)
class SignedShards:
    """The shards in their order: row r of shard s is row `rows[s] + r` of all, and documents are counted likewise."""

    shards: Sequence[Stage]
    rows: I64
    documents: I64

    @classmethod
    def of(cls, folder: ShardFolder) -> SignedShards:
        """Open the shards of a folder, all of which have to be there."""
        shards = folder.parts(SIGNED)
        said = [{name: each for name, each in shard.meta.items() if name in _SAME} for shard in shards]
        if any(each != said[0] for each in said):
            raise MismatchError(f"{folder.place(SIGNED)}: shards have different options. Sign all of them anew.")
        counts = [shard.meta["counts"] for shard in shards]
        return cls(shards, *(offsets_of(np.array([each[name] for each in counts])) for name in ("rows", "documents")))

    @property
    def key(self) -> str:
        """The digest of all of them."""
        return key_from(SIGNED, *(shard.key for shard in self.shards))

    @property
    def meta(self) -> Any:
        """What was said of documents and of how they are compared; all shards say the same."""
        return self.shards[0].meta

    def column(self, name: str) -> NDArray[Any]:
        """Return one value for each row of all."""
        return np.concatenate([shard.arrays[name] for shard in self.shards])

    @property
    def sizes(self) -> I64:
        """How many features each row has."""
        return np.concatenate([np.diff(shard.arrays["offsets"]) for shard in self.shards])

    @property
    def digests(self) -> U64:
        """The digest of the features of each row, as two numbers."""
        return self.column("digests")

    @property
    def rank(self) -> I64:
        """The place of each row in keep order."""
        order = None
        if isinstance(parse_keep(self.meta["keep"]), Order):
            order = pa.array(self.column("order"), mask=self.column("order_null"))
        return keep_rank(self.meta["keep"], self.column("lengths"), order)

    def reading(self) -> Reading:
        """Return the reading of all inputs, which knows what all shards have read; ids that two shards have raise."""
        rule = parse_keep(self.meta["keep"])
        reading = source_from(self.meta["source"]).batches(1, rule if isinstance(rule, Order) else None)
        reading.restore(self._state())
        return reading

    def check_ids(self, reading: Reading) -> None:
        """Raise if documents of two shards have the same id: those of one were looked at when it was signed."""
        if reading.columns.id_type is None:
            return
        seen = SeenIds(reading.ids.take)
        for first, last in zip(self.documents[:-1].tolist(), self.documents[1:].tolist(), strict=True):
            rows = np.arange(first, last)
            ids = reading.ids.take(rows)
            known = np.flatnonzero(ids.is_valid().to_numpy(zero_copy_only=False))
            rejected = np.isin(rows[known], self.rejects.rows)
            rows = rows[known[~rejected]]
            earlier = seen.admit(reading.ids.take(rows), rows)
            if (earlier >= 0).any():
                at = int(np.flatnonzero(earlier >= 0)[0])
                said, (here, there) = (
                    reading.ids.take(rows[at : at + 1])[0].as_py(),
                    reading.ids.places(np.array([rows[at], earlier[at]])),
                )
                raise DataError(
                    f"{here}: duplicate id {said!r}, first in {there}, of another shard: make the ids distinct, or "
                    "number the documents with --id-column none"
                )

    @property
    def rejects(self) -> Rejects:
        """The records of all shards that could not be used."""
        each = [{name: shard.arrays[REJECTS + name] for name in ("rows", "ends", "lines")} for shard in self.shards]
        lines = offsets_of(np.array([len(one["lines"]) for one in each]))
        return Rejects(
            np.concatenate([one["rows"] + first for one, first in zip(each, self.documents, strict=False)]),
            np.concatenate([one["ends"] + first for one, first in zip(each, lines, strict=False)]),
            np.concatenate([one["lines"] for one in each]),
        )

    def collection(self) -> Collection:
        """Return what a report needs of all rows: not their features, only how many there are."""
        sizes = self.sizes
        hashes = np.broadcast_to(np.uint64(0), (int(sizes.sum()),))
        numbers = [shard.arrays["documents"] + first for shard, first in zip(self.shards, self.documents, strict=False)]
        return Collection(
            Features(hashes, offsets_of(sizes)),
            np.concatenate(numbers),
            self.column("lengths"),
            self.rejects,
            wordless=self.column("wordless"),
        )

    def _state(self) -> dict[str, NDArray[Any]]:
        """Return what the readings of all shards know, as one reading would."""
        states = [
            {name.removeprefix(STATE): array for name, array in shard.arrays.items() if name.startswith(STATE)}
            for shard in self.shards
        ]
        return joined_state(states)
