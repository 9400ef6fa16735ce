"""A million documents of about 500 bytes on two threads: planted, distinct, identical, and sharing one paragraph."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sosie.evaluation.planted import PlantedCorpus

COUNT = 1_000_000


def rows(count: int = COUNT) -> list[dict[str, Any]]:
    """De-duplicate each corpus by the command line; time is that of the stages, memory the highest of them."""
    table = []
    for name in corpora():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "documents.parquet"
            write_corpus(path, name, count)
            command = [str(Path(sys.executable).parent / "sosie"), "dedup", str(path), "-o", f"{folder}/out"]
            done = subprocess.run([*command, "--threads", "2", "--json"], check=True, capture_output=True, text=True)
            report = json.loads(done.stdout)
        table.append(
            {
                "corpus": name,
                "documents": report["counts"]["documents"],
                "kept": report["counts"]["kept"],
                "seconds": report["seconds"],
                "peak_memory_bytes": max(stage["peak_memory_bytes"] for stage in report["stages"]),
                "stages": {stage["stage"]: stage["seconds"] for stage in report["stages"]},
            }
        )
    return table


def corpora() -> tuple[str, ...]:
    """Return what the corpora are called."""
    return "planted copies", "distinct", "identical", "one shared paragraph"


def write_corpus(path: Path, name: str, count: int = COUNT) -> None:
    """Write a corpus as a Parquet file."""
    _write(path, _tables(name, count))


def _tables(name: str, count: int) -> Iterator[pa.Table]:
    paragraph = PlantedCorpus(2).texts(np.arange(1))[0].as_py()
    for table in PlantedCorpus(count, copies=0.2 if name == "planted copies" else 0).tables():
        if name == "identical":
            texts = pa.array([paragraph] * table.num_rows)
        elif name == "one shared paragraph":
            own = [" ".join(text.split()[:8]) for text in table["text"].to_pylist()]
            texts = pc.binary_join_element_wise(paragraph, pa.array(own), " ")
        else:
            texts = table["text"]
        yield pa.table({"id": table["id"], "text": texts})


def _write(path: Path, tables: Iterator[pa.Table]) -> None:
    first = next(tables)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
