"""One direction of a word alignment by sil-thot: segments as rows of words in, translations out, in this process.

The aligner is told numbers instead of words, so it never sees what is odd in a text. It takes a count for each segment
and trains as if it were 1: segments that repeat are told as often as they occur.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sosie.arrays import F64, I64
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.translations import pruned
from sosie.errors import UsageError

ASKED, ARRAYS, FOUND = "asked.json", ("offsets", "rows", "to_offsets", "to_rows"), "found"
_FIRST = 3  # the words before are the aligner's own: no word, an unknown one, an unused one


class Asked(NamedTuple):
    """Segments of two languages, each as CSR of rows of words, and how many words each language has."""

    offsets: I64
    rows: I64
    to_offsets: I64
    to_rows: I64
    known: int
    to_known: int


class Entries(NamedTuple):
    """Translations in no order: of the word `rows[i]`, the word `words[i]` with `probabilities[i]`."""

    rows: I64
    words: I64
    probabilities: F64


@cache
def load_thot() -> Any:
    """Return the module of aligners; raise if the extra is not installed."""
    try:
        import thot.alignment as alignment
    except ImportError as error:
        raise UsageError(
            f"dictionaries are trained by the package sil-thot ({error}). Run: pip install 'sosie[crosslingual]'"
        ) from error
    return alignment


def align(asked: Asked, spec: TrainingSpec, told: Callable[[int, int], None]) -> Entries:
    """Return p(other word | word), pruned; `told` is how many iterations are done, of how many."""
    model = _trained(asked, spec, told)
    rows, words, probabilities = list[int](), list[int](), list[float]()
    for row in range(asked.known):
        found = [(word - _FIRST, p) for word, p in model.get_translations(row + _FIRST, spec.least) if word >= _FIRST]
        kept = pruned([(word, p) for word, p in found if p > 0], spec.most, spec.mass)
        rows += [row] * len(kept)
        words += [word for word, _ in kept]
        probabilities += [p for _, p in kept]
    return Entries(np.array(rows, np.int64), np.array(words, np.int64), np.array(probabilities, np.float64))


def _trained(asked: Asked, spec: TrainingSpec, told: Callable[[int, int], None]) -> Any:
    thot = load_thot()
    model = _filled(_model(thot, spec), asked)
    if spec.aligner != "hmm":
        return _iterated(model, spec.rounds, 0, told)
    half = spec.rounds // 2  # the usual start: what IBM 1 has learnt, on the same segments
    first = _iterated(model, half, 0, lambda done, _: told(done, spec.rounds))
    return _iterated(thot.HmmAlignmentModel(first), half, half, told)


def _iterated(model: Any, rounds: int, before: int, told: Callable[[int, int], None]) -> Any:
    """Train a model; so many iterations of another one were before it."""
    model.start_training()
    rounds = rounds or model.scheduled_iterations
    for done in range(rounds):
        model.train()
        told(before + done + 1, before + rounds)
    model.end_training()
    return model


def _model(thot: Any, spec: TrainingSpec) -> Any:
    if spec.aligner == "fast_align":
        return thot.FastAlignModel()
    if spec.aligner != "eflomal":
        return thot.Ibm1AlignmentModel()
    model = thot.EflomalAlignmentModel()
    model.deterministic, model.seed = True, spec.seed
    if spec.iterations is not None:
        model.set_iterations(spec.iterations, spec.iterations, 4 * spec.iterations)
    return model


def _filled(model: Any, asked: Asked) -> Any:
    """Tell a model the words of both languages, in their order, and the segments."""
    names = list(map(str, range(max(asked.known, asked.to_known))))
    for row in range(asked.known):
        model.add_src_word(names[row])
    for row in range(asked.to_known):
        model.add_trg_word(names[row])
    sides = [(asked.rows.tolist(), asked.offsets.tolist()), (asked.to_rows.tolist(), asked.to_offsets.tolist())]
    for i in range(len(asked.offsets) - 1):
        model.add_sentence_pair(*([names[row] for row in rows[ends[i] : ends[i + 1]]] for rows, ends in sides))
    return model


def put_down(asked: Asked, spec: TrainingSpec, folder: Path) -> None:
    """Write what is asked to a folder, for another process."""
    for name in ARRAYS:
        np.save(folder / f"{name}.npy", getattr(asked, name), allow_pickle=False)
    said = {"spec": spec.to_dict(), "known": [asked.known, asked.to_known]}
    (folder / ASKED).write_text(json.dumps(said), "utf-8")


def taken_up(folder: Path) -> Entries:
    """Read what another process found."""
    return Entries(*(np.load(folder / f"{FOUND}_{name}.npy", allow_pickle=False) for name in Entries._fields))


def work(folder: Path) -> None:
    """Do what a folder asks: a line for every iteration goes to standard output, what is found to the folder."""
    said = json.loads((folder / ASKED).read_text("utf-8"))
    arrays = [np.load(folder / f"{name}.npy", allow_pickle=False) for name in ARRAYS]
    found = align(Asked(*arrays, *said["known"]), TrainingSpec.from_dict(said["spec"]), _tell)
    for name, array in found._asdict().items():
        np.save(folder / f"{FOUND}_{name}.npy", array, allow_pickle=False)


def _tell(done: int, total: int) -> None:
    sys.stdout.write(f"{done} {total}\n")
    sys.stdout.flush()
