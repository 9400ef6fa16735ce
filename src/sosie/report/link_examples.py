"""Which links a person should look at, with their texts and the words that translate each other; and their page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sosie.crosslingual.dictionary import Dictionary
from sosie.report.link_page import LinkPage, link_page
from sosie.report.link_panels import LinkExample
from sosie.report.links import PAGE, Links
from sosie.text.words import words

SHOWN = 8  # links of each kind
CHARACTERS = 5_000  # of a text, in which words are marked


def write_link_page(links: Links, directory: Path, threshold: float | None, threads: int | None = None) -> None:
    """Write report.html."""
    (directory / PAGE).write_text(link_page(page_of(links, threshold, threads)), "utf-8")


def page_of(links: Links, threshold: float | None, threads: int | None = None) -> LinkPage:
    """Return what the page of links shows."""
    report, first = links.report, links.first()
    counts = {
        "documents of the first": report.documents["a"],
        "documents of the second": report.documents["b"],
        "linked": report.linked,
        "links": report.links,
        "left out of the first": sum(report.left_out["a"].values()),
        "left out of the second": sum(report.left_out["b"].values()),
    }
    if report.rejected:
        counts["rejected"] = report.rejected
    stated = _recall(report.recall, report.interval)
    parameters = {name: _said(value) for name, value in report.parameters.items() if value is not None}
    return LinkPage(
        names=(_name(links.source), _name(links.target)),
        counts=counts,
        best=first.similarity,
        all=links.links.similarity if len(links.links) > len(first) else None,
        threshold=threshold,
        parameters={**parameters, "recall": stated} if stated else parameters,
        rounds=report.rounds,
        alarms=report.warnings,
        hubs=[(str(hub["id"]), hub["first_of"]) for hub in report.hubs],
        examples=_examples(links, threshold, threads),
        coverage={
            "words of the first collection": report.known_words["a"],
            "words of the second collection": report.known_words["b"],
        },
    )


def _examples(links: Links, threshold: float | None, threads: int | None) -> dict[str, list[LinkExample]]:
    """Choose the best links, those at the border, and those hardly ahead of the next; read their texts."""
    first = links.first()
    if not len(first):
        return {}
    border = threshold if threshold is not None else float(np.median(first.similarity))
    ranks = {
        "best": -first.similarity,
        "borderline": np.abs(first.similarity - border),
        "doubtful": first.standing,
    }
    chosen = {name: np.argsort(rank, kind="stable")[:SHOWN] for name, rank in ranks.items()}
    every = np.unique(np.concatenate(list(chosen.values())))
    source = links.source.texts(np.unique(first.a[every]), threads, CHARACTERS)
    target = links.target.texts(np.unique(first.b[every]), threads, CHARACTERS)
    ids = [side.ids(rows[every]).to_pylist() for side, rows in ((links.source, first.a), (links.target, first.b))]
    names = {place: (str(a), str(b)) for place, a, b in zip(every.tolist(), *ids, strict=True)}
    rivals = _rivals(links)

    def shown(place: int) -> LinkExample:
        a, b = int(first.a[place]), int(first.b[place])
        mine, theirs = translated_words(source[a], target[b], links.dictionary)
        rival, similarity = rivals.get(a), float(first.similarity[place])
        return LinkExample(*names[place], 1, similarity, rival, source[a], target[b], mine, theirs)

    return {name: [shown(place) for place in places.tolist()] for name, places in chosen.items()}


def translated_words(
    source: str, target: str, dictionary: Dictionary | None
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of each text that a word of the other translates, in either direction, or that both have.

    >>> made = Dictionary.from_pairs(["haus"], ["house"], [1.0])
    >>> mine, theirs = translated_words("ein Haus in Rom", "a house in Rom", made)
    >>> sorted(mine), sorted(theirs)
    (['haus', 'in', 'rom'], ['house', 'in', 'rom'])
    """
    own, other = set(words(source)), set(words(target))
    mine, theirs = own & other, own & other
    if dictionary is not None:
        for backward, here, there, marks, others in (
            (False, own, other, mine, theirs),
            (True, other, own, theirs, mine),
        ):
            for word in sorted(here):
                found = {translation for translation, _ in dictionary.translations(word, backward)} & there
                if found:
                    marks.add(word)
                    others |= found
    return frozenset(mine), frozenset(theirs)


def _rivals(links: Links) -> dict[int, float]:
    second = np.flatnonzero(links.links.rank == 2)
    return dict(zip(links.links.a[second].tolist(), links.links.similarity[second].tolist(), strict=True))


def _name(side: Any) -> str:
    places = side.reading.inputs
    return places[0].name if len(places) == 1 else f"{places[0].name} and {len(places) - 1} more"


def _recall(recall: float | None, interval: tuple[float, float] | None) -> str:
    if recall is None:
        return ""
    return f"{recall:.4f}" + ("" if interval is None else f" (95 % interval {interval[0]:.4f} to {interval[1]:.4f})")


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(each)}" for name, each in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)
