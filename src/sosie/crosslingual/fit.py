"""How much each part of a vector weighs: what ranks the true targets of training pairs highest.

The pairs that are ranked are no part of what the dictionary was trained on for that, and later ones never count.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from sosie.crosslingual.align import train
from sosie.crosslingual.compared import best_rows, similarities
from sosie.crosslingual.cut import Cut
from sosie.crosslingual.dictionary import Dictionary
from sosie.crosslingual.parallel.segment import Segment
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.terms import count_words
from sosie.crosslingual.views import USUAL, Languages, Weights, word_views
from sosie.storage.room import Room
from sosie.types import F64, I64

HELD_OUT = 5  # one in so many documents
_LEAST = 40  # documents held out, below which they tell too little
_MOST = 1000  # documents held out, beyond which they tell little more
_TARGETS = 20_000  # that the held out ones are ranked among
_GROUPED = 10  # consecutive segments that make a document, where they are sentences (NFL 3.2)
_SHORT = 200  # characters of a segment, below which it is a sentence rather than a document
_COMPARED = 20  # of each part
_STEPS = 10  # of a weight


def fitted_weights(pairs: Sequence[Segment], spec: TrainingSpec, room: Room) -> Weights | None:
    """Return the weights that fit pairs of texts best, None where there are too few to tell.

    One document in five is held out; a dictionary is trained on the others, and the sources that were held out are
    ranked among all targets.
    """
    documents = as_documents(pairs)
    held = list(range(0, len(documents), HELD_OUT))[:_MOST]
    if len(held) < _LEAST:
        return None
    out = set(held)
    rest = [document for number, document in enumerate(documents) if number not in out]
    dictionary = train(Cut(rest, spec.longest).segments(), spec, threads=room.threads, scratch=room.scratch)
    return ranked_best([documents[number] for number in held], rest, dictionary, room)


def ranked_best(held: Sequence[Segment], others: Sequence[Segment], dictionary: Dictionary, room: Room) -> Weights:
    """Return the weights by which the sources of some pairs rank their targets highest, among those of all pairs.

    The mean reciprocal rank decides; of weights that are equally good those nearest to the usual ones are taken.
    """
    targets = [pair.target for pair in held] + [pair.target for pair in others[: max(_TARGETS - len(held), 0)]]
    source = count_words([[pair.source for pair in held]], room)
    both = Languages.of(source, count_words([targets], room), room.threads)
    parts = [word_views(both, dictionary, room, Weights(*alone)) for alone in np.eye(3).tolist()]
    found = [best_rows(view.source, view.target, view.width, _COMPARED, room)[0] for view in parts]
    rows = np.arange(len(held))
    candidates = np.concatenate([rows[:, None], *found], axis=1)  # the true target of row i is row i
    a, b = np.repeat(rows, candidates.shape[1]), np.maximum(candidates, 0).reshape(-1)
    scores = np.stack([similarities(view, a, b, room.threads) for view in parts], axis=-1)
    scores[candidates.reshape(-1) < 0] = -1
    shaped = scores.reshape(*candidates.shape, 3)
    return max(_grid(), key=lambda weights: (_reciprocal_rank(shaped, candidates, weights), -_distance(weights)))


def as_documents(pairs: Sequence[Segment]) -> list[Segment]:
    """Return pairs of documents: the pairs themselves, or where most are sentences ten of them together.

    >>> len(as_documents([Segment("ein satz", "a sentence")] * 25))
    3
    """
    lengths = [len(pair.source) for pair in pairs]
    if not lengths or np.median(lengths) >= _SHORT:
        return list(pairs)
    groups = [pairs[start : start + _GROUPED] for start in range(0, len(pairs), _GROUPED)]
    return [Segment(*("\n\n".join(pair[side] for pair in group) for side in (0, 1))) for group in groups]


def _grid() -> list[Weights]:
    """Return all weights in steps of a tenth that give the words of each direction some."""
    steps = range(1, _STEPS)
    return [
        Weights(forward / _STEPS, backward / _STEPS, (_STEPS - forward - backward) / _STEPS)
        for forward, backward in product(steps, steps)
        if forward + backward <= _STEPS
    ]


def _reciprocal_rank(scores: F64, candidates: I64, weights: Weights) -> float:
    """Return the mean of 1 / rank of the first candidate; others that are it again, or there twice, count once."""
    combined = scores @ np.array(weights)
    order = np.argsort(candidates, axis=1, kind="stable")
    ordered = np.take_along_axis(candidates, order, axis=1)
    again = np.zeros_like(ordered, np.bool_)
    again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    better = np.take_along_axis(combined > combined[:, :1] + 1e-9, order, axis=1)
    ranks = 1 + (better & ~again & (ordered != candidates[:, :1])).sum(axis=1)
    return float((1 / ranks).mean())


def _distance(weights: Weights) -> float:
    return sum(abs(one - usual) for one, usual in zip(weights, USUAL, strict=True))
