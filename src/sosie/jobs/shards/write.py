"""The last stage of shards: the documents of the files of one shard, kept and dropped, or with what was found."""

from __future__ import annotations

from sosie.documents.places.remote import is_url
from sosie.jobs.shards.cluster import outcome_of
from sosie.jobs.shards.folder import WRITTEN, ShardFolder, ShardReport, key_from
from sosie.jobs.shards.part import Part
from sosie.report.timing import Progress, Silent, Timing


def write_shard(
    folder: ShardFolder,
    part: Part,
    *,
    annotate: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ShardReport:
    """Write the documents of some files to kept/ and dropped/, as `dedup` does; in as many parts as are wanted."""
    timing = Timing(progress or Silent())
    outcome, _, clustered = outcome_of(folder)
    mine = part.inputs(outcome.reading.inputs)
    key = key_from(WRITTEN, clustered, str(part), str(annotate))
    counts: dict[str, int]
    if done := folder.is_done(WRITTEN, key, part):
        counts = dict(folder.stage(WRITTEN, part).meta["counts"])
    else:
        first = int(outcome.reading.counts[: mine.start].sum())
        last = first + int(outcome.reading.counts[mine.start : mine.stop].sum())
        kept = int(outcome.mask[first:last].sum())
        inputs = [str(place.path) for place in outcome.reading.inputs if not is_url(place.path)]
        with folder.writing(WRITTEN, part, inputs) as directory:
            with timing.stage("write", last - first) as stage:
                outcome.write_documents(directory.path, threads, stage.advance, annotate, only=mine)
            counts = {"documents": last - first, "kept": kept, "files": len(mine)}
            folder.save(directory, WRITTEN, key, {}, {"counts": counts})
    stages = tuple(timing.finished)
    return ShardReport(stage="write", shard=str(part), done_before=done, counts=counts, stages=stages)
