"""A dictionary of two languages: the words of each, and how probably a word of one translates one of the other."""

from __future__ import annotations

import hashlib
import json
import math
import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.arrays import F64, I64
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.table import Table, read_table
from sosie.crosslingual.translations import Translations, ordered
from sosie.errors import DataError, MismatchError, SosieError, StorageError
from sosie.shown import counted, printable
from sosie.storage.ids import id_arrays, ids_of
from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.output import OutputDirectory
from sosie.text import UNICODE_VERSION, words

KIND = "dictionary"  # in a manifest
VERSION = 1  # of what the arrays mean
Weights = tuple[float, float, float]
_TABLE = ("offsets", "words", "probabilities")


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Words of a source and a target language, as `sosie.text.words` reads texts: each sorted by code point, distinct.

    `forward` has p(target word | source word), `backward` p(source word | target word). `weights` are those of the
    views by which documents are compared (forward, backward, character n-grams), where they were fitted.

    >>> made = Dictionary.from_pairs(["haus", "haus", "garten"], ["house", "home", "garden"], [0.75, 0.25, 1.0])
    >>> made.translations("Haus"), made.translations("home", backward=True)
    ([('house', 0.75), ('home', 0.25)], [('haus', 1.0)])
    """

    source: pa.Array
    target: pa.Array
    forward: Translations
    backward: Translations
    spec: TrainingSpec = TrainingSpec(origin="loaded")
    segments: int = 0
    weights: Weights | None = None

    def __post_init__(self) -> None:
        for what, listed in (("source", self.source), ("target", self.target)):
            _check_words(f"{what} words", listed)
        self.forward.check("forward", len(self.source), len(self.target))
        self.backward.check("backward", len(self.target), len(self.source))
        if type(self.segments) is not int or self.segments < 0:
            raise MismatchError(f"segments are counted from 0, got {self.segments!r}")
        if self.weights is not None and not _are_weights(self.weights):
            raise MismatchError(f"weights are three finite numbers from 0 on, got {self.weights!r}")

    @classmethod
    def from_pairs(
        cls,
        source: Sequence[str],
        target: Sequence[str],
        forward: Sequence[float],
        backward: Sequence[float] | None = None,
    ) -> Dictionary:
        """Return a dictionary of pairs of words, each once, with p(target | source) and p(source | target).

        A probability of 0: this direction does not have the pair. Those of a word are renormalised. Without `backward`
        it is `forward`, transposed and renormalised, as if all source words were equally frequent.
        """
        listed = [sorted(set(source)), sorted(set(target))]
        rows = [
            np.fromiter(map({word: row for row, word in enumerate(each)}.__getitem__, side), np.int64, len(side))
            for each, side in zip(listed, (source, target), strict=True)
        ]
        ahead = _directed(rows[0], rows[1], np.asarray(forward, np.float64), len(listed[0]))
        if backward is None:
            back = ahead.transposed(len(listed[1]))
        else:
            back = _directed(rows[1], rows[0], np.asarray(backward, np.float64), len(listed[1]))
        return cls(pa.array(listed[0], pa.large_string()), pa.array(listed[1], pa.large_string()), ahead, back)

    @classmethod
    def from_tsv(cls, path: str | os.PathLike[str]) -> Dictionary:
        """Read lines of source word, target word, p(target | source) and, if it is known, p(source | target).

        Words are folded as in texts; entries of several words are left out. A header is no entry. See `from_pairs` for
        what becomes of the probabilities; a pair that is there twice, and whatever else is no entry, is a `DataError`.
        """
        return cls.from_table(read_table(path))

    @classmethod
    def from_table(cls, table: Table) -> Dictionary:
        """Return the dictionary of a table that was read."""
        if not table.source:
            raise DataError(f"{table.path}: has no pair of words. {_left_out(table)}")
        return cls.from_pairs(table.source, table.target, table.forward, table.backward)

    def __len__(self) -> int:
        """How many source words have translations."""
        return int(np.count_nonzero(self.forward.sizes))

    def __repr__(self) -> str:
        made = f"trained on {counted(self.segments, 'segment')}" if self.spec.origin == "trained" else "loaded"
        return f"Dictionary({len(self.source):,} source words, {len(self.target):,} target words, {made})"

    @cached_property
    def digest(self) -> str:
        """The name of the translations and weights: 32 hexadecimal digits."""
        weights = None if self.weights is None else [float(each).hex() for each in self.weights]
        said = {"version": VERSION, "unicode": UNICODE_VERSION, "weights": weights}
        found = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
        for name, array in sorted(self._arrays().items()):
            little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            found.update(f"{name} {little.dtype.str} {len(little)}\n".encode())
            found.update(little.data)
        return found.hexdigest()[:32]

    def translations(self, word: str, backward: bool = False) -> list[tuple[str, float]]:
        """Return the translations of a word, the most probable first; none if it is unknown."""
        mine, others = (self.target, self.source) if backward else (self.source, self.target)
        row = _row(mine, word)
        if row is None:
            return []
        found, probabilities = (self.backward if backward else self.forward).of(row)
        return list(zip(others.take(pa.array(found)).to_pylist(), probabilities.tolist(), strict=True))

    def near(self, word: str, backward: bool = False) -> list[str]:
        """Return words that are spelt like a word, the nearest first."""
        folded = " ".join(words(word))
        return get_close_matches(folded, (self.target if backward else self.source).to_pylist(), 3, 0.75)

    def reversed(self) -> Dictionary:
        """Return the dictionary from the target language into the source language."""
        weights = None if self.weights is None else (self.weights[1], self.weights[0], self.weights[2])
        return replace(
            self,
            source=self.target,
            target=self.source,
            forward=self.backward,
            backward=self.forward,
            weights=weights,
        )

    def with_weights(self, weights: Weights | None) -> Dictionary:
        """Return the same dictionary with these weights of the views: forward, backward, character n-grams."""
        return replace(self, weights=weights)

    def save(self, directory: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write everything to a directory that appears whole; `load_dictionary` opens it.

        The directory must not exist or be empty; `overwrite` replaces one that Sosie wrote.
        """
        with OutputDirectory(directory, overwrite) as output:
            self.write(output.path)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write everything into a folder of an output that holds nothing yet."""
        meta = {
            "spec": self.spec.to_dict(),
            "dictionary": VERSION,
            "unicode": UNICODE_VERSION,
            "segments": self.segments,
            "weights": None if self.weights is None else list(self.weights),
            "source_words": len(self.source),
            "target_words": len(self.target),
        }
        write_artefact(folder, KIND, self._arrays(), digest=self.digest, meta=meta)

    def _arrays(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {}
        for side, listed in (("source", self.source), ("target", self.target)):
            stored = id_arrays(listed)
            arrays |= {f"{side}_bytes": stored["id_bytes"], f"{side}_offsets": stored["id_offsets"]}
        for direction, table in (("forward", self.forward), ("backward", self.backward)):
            arrays |= {f"{direction}_{name}": getattr(table, name) for name in _TABLE}
        return arrays


def load_dictionary(directory: str | os.PathLike[str]) -> Dictionary:
    """Open a dictionary that was saved: everything is checked, then mapped.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Dictionary.from_pairs(["haus"], ["house"], [1.0]).save(folder)
    >>> load_dictionary(folder).translations("haus")
    [('house', 1.0)]
    """
    try:
        meta, arrays = read_artefact(directory, KIND)
    except StorageError as error:
        if os.path.isdir(directory):
            raise
        made_by = "`sosie dictionary train` makes one of texts, `sosie dictionary import` of a table of word pairs."
        raise StorageError(f"{directory}: is no directory that holds a dictionary. {made_by}") from error
    try:
        if (meta["dictionary"], meta["unicode"]) != (VERSION, UNICODE_VERSION):
            raise StorageError(f"version {meta['dictionary']} with Unicode {meta['unicode']}")
        weights = meta["weights"]
        made = Dictionary(
            _words(arrays, "source"),
            _words(arrays, "target"),
            Translations(*(arrays[f"forward_{name}"] for name in _TABLE)),
            Translations(*(arrays[f"backward_{name}"] for name in _TABLE)),
            TrainingSpec.from_dict(meta["spec"]),
            meta["segments"],
            None if weights is None else tuple(weights),
        )
        if (len(made.source), len(made.target)) != (meta["source_words"], meta["target_words"]):
            raise StorageError("the number of words differs")
        if made.digest != meta["digest"]:
            raise StorageError("the digest is not that of the translations")
    except (SosieError, AttributeError, KeyError, OverflowError, TypeError, ValueError, pa.ArrowException) as error:
        raise StorageError(f"{directory}: is not a dictionary of this version ({error}). Make it again.") from error
    return made


def _words(arrays: dict[str, Any], side: str) -> Any:
    return ids_of({"id_bytes": arrays[f"{side}_bytes"], "id_offsets": arrays[f"{side}_offsets"]})


def _directed(rows: I64, others: I64, probabilities: F64, count: int) -> Translations:
    """Return translations of the pairs that this direction has."""
    here = np.flatnonzero(probabilities)
    return ordered(rows[here], others[here], probabilities[here], count)


def _row(listed: Any, word: str) -> int | None:
    """Return where a word is in a sorted list, folded; None if it is not, or is several words."""
    folded = words(word)
    if len(folded) != 1:
        return None
    row = bisect_left(listed, folded[0], key=lambda each: each.as_py())
    return row if row < len(listed) and listed[row].as_py() == folded[0] else None


def _check_words(what: str, listed: Any) -> None:
    if not isinstance(listed, pa.Array) or listed.type != pa.large_string() or listed.null_count:
        raise MismatchError(f"the {what} are an Arrow array of large strings without nulls")
    if len(listed) > 1 and not pc.all(pc.less(listed[:-1], listed[1:])).as_py():
        raise MismatchError(f"the {what} are not sorted and distinct")
    spelt = "".join(listed.to_pylist())
    if "" in listed[:1].to_pylist() or " " in spelt or printable(spelt) != spelt:
        raise MismatchError(f"the {what} hold what is no word: an empty one, a space or a control character")


def _are_weights(weights: Any) -> bool:
    return len(weights) == 3 and all(type(w) in (int, float) and math.isfinite(w) and w >= 0 for w in weights)


def _left_out(table: Table) -> str:
    said = " and ".join(f"{count:,} {why}" for why, count in table.left_out.items())
    return f"Left out: {said}." if said else "Give lines of source word, target word and probability, by tabs."
