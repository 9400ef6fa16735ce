"""What a de-duplication takes from stage to stage, whatever the method: reading, collapsing, checking, writing.

Most of a run is the same for every method: it is matching that differs. Seconds are those of the stages, one after the
other; of bytes, those of the stage that holds most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sosie.planner.constants.documents import (
    CHECK_SAMPLE,
    CHECK_SLOTS,
    CHECKED_BYTES,
    COUNT_BYTES,
    FEATURE_BYTES,
    FEW_PAIRS,
    HELD_BYTES,
    LATE_BYTES,
    LISTED_PAIRS,
    MOVE_BYTES,
    PAIR_BYTES,
    RESIDENT_SHARE,
    SPILL,
    TOUCHED_SHARE,
    UNDER_WAY,
    UNDER_WAY_MOST,
    UNDER_WAY_TEXT,
    WEIGHT_BYTES,
    WRITTEN_BYTES,
)
from sosie.planner.corpus import Corpus
from sosie.planner.estimate import Bytes, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import PROGRAM, Machine
from sosie.planner.memory import in_memory, prefix_share
from sosie.planner.wish import Wish

SIMILAR = 0.2  # similar pairs for each document, where nobody has looked
_READERS = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "arrow": "table", "feather": "parquet"}
_PAGES = ("html", "warc")


class Stage(NamedTuple):
    """What a stage takes: seconds, and what is held while it is under way, on the heap, mapped and on disk."""

    seconds: float
    heap: float
    mapped: float = 0.0
    disk: float = 0.0


@dataclass(frozen=True)
class Dedup:
    """A de-duplication that is planned: what is asked, what is known, and what single steps take.

    >>> run = Dedup(Wish(task="dedup", rows=1_000_000, threshold=0.8), Facts(features=78), Machine())
    >>> round(run.features / 10**6), round(run.read().seconds, 1) > 1
    (78, True)
    """

    wish: Wish
    facts: Facts
    machine: Machine

    @property
    def corpus(self) -> Corpus:
        """What is known of the documents, or assumed: no copies, and files of JSON lines."""
        return self.facts.corpus or Corpus(documents=self.wish.rows, sampled=0)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.wish.rows

    @property
    def distinct(self) -> float:
        """How many of them are compared: equal ones once."""
        return self.documents * (1 - self.corpus.copies)

    @property
    def features(self) -> float:
        """How many features all documents have together."""
        return self.documents * self.facts.features

    @property
    def compared(self) -> float:
        """How many features those have that are compared."""
        return self.distinct * self.facts.features

    @property
    def text(self) -> float:
        """How many bytes of text there are."""
        return self.documents * self.facts.text_bytes

    @property
    def threshold(self) -> float:
        """The threshold that is asked for, or the default."""
        return 0.8 if self.wish.threshold is None else self.wish.threshold

    @property
    def pairs(self) -> float:
        """How many pairs of different documents are similar and held, of which there are no more than can be listed."""
        known = self.corpus.pairs
        return min(SIMILAR * self.documents if known is None else known, self.listed)

    @property
    def listed(self) -> float:
        """How many pairs are listed, at most."""
        return float(max(LISTED_PAIRS * self.documents, FEW_PAIRS))

    def seconds(self, work: float, name: str, bits: int | None = None, *, threads: int = 1) -> float:
        """Return how long so many units of work take, on one thread or on several."""
        return work * self.machine.ns(name, bits) * self.machine.ns("cold") / 1e9 / self.machine.speedup(threads)

    def read(self) -> Stage:
        """Return what reading takes: files on one thread, their features on all."""
        threads, held = self.wish.threads, self.held()
        extracting = self.seconds(self.text, "fold", threads=threads)
        extracting += self.seconds(self.features, "distinct", threads=threads)
        # What is kept on disk was in memory up to there, and a moment longer.
        size, most = FEATURE_BYTES * self.features, 1.5 * in_memory(self.wish.memory)
        moving = MOVE_BYTES * min(most / (1.5 * SPILL), 1.0) if size > most else 0.0
        heap = self.under_way() + min(size, most) + moving + HELD_BYTES * self.documents * min(1.0, most / max(size, 1))
        keeping = self.seconds(self.features, "spill" if held.disk else "keep")
        begun = self.machine.ns("begin") / 1e9
        return Stage(begun + self._reading() + extracting + keeping, max(heap, held.heap), 0.0, held.disk)

    def held(self) -> Stage:
        """Return what is held from reading to the end: features, and something of each document."""
        most, features = in_memory(self.wish.memory), self.features
        arrays = [(8.0 * features, most), (4.0 * features, most // 2)]  # hashes, and tags, of which half as many stay
        if self.wish.weighting != "binary":
            arrays += [(COUNT_BYTES * features, most), (WEIGHT_BYTES * features, most)]
        mapped = sum(size for size, room in arrays if size >= room)
        heap = self.under_way() + HELD_BYTES * self.documents + sum(size for size, _ in arrays) - mapped
        return Stage(0.0, heap, mapped, mapped)

    def under_way(self) -> float:
        """Return what texts and features take on their way, and what the allocator keeps of it."""
        return min(UNDER_WAY + UNDER_WAY_TEXT * self.text, UNDER_WAY_MOST)

    def collapse(self) -> Stage:
        """Return what it takes to group documents with equal features."""
        seconds = self.seconds(self.features, "digest") + self.seconds(self.documents, "group")
        return Stage(seconds, *self.held()[1:])

    def verify(self, candidates: float, pairs: float) -> Stage:
        """Return what it takes to compare candidates feature by feature, and to cluster the similar ones."""
        features = 2 * self.facts.features * candidates
        seconds = self.seconds(features, "compare", threads=self.wish.threads) + self.seconds(candidates, "pair")
        held = self.held()
        return Stage(seconds + self.seconds(pairs, "pair"), held.heap + PAIR_BYTES * pairs, held.mapped, held.disk)

    def check(self) -> Stage:
        """Return what it takes to compare a sample with all documents, by those of its features that decide."""
        least = max(self.threshold - 0.1, 0.0)
        share = prefix_share(least, self.wish.measure) if self.wish.measure == "jaccard" else 1.0
        sought = min(CHECK_SAMPLE, self.documents) * (share * self.facts.features + 1)
        hits = self.features * min(1.0, sought / CHECK_SLOTS)
        threads, held = self.wish.threads, self.held()
        seconds = self.seconds(self.features, "scan", threads=threads) + self.seconds(hits, "hit", threads=threads)
        heap = held.heap + CHECKED_BYTES * self.documents + LATE_BYTES
        return Stage(seconds, heap + PAIR_BYTES / 4 * self.pairs, held.mapped, held.disk)

    def write(self) -> Stage:
        """Return what it takes to read all documents again and write them where they belong."""
        corpus, held = self.corpus, self.held()
        unpacked = self._unpacked()
        seconds = self.seconds(unpacked, "write") + self.seconds(self.documents, "document")
        if corpus.compression is not None:
            seconds += self.seconds(unpacked, f"unpack {corpus.compression}")
            seconds += self.seconds(unpacked, f"pack {corpus.compression}")
        disk = held.disk + (corpus.file_bytes * self.documents if corpus.file_bytes else unpacked)
        return Stage(seconds, held.heap + WRITTEN_BYTES * self.documents + LATE_BYTES, held.mapped, disk)

    def estimate(
        self, matching: Stage, candidates: float, *, recall: float, work: dict[str, float], notes: Sequence[str] = ()
    ) -> Estimate:
        """Return what the whole run is expected to take, given what matching does, and how many candidates it finds."""
        stages = [self.read(), self.collapse(), matching, self.verify(candidates, self.pairs)]
        if self.wish.written:
            stages += [self.check(), self.write()]
        most = max(stages, key=lambda stage: stage.heap + self._resident(stage))
        held = Bytes(round(most.heap), round(self._resident(most)), round(max(stage.disk for stage in stages)))
        seconds = sum(stage.seconds for stage in stages)
        notes = (*self.corpus.notes, *notes)
        return Estimate(recall=recall, seconds=seconds, bytes=held, work=work, notes=notes)

    def _resident(self, stage: Stage) -> float:
        """Return how much of mapped files counts as memory of the process: under a limit their pages are given back."""
        limit = self.wish.memory
        if limit is None:
            return stage.mapped
        return min(stage.mapped, max(RESIDENT_SHARE * limit - PROGRAM - stage.heap, TOUCHED_SHARE * limit))

    def _reading(self) -> float:
        """Return how long files take until their texts are there."""
        corpus = self.corpus
        seconds = self.seconds(self.documents, "document")
        if corpus.html or corpus.format in _PAGES:
            page = self.documents * (corpus.file_bytes or 10 * self.facts.text_bytes)
            return seconds + self.seconds(page, "read page", threads=self.wish.threads)
        if corpus.format == "text":
            return seconds + self.seconds(self.documents, "open")
        unpacked = self._unpacked()
        seconds += self.seconds(unpacked, f"read {_READERS.get(corpus.format, 'jsonl')}")
        if corpus.compression is not None:
            seconds += self.seconds(unpacked, f"unpack {corpus.compression}")
        return seconds

    def _unpacked(self) -> float:
        """Return how many bytes there are to decode: of files that are not packed, all; else about the text."""
        corpus = self.corpus
        if corpus.file_bytes and corpus.compression is None and corpus.format not in ("arrow", "parquet", "feather"):
            return corpus.file_bytes * self.documents
        return self.text
