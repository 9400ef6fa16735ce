"""Documents as targets: read in batches of any size, de-duplicated and written; nothing is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.formats import Files
from tests.fuzz.mutate import mutated
from tests.fuzz.target import ACCEPTED, Case, emptied

import sosie
from sosie.documents.html import read_page

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {},
    {"id_column": "none"},
    {"html": "all"},
    {"text_column": ["text", "id"]},
    {"encoding": "utf-16"},
)


class Documents:
    """One format."""

    def __init__(self, files: Files) -> None:
        self.files = files

    def prepare(self, folder: Path) -> None:
        """Read every seed, in every way, so that the kernels are there: those of large pages, too."""
        read_page(b"<p>x" * 300, "all")
        for number, seed in enumerate(self.files.seeds):
            path = folder / f"{number}{self.files.suffix}"
            path.write_bytes(seed if self.files.pack is None else self.files.pack(seed))
            assert written(path, {"on_error": "skip"}, emptied(folder / "out"))

    def write(self, random: Random, folder: Path) -> Case:
        """Write a file that is wrong, or packed rightly with wrong content."""
        path, pack = folder / f"docs{self.files.suffix}", self.files.pack
        seed, seeds, tokens = random.choice(self.files.seeds), self.files.seeds, self.files.tokens
        if pack is None:
            path.write_bytes(mutated(random, seed, seeds, tokens))
        elif random.random() < 0.5:
            path.write_bytes(pack(mutated(random, seed, seeds, tokens)))
        else:
            path.write_bytes(mutated(random, pack(seed), [pack(seed[:100])], [b"\x1f\x8b\x08\0", b"\0" * 8]))
        return Case(path)

    def judge(self, case: Case, random: Random) -> str:
        """Read a file, every fourth time as a whole job that writes."""
        options = {"on_error": random.choice(("raise", "skip", "skip")), "strict": False, **random.choice(OPTIONS)}
        if random.random() < 0.25:
            written(case.path, options, emptied(case.path.parent / "out"))
            return ACCEPTED
        whole = read(sosie.Source(case.path, **options))
        assert read(sosie.Source(case.path, batch_size=random.choice((1, 2, 3)), **options), threads=2) == whole
        return ACCEPTED


def read(source: sosie.Source, threads: int = 1) -> tuple[list[str], list[Any], list[Any]]:
    """Return all texts, ids and rejects; every record is one or the other."""
    reading = source.batches(threads)
    texts, rows, rejects = [], [], []
    for batch in reading:
        texts += batch.texts.to_pylist()
        rows += batch.rows.tolist()
        rejects += [(reject.row, reject.line, reject.reason) for reject in batch.rejects]
    numbers = sorted([*rows, *(reject[0] for reject in rejects)])
    assert numbers == [*range(reading.documents)] and reading.rejected == len(rejects), "records are lost"
    return texts, reading.ids.take(rows).to_pylist() if rows else [], sorted(rejects)


def written(path: Path, options: dict[str, Any], out: Path) -> int:
    """De-duplicate a file into a directory and return how many documents there are; what was written is all of it."""
    source = sosie.Source(path, **options)
    counts = sosie.dedup(source, output=out / "made", threads=1).report["counts"]
    assert counts["documents"] == counts["kept"] + counts["dropped"] + counts["rejected"]
    texts, _, rejects = read(source)
    assert len(texts) == counts["kept"] + counts["dropped"] and len(rejects) == counts["rejected"]
    again: list[str] = []
    for part in ("kept", "dropped"):
        if counts[part]:
            again += read(sosie.Source(out / "made" / part, **{**options, "on_error": "raise"}))[0]
    assert Counter(again) == Counter(texts), "what was written is not what was read"
    return int(counts["documents"])
