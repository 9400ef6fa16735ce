"""What single steps of de-duplicating documents take on this machine: the product's own code on a generated corpus.

Nanoseconds per unit on one thread, the best of a few repeats, by the processor's own time: what else runs on the
machine hardly counts. Tables that are larger than the caches in a real run are so here. What no repeat can show, how
long a run takes to begin and to meet its data for the first time, is not measured.
"""

from __future__ import annotations

import gzip
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sosie.documents.source import Source
from sosie.documents.write import DROPPED, KEPT, Decisions, write_documents
from sosie.evaluation.planted import PlantedCorpus
from sosie.evaluation.sampling.compare import Comparison
from sosie.evaluation.sampling.search import FeatureTable, search
from sosie.features.collect import FeatureSpill
from sosie.features.shingles import Shingles
from sosie.features.spans import cut
from sosie.features.tags import draw_key
from sosie.kernels.sets.distinct import distinct_tagged
from sosie.kernels.sets.rarity import count_documents, rarest_prefixes
from sosie.kernels.sets.similarity import Sets
from sosie.matches.equal.sets import collapse
from sosie.matches.keys import key_groups
from sosie.matches.sets.dense import DenseJoin
from sosie.matches.sets.join import join_sparse
from sosie.matches.sets.partitions import partition_postings, sorted_partition
from sosie.matches.sets.rows import rows_of, sets_of, weighed_sets
from sosie.matches.sets.similarity import JACCARD
from sosie.matches.sets.threshold import criterion_of
from sosie.matches.verify import verify_rows
from sosie.planner.constants.documents import CHECK_SLOTS
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.room import Room
from sosie.text.column import as_column
from sosie.types import Features, Pairs, offsets_of

DOCUMENTS = 6_000
ROWS, SIZE, SLOTS = 15_000, 72, 25  # of features that nobody shares, and bits of a table that no cache holds
TABLES = 8
SOUGHT = 1 << 17  # features that a search looks up
REPEATS = 2
HALF, MOST = Fraction(1, 2), Fraction(4, 5)

Constants = dict[str, float | dict[int, float]]


def measure(threads: int = 1) -> Constants:
    """Return the constants of documents by their names, each of one thread, however many there are."""
    with tempfile.TemporaryDirectory(prefix="sosie-") as folder:
        bench = _Bench(Path(folder))
        return {**bench.reading(), **bench.extracting(), **bench.joining(), **bench.signing(), **bench.ending()}


def took(work: Callable[[], Any], units: float) -> float:
    """Return the nanoseconds of one unit of some work, on whatever threads, the best of a few repeats."""
    best = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return float(max(best * 1e9 / max(units, 1), 1e-3))


