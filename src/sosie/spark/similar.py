"""Documents joined on a cluster: every pair whose features are similar enough, exactly; and given pairs verified."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sosie.errors import DataError, MismatchError
from sosie.features.shingles import Shingles
from sosie.features.tags import draw_key
from sosie.matches.check import check_pairs
from sosie.matches.equal.groups import pairs_between, pairs_inside
from sosie.matches.sets.dense import DenseJoin
from sosie.matches.sets.rows import sets_of, weighed_sets
from sosie.matches.sets.similarity import Measure, Similarity
from sosie.matches.sets.threshold import criterion_of
from sosie.matches.verify import verify_rows
from sosie.shown import counted
from sosie.spark.blocks import Blocks, Extraction, Told
from sosie.spark.candidates import Candidates, candidates_of
from sosie.spark.copies import find_copies
from sosie.spark.crowded import Crowd
from sosie.spark.documents import check_ids, check_read, choose, read_documents
from sosie.spark.equal import Equal, groups_of_firsts
from sosie.spark.exchange import record_batch
from sosie.spark.ids import row_ids, with_ids
from sosie.spark.packed import pack
from sosie.spark.prefixes import Sizes, prefix_candidates
from sosie.spark.signed import beside
from sosie.spark.travelling import Batches
from sosie.spark.verified import VERIFIED, features_of_rows, verify_candidates
from sosie.spark.work import Work
from sosie.types import I64, Pairs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ALL = 1 << 62  # no group of equal documents is written as a star
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Compared:
    """What documents are joined by, and how they are read."""

    threshold: Fraction
    measure: Measure
    shingles: Shingles
    text_column: str | Sequence[str]
    id_column: str | None


class Similar(NamedTuple):
    """Verified pairs of documents: ids a and b, and their similarity; how many, and what was counted."""

    pairs: DataFrame
    rows: int
    counters: dict[str, int]


def join_documents(work: Work, frames: Sequence[DataFrame], by: Compared, max_pairs: int) -> Similar:
    """Return all pairs of documents of one DataFrame, or across two, that reach the threshold."""
    read = _read(work, frames, by)
    blocks, split = (read[0], 0) if len(read) == 1 else (beside(*read), read[0].rows)
    copies = Equal(_NONE, _NONE)
    if not split:
        found = find_copies(work, blocks, keyed=False, ids=False, without=_NONE)
        copies = Equal(found.rows, found.of)
    groups = copies.groups(_ALL)
    check_pairs(int((groups.sizes * (groups.sizes - 1) // 2).sum()), max_pairs)
    sizes, rows = Sizes(by.measure, by.threshold), blocks.rows - len(copies.rows)
    candidates = prefix_candidates(work, blocks, copies.rows, sizes, rows, split)
    verified = verify_candidates(work, blocks, candidates, by.threshold, by.measure).where("a >= 0")
    if candidates.listed:
        crowd = _crowded(work, blocks, candidates, by, split, max_pairs)
        verified = verified.unionByName(crowd).dropDuplicates(["a", "b"])
    if len(copies.rows):
        told = Told(pack(copies.rows, [copies.of]), ("<i8",))
        between = work.run(verified, take_between, VERIFIED, told)
        firsts = work.table(pa.table({"first": groups.representatives}))
        verified = between.unionByName(work.run(firsts, take_inside, VERIFIED, told))
    stage = work.stage(with_ids(work, blocks, verified.select("a", "b", "similarity"), split), "joined")
    check_pairs(stage.rows, max_pairs)
    return Similar(stage.frame, stage.rows, {"comparisons": candidates.pairs})


def verify_pairs(work: Work, pairs: DataFrame, frame: DataFrame, by: Compared) -> Similar:
    """Return the pairs of ids, of a table with the columns a and b, that reach the threshold, each once."""
    from pyspark.sql import functions as F

    (blocks,) = _read(work, [frame], by)
    ids = row_ids(work, blocks)
    if dict(pairs.select("a").dtypes)["a"] == "string" and dict(ids.dtypes)["id"] != "string":
        raise MismatchError("the ids of the pairs are text, and those of the documents are integers")
    first = ids.select(F.col("row").alias("row_a"), F.col("id").alias("a"))
    second = ids.select(F.col("row").alias("row_b"), F.col("id").alias("b"))
    joined = pairs.select("a", "b").join(first, "a", "left").join(second, "b", "left")
    rows = joined.select(F.col("row_a").alias("a"), F.col("row_b").alias("b"))
    stage = work.stage(rows, "given", lacking=F.sum((F.col("a").isNull() | F.col("b").isNull()).cast("int")))
    if lacking := int(stage.observed["lacking"] or 0):
        raise DataError(f"{counted(lacking, 'pair')} with an id that no document has: give the documents of all pairs")
    candidates = candidates_of(work, stage.frame, stage.rows)
    verified = verify_candidates(work, blocks, candidates, by.threshold, by.measure).where("a >= 0")
    found = work.stage(with_ids(work, blocks, verified.select("a", "b", "similarity")), "verified-pairs")
    return Similar(found.frame, found.rows, {"candidates": candidates.pairs})


def take_between(batches: Batches, told: Told) -> Batches:
    """Write out the pairs of each batch for all documents that are identical to theirs."""
    rows, (of,) = told.rows()
    known = Equal(rows, of).groups(_ALL)
    for batch in batches:
        a, b, *values = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
        firsts, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        groups = groups_of_firsts(known, firsts)
        left, right, which = pairs_between(places[: len(a)], places[len(a) :], groups, groups)
        similarity, shared, total = (column[which] for column in values)
        lower, upper = np.minimum(left, right), np.maximum(left, right)
        yield record_batch(a=lower, b=upper, similarity=similarity, shared=shared, total=total)


def take_inside(batches: Batches, told: Told) -> Batches:
    """Return the pairs of identical documents, given the first of each group."""
    rows, (of,) = told.rows()
    known = Equal(rows, of).groups(_ALL)
    for batch in batches:
        for first in np.sort(batch.column("first").to_numpy(zero_copy_only=False)).tolist():
            a, b, _ = pairs_inside(groups_of_firsts(known, np.array([first])))
            none = np.zeros(len(a), np.int64)
            yield record_batch(a=np.minimum(a, b), b=np.maximum(a, b), similarity=none + 1.0, shared=none, total=none)


def _read(work: Work, frames: Sequence[DataFrame], by: Compared) -> list[Blocks]:
    """Read documents, with their features; of one collection, no two may have the same id."""
    extraction = Extraction(by.shingles, draw_key(), (secrets.randbits(64), secrets.randbits(64)), whole=False)
    read = []
    for frame in frames:
        chosen = choose(frame, by.text_column, by.id_column)
        blocks = read_documents(work, frame, chosen, extraction)
        check_read(blocks, chosen, skip=False)
        check_ids(work, blocks, chosen, find_copies(work, blocks, keyed=False, ids=True, without=_NONE))
        read.append(blocks)
    return read


def _crowded(work: Work, blocks: Blocks, candidates: Candidates, by: Compared, split: int, max_pairs: int) -> DataFrame:
    """Return all pairs of crowded lists; they are counted before they are listed."""
    crowd = Crowd(work, candidates)
    members = np.unique(crowd.rows)
    features = features_of_rows(work, blocks, members)
    sets, similarity = sets_of(features)[0], Similarity(by.measure, None, features.tags)
    middle = int(np.searchsorted(members, split)) if split else 0
    dense = crowd.dense(np.searchsorted(members, crowd.rows), sets.stops - sets.starts, len(members))
    join = DenseJoin(dense, weighed_sets(sets, similarity), criterion_of(similarity, by.threshold, middle))
    expected, every = join.expected_pairs()
    check_pairs(expected, max_pairs, about=every > 1)
    found = verify_rows(sets, Pairs(*join.all_pairs()), by.threshold, similarity=similarity)
    total: I64 = np.zeros(len(found), np.int64) if found.total is None else found.total
    columns: dict[str, Any] = {"a": members[found.a], "b": members[found.b], "similarity": found.similarity}
    return work.table(pa.table({**columns, "shared": found.shared, "total": total}))
