"""The texts of an experiment: those of a file, or generated ones."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sosie.evaluation.planted import PlantedCorpus


@dataclass(frozen=True)
class Collection:
    """Texts (an Arrow array) and what to call them."""

    name: str
    texts: Any

    def sample(self, count: int, seed: int = 0) -> Any:
        """Return so many of the texts, at random, in their order; all if there are fewer."""
        if count >= len(self.texts):
            return self.texts
        return self.texts.take(pa.array(np.sort(np.random.default_rng(seed).choice(len(self.texts), count, False))))


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which texts."""
    parser.add_argument("--texts", help="a Parquet file with a column text; default: a generated collection")
    parser.add_argument("--documents", type=int, default=20_000, help="size of a generated collection")


def read_texts(options: argparse.Namespace) -> Collection:
    """Return the texts that the options name, each one once."""
    if options.texts is None:
        tables = PlantedCorpus(options.documents).tables(1 << 12)
        texts = pa.concat_arrays([chunk for table in tables for chunk in table["text"].chunks])
        return Collection(f"{options.documents:,} generated texts", texts)
    texts = pq.read_table(options.texts, columns=["text"])["text"].combine_chunks().unique()
    return Collection(f"{len(texts):,} texts of {options.texts.rsplit('/', 1)[-1]}", texts)
