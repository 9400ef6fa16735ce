"""The texts that are measured: a real Parquet file given by path, or a generated corpus of the same size."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sosie.evaluation.planted import PlantedCorpus

WORDS = re.compile(r"\w+")
GENERATED = 61_486


@dataclass(frozen=True)
class Corpus:
    """A Parquet file with a text column, and what it is called in the tables."""

    path: Path
    name: str

    @staticmethod
    def at(path: str | None) -> Corpus:
        if path is not None:
            return Corpus(Path(path), Path(path).name)
        file = Path(tempfile.mkdtemp()) / "generated.parquet"
        pq.write_table(pa.concat_tables(PlantedCorpus(GENERATED).tables()), file)
        return Corpus(file, "generated corpus")

    @cached_property
    def column(self) -> pa.Array:
        return pq.read_table(self.path, columns=["text"])["text"].combine_chunks()

    @cached_property
    def texts(self) -> list[str]:
        return self.column.to_pylist()


def shingles(text: str, width: int = 3) -> list[str]:
    """Tokenise and shingle as users of the peers do: words of the lower-cased text, joined by spaces."""
    words = WORDS.findall(text.lower())
    return [" ".join(words[i : i + width]) for i in range(max(1, len(words) - width + 1))] if words else []