class _Bench:
    """A corpus, its files and its features, and how long the steps of a de-duplication take with them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table = pa.concat_tables(list(PlantedCorpus(DOCUMENTS).tables())).combine_chunks()
        self.column = as_column(self.table["text"].combine_chunks())
        self.text = float(self.column.offsets[-1])

    def reading(self) -> Constants:
        """Measure reading files of some formats, packed and not."""
        rows = zip(self.table["id"].to_pylist(), self.table["text"].to_pylist(), strict=True)
        lines = "".join(f'{{"id": "{name}", "text": "{text}"}}\n' for name, text in rows).encode()
        self.lines = self.folder / "a.jsonl"
        self.lines.write_bytes(lines)
        pa.csv.write_csv(self.table, self.folder / "a.csv")
        pa.parquet.write_table(self.table, self.folder / "a.parquet", compression="zstd")
        (self.folder / "a.jsonl.gz").write_bytes(gzip.compress(lines, 1))
        short = Source(pa.table({"id": [f"d{row}" for row in range(DOCUMENTS)], "text": ["x"] * DOCUMENTS}))
        numbered = took(lambda: _read(short), DOCUMENTS)

        def of(name: str, units: float) -> float:
            whole = took(lambda: _read(Source(self.folder / name)), 1)
            return max(whole - numbered * DOCUMENTS, 0.2 * whole) / units

        plain, packed = of("a.jsonl", len(lines)), of("a.jsonl.gz", len(lines))
        return {
            "read jsonl": plain,
            "read csv": of("a.csv", (self.folder / "a.csv").stat().st_size),
            "read parquet": of("a.parquet", self.text),
            "read table": took(lambda: _read(Source(self.table)), self.text),
            "document": numbered,
            "unpack gzip": max(packed - plain, 0.1),
        }

    def extracting(self) -> Constants:
        """Measure folding, hashing, ordering and keeping features, and telling equal documents."""
        spans, shingles, key = list(cut(self.column, Shingles())), Shingles(), draw_key()
        tagged = [shingles.tagged(span.batch, span.start, span.stop, key) for span in spans]  # type: ignore[arg-type]
        parts = [Features(*distinct_tagged(*each, False)) for each in tagged]
        occurrences, count = sum(len(each[0]) for each in tagged), sum(len(part.hashes) for part in parts)
        self.features = Features.joined(parts)
        sets, order = sets_of(self.features)[0], np.arange(DOCUMENTS)

        def keep(memory: int) -> None:
            with FeatureSpill(Room(self.folder, memory), False, tags=True) as spill:
                for part in parts:
                    spill.append(part)

        grouping = took(lambda: collapse(sets, order, None, self.features.tags), 1)
        digests = took(lambda: collapse(sets, order), 1) / 2  # the half of it, or so, goes to features
        return {
            "fold": took(lambda: [shingles.tagged(s.batch, s.start, s.stop, key) for s in spans], self.text),  # type: ignore[arg-type]
            "distinct": took(lambda: [distinct_tagged(*each, False) for each in tagged], occurrences),
            "keep": took(lambda: keep(1 << 30), count),
            "spill": took(lambda: keep(0), count),
            "digest": digests / count,
            "group": max(grouping - digests, 0.2 * grouping) / DOCUMENTS,
        }

    def joining(self) -> Constants:
        """Measure the exact join: of features that nobody shares, of those of the corpus, and of dense lists."""
        sets, count = self.spread, ROWS * SIZE
        table = np.zeros(1 << SLOTS, np.uint16)
        last = np.uint64(2**64 - 1)
        counting = (sets.hashes, sets.starts, sets.stops, np.uint64(0), last, 64 - SLOTS, table)
        lengths = np.full(ROWS, SIZE - -(-4 * SIZE // 5) + 1)
        offsets = offsets_of(lengths)
        tokens = np.empty(offsets[-1], np.uint64)
        count_documents(*counting)
        found = {
            "count": took(lambda: count_documents(*counting), count),
            "rank": took(
                lambda: rarest_prefixes(sets.hashes, sets.starts, sets.stops, 64 - SLOTS, table, offsets, tokens), count
            ),
            "prefix": took(lambda: partition_postings(tokens, offsets, 1), len(tokens)),
        }
        hashes = np.repeat(np.random.default_rng(1).integers(0, 1 << 48, 1 << 15, dtype=np.uint64), 2)
        pieces, postings = partition_postings(np.uint64(2 << 48) | hashes, np.arange(len(hashes) + 1), 1)
        found["posting"] = took(lambda: [sorted_partition(postings, piece) for piece in pieces], len(postings.rows))
        return {**found, **self._comparing(), **self._dense()}

    def signing(self) -> Constants:
        """Measure minhash, its keys, and simhash."""
        features, signer = self.features, Minhash().fit()
        count, rows = len(features.hashes), np.arange(DOCUMENTS)
        minima = took(lambda: signer.minima(features, threads=1), 1)
        columns = [np.ascontiguousarray(column) for column in signer.keys(features, threads=1).values.T[:TABLES]]

        def make() -> None:
            with signer.key_columns(features, rows, Room(self.folder, threads=1)):
                pass

        made = max(took(make, 1) - minima, 0.0) / (signer.spec.bands * DOCUMENTS)
        grouped = took(lambda: key_groups(columns, threads=1), TABLES * DOCUMENTS)
        simhash = {
            bits: took(lambda bits=bits: Simhash(bits=bits, weighting="binary").fit().sign(features, threads=1), count)  # type: ignore[misc]
            for bits in (64, 256)
        }
        lanes = signer.spec.minima
        return {"minimum": minima / (count * lanes), "key": made + grouped, "simhash": simhash}

    def ending(self) -> Constants:
        """Measure the exact search of a sample, and writing."""
        compared, count = Comparison(self.spread), ROWS * SIZE
        few = np.arange(0, ROWS, ROWS // 4)
        scanned = took(lambda: list(search(compared, few, HALF, len, 1)), 1)
        some = FeatureTable(np.unique(compared.sets.hashes[:: count // SOUGHT]))
        sought = took(lambda: some.occurrences(compared.sets, 0, ROWS), 1)
        hits = count * len(some.features) / CHECK_SLOTS + len(some.features)
        return {
            "scan": scanned / count,
            "hit": max(sought - scanned, 0.05 * scanned) / hits,
            "write": self._writing() / self.lines.stat().st_size,
        }

    @cached_property
    def spread(self) -> Sets:
        """Rows of features that no two rows share."""
        drawn = np.random.default_rng(0).integers(0, 2**64, (ROWS, SIZE), dtype=np.uint64)
        offsets = offsets_of(np.full(ROWS, SIZE))
        return rows_of(np.sort(drawn, axis=1).ravel(), offsets[:-1], offsets[1:])

    def _comparing(self) -> Constants:
        sets, _ = sets_of(self.features)
        found = join_sparse(sets, JACCARD, MOST, 1).pairs
        a, b = np.repeat(found.a, 8), np.repeat(found.b, 8)
        sizes = sets.stops - sets.starts
        compared = took(lambda: verify_rows(sets, Pairs(a, b), MOST, 1), 1)
        keys = np.random.default_rng(1).integers(0, 1 << 62, 1 << 17)
        ordering = took(lambda: np.lexsort((keys, keys >> 20)), len(keys))
        return {"compare": compared / max(float((sizes[a] + sizes[b]).sum()), 1.0), "pair": ordering}

    def _dense(self) -> Constants:
        rng = np.random.default_rng(0)
        words = np.sort(rng.integers(0, 1 << 63, 400, dtype=np.uint64))
        rows = np.sort(rng.permuted(np.tile(words, (1500, 1)), axis=1)[:, :40], axis=1)
        offsets = offsets_of(np.full(1500, 40))
        sets = rows_of(rows.ravel(), offsets[:-1], offsets[1:])
        lists = join_sparse(sets, JACCARD, HALF, 1).dense
        assert lists is not None, "all words are in many rows"
        join = DenseJoin(lists, weighed_sets(sets, JACCARD), criterion_of(JACCARD, HALF), 1)
        return {"dense": took(join.all_pairs, float((lists.lengths[lists.entries.lists]).sum()))}

    def _writing(self) -> float:
        reading = Source(self.lines).batches(1)
        for _ in reading:
            pass
        state = np.where(np.arange(DOCUMENTS) % 5 == 0, DROPPED, KEPT).astype(np.uint8)
        decisions = Decisions(state, lambda rows: pa.table({"similarity": pa.array(np.ones(len(rows)))}))
        best = np.inf
        for number in range(REPEATS):
            (output := self.folder / f"out{number}").mkdir()
            start = time.process_time()
            write_documents(reading, decisions, output, 1)
            best = min(best, time.process_time() - start)
        return float(best * 1e9)


def _read(source: Source) -> int:
    return sum(len(batch) for batch in source.batches(1))
