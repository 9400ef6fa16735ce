"""The store: signatures on disk in sorted runs, for batches that are matched with all of them (PSM's batch mode)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from sosie.errors import MismatchError, UsageError
from sosie.index.flips import FlipModel
from sosie.index.probe_search import Calibration, ProbeSearch, choose_probes
from sosie.kernels.tables.vosh import WIDEST
from sosie.matches.store.by_probes import probe_tiles, probing
from sosie.matches.store.files import SIGNER, changing, commit, read_store
from sosie.matches.store.fitting import check_fits, check_ids
from sosie.matches.store.ids import RunIds, kind_of_ids, plain_ids
from sosie.matches.store.matching import Matching, longest_run, search_of
from sosie.matches.store.planned import check_recall
from sosie.matches.store.run import StoreRun
from sosie.matches.store.streaming import Streaming
from sosie.shown import counted
from sosie.signatures.files import load_signer
from sosie.signatures.signer import Signer
from sosie.storage.resident import give_back
from sosie.types import Matches, Signatures, offsets_of

_LIMIT = 1 << 16  # probes of a query that are tried when they are chosen


class SignatureStore:
    """Signatures in a directory, for batches of new ones: each is matched with all that is there, and appended.

    A store is made of sorted runs that never change, each a batch, or several that were merged. Nothing but the batch
    is held in memory: runs are read from end to end, chunk by chunk. Opening a store checks every file of it. A store
    that is not there is empty, and is made by the first batch, whose width, digest and space it has from then on;
    others are refused. Ids are unique: one that is known raises, and nothing is appended. Rows without ids have their
    numbers as ids, which take no room.

    A batch is matched in one of two ways. **Block tables** are built around the batch, and every row of the store is
    looked up in them: all matches are found, `recall` is 1. `blocks` says into how many blocks bits are cut (4, within
    3 bits, are 4 tables). With **`probes`**, so many sets of flips of each query are looked up
    in the store, the likeliest first, as `ProbeIndex` does it: far less work, and not everything is found. It wants
    the volatility of the batch (`sign(volatility=True)`); `flips` orders them by probability. What `calibrate` returns
    is a number of probes, and the recall that matches state with it. Where neither is given, the quicker one is taken
    that finds all, or, with `recall`, that is expected to find this share of all matches.

    `match` compares a batch with the store. `match_and_append` compares each row of it also with the rows of the batch
    before it, as if they came one by one, and then appends the batch: so however documents are cut into batches, a
    pair is found once, by the one that comes later. Either is one step: a process that is killed leaves the batch in
    the store or not in it. One process at a time changes a store; another waits ten seconds for it and then raises. A
    store is seen as it was when it was opened, or last changed through this object; `refresh` sees what others added.

    With `first`, one match of each query is enough: that which is met first, in the oldest run that has any. A query
    that has it is left out of what follows, and reading stops when all have one.

    Counters: `comparisons` of rows, `probes` looked up, `chunks` and `bytes_read` of signatures.

    >>> import tempfile
    >>> store = SignatureStore(Path(tempfile.mkdtemp()) / "store")
    >>> store.append(Signatures(np.array([0b0000, 0b1111], np.uint64), ids=["a", "b"]))
    >>> matches = store.match(Signatures(np.array([0b0111], np.uint64)), radius=1)
    >>> matches.ids.to_pylist(), matches.distances.tolist(), matches.recall
    (['b'], [1], 1.0)
    """

    def __init__(
        self, path: str | os.PathLike[str], *, signer: Signer | None = None, flips: FlipModel | None = None
    ) -> None:
        """Open a store; `signer`, which made the batches, is kept in it with the first one."""
        self.path = Path(path)
        self._given = signer
        self._flips = flips
        self._state = read_store(self.path)

    def __len__(self) -> int:
        return self._state.rows

    def __repr__(self) -> str:
        of = f" of {counted(self.bits, 'bit')}" if len(self) else ""
        return f"SignatureStore({counted(len(self), 'row')}{of} in {counted(len(self._state.runs), 'run')})"

    @property
    def bits(self) -> int:
        """The width of the signatures; 0 in a store without any."""
        return self._state.bits

    @property
    def digest(self) -> str | None:
        """What made the signatures."""
        return self._state.digest

    @property
    def signer(self) -> Signer | None:
        """The signer that is kept in the store, by which further documents are signed; None if there is none."""
        return None if self._state.signer is None else load_signer(self.path / SIGNER)

    @property
    def header_bits(self) -> int:
        """How many leading bits are flipped by probes, at most: log2 of the number of rows, rounded."""
        return len(probing(self.bits or 1, len(self), 0, 0, None).header)

    def sample(self, count: int, seed: int = 0) -> Signatures:
        """Return so many rows drawn at random, all if there are not more, without ids; in no order that means anything.

        >>> import tempfile
        >>> SignatureStore(Path(tempfile.mkdtemp()) / "none").sample(3)
        Signatures(0 rows of 64 bits)
        """
        runs, bits = self._state.runs, self.bits or 64
        chosen = np.arange(len(self))
        if count < len(self):
            chosen = np.sort(np.random.default_rng(seed).choice(len(self), count, replace=False, shuffle=False))
        parts = [np.empty((0, -(-bits // 64)), np.uint64)]
        for run in runs:
            here = chosen[(chosen >= run.first) & (chosen < run.first + len(run))] - run.first
            parts.append(run.words[here])
            give_back(run.words)
        return Signatures(np.concatenate(parts), bits)

    def refresh(self) -> None:
        """See what other processes have appended."""
        self._state = read_store(self.path, self._state)

    def match(
        self,
        batch: Signatures,
        radius: int = 3,
        *,
        first: bool = False,
        probes: int | ProbeSearch | None = None,
        blocks: int | None = None,
        recall: float | None = None,
        threads: int | None = None,
    ) -> Matches:
        """Return the rows of the store at most `radius` away from each of a batch; with `first`, one of them."""
        check_recall(recall, probes, blocks)
        how = Matching(radius, first, search_of(probes, blocks), blocks, self._flips, threads, recall)
        check_fits(self._state, batch, self.path)
        return how.matches(self._state, batch, None)

    def append(self, batch: Signatures) -> None:
        """Append a batch, in one step; an id that is known raises, and then nothing is appended."""
        with changing(self.path, self._state) as self._state:
            self._append(self._checked(batch), batch)

    def match_and_append(
        self,
        batch: Signatures,
        radius: int = 3,
        *,
        first: bool = False,
        probes: int | ProbeSearch | None = None,
        blocks: int | None = None,
        recall: float | None = None,
        receive: Callable[[Matches], None] | None = None,
        threads: int | None = None,
    ) -> Matches:
        """Return the rows within the radius, of the store and before it in the batch, of each row; then append them.

        `receive` is called with the matches before the batch is in the store, to write them down: if it raises, or the
        process ends there, nothing is appended, and the same matches are found again.
        """
        check_recall(recall, probes, blocks)
        how = Matching(radius, first, search_of(probes, blocks), blocks, self._flips, threads, recall)
        with changing(self.path, self._state) as self._state:
            own = self._checked(batch)
            matches = how.matches(self._state, batch, own)
            if receive is not None:
                receive(matches)
            self._append(own, batch)
        return matches

    def calibrate(
        self,
        queries: Signatures,
        radius: int = 3,
        recall: float = 0.95,
        *,
        first: bool = False,
        threads: int | None = None,
    ) -> Calibration:
        """Return how many probes find the share `recall` of all matches of a sample of queries, as `ProbeIndex` does.

        All matches of the sample are looked for: some thousand queries are enough. With `first`, something is to be
        found for that share of the queries that have a match. It holds as long as `header_bits` stays as it is.
        """
        if not 0 < recall <= 1:
            raise UsageError(f"recall must be above 0 and at most 1, got {recall}")
        how = Matching(radius, False, ProbeSearch(2**WIDEST), None, self._flips, threads)
        state = self._state
        check_fits(state, queries, self.path)
        how.check(queries)
        search = how.probing(state, queries, False)
        tiles = probe_tiles(queries, search, longest_run(state.runs), threads)
        found, _ = Streaming(threads=threads).past(tiles, state.runs.runs)
        asked = np.concatenate([np.empty(0, np.int64), *(each.hits.queries for each in found)])
        order = np.argsort(asked, kind="stable")
        words = [np.empty((0, queries.words.shape[1]), np.uint64)]
        words += [each.run.words[each.hits.rows] for each in found]
        asked = asked[order].astype(np.int64)
        differences = np.concatenate(words)[order] ^ queries.words[asked]
        offsets = offsets_of(np.bincount(asked, minlength=len(queries)))
        places = search.places(queries, offsets, differences, _LIMIT)
        probes, reached, measured = choose_probes(places, asked, recall, first=first)
        return Calibration(probes, reached, measured, radius, first, len(search.header), queries.volatility is not None)

    def _checked(self, batch: Signatures) -> StoreRun:
        """Return a batch as a run, if it can be appended."""
        check_fits(self._state, batch, self.path)
        if self._given is not None and batch.digest not in (None, self._given.digest):
            raise MismatchError(f"the batch was made by {batch.digest}, not by the signer {self._given.digest}")
        ids = None if batch.numbered else RunIds.of(plain_ids(batch))
        check_ids(self._state, batch, ids, self.path)
        return StoreRun.of(batch, self._state.rows, ids)

    def _append(self, own: StoreRun, batch: Signatures) -> None:
        """Write a batch to the store, which is claimed."""
        if not len(batch):
            return
        state = self._state
        if not state.rows:
            state = replace(state, bits=batch.bits, id_type=kind_of_ids(batch))
        if state.space is None:
            state = replace(state, digest=batch.digest, space=batch.space)
        signer = self._given if self._given is not None and self._given.digest == state.digest else None
        self._state = commit(self.path, state, own, signer)
