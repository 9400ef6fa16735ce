"""The page of links between two collections: how similar they are, and texts side by side, to look at before use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sosie.report.charts import Bar, tenth_bars, tenth_chart
from sosie.report.link_panels import LinkExample as LinkExample
from sosie.report.link_panels import link_panels
from sosie.report.panels import name, safe
from sosie.report.sheet import sheet
from sosie.report.style import LINKS
from sosie.report.summary import counted, percent
from sosie.types import F64

Section = tuple[str, str, str]  # anchor, title, HTML


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkPage:
    """What the page shows.

    `names` are those of both collections, `counts` numbers by their labels in the order in which they are shown. `best`
    has the similarity of the first link of each document that has one, `all` that of every link, None to leave it out.
    `rounds` are the rounds of a bootstrap, each with the same columns; `hubs` documents of the second collection that
    are first for many of the other; `examples` lists of links for "best", "borderline" and "doubtful"; `coverage` has
    shares by their labels.
    """

    names: tuple[str, str]
    counts: Mapping[str, int]
    best: F64
    all: F64 | None = None
    threshold: float | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    rounds: Sequence[Mapping[str, Any]] = ()
    alarms: Sequence[str] = ()
    hubs: Sequence[tuple[str, int]] = ()
    examples: Mapping[str, list[LinkExample]] = field(default_factory=dict)
    coverage: Mapping[str, float] = field(default_factory=dict)


def link_page(page: LinkPage) -> str:
    """Return the page as one HTML file, without scripts and without anything from elsewhere.

    >>> html = link_page(LinkPage(names=("de", "en"), counts={"links": 0}, best=np.array([])))
    >>> "No document of" in html, "<script" in html
    (True, False)
    """
    sections: list[Section | None] = [
        ("warnings", "Look at this first", _alarms(page)) if page.alarms else None,
        ("similarities", "How similar the links are", _similarities(page)),
        ("rounds", "How the dictionary grew", _rounds(page.rounds)) if page.rounds else None,
        ("coverage", "What the dictionary covers", _coverage(page.coverage)) if page.coverage else None,
        ("hubs", "Hubs", _hubs(page)),
        *_examples(page),
        ("method", "What was done", _table(page.parameters) or "<p>Not stated.</p>\n"),
        ("reading", "How to read this", _reading(page)),
    ]
    title = f"Sosie: links of {page.names[0]} and {page.names[1]}"
    footer = (
        "<footer><p>All links are in <code>links.parquet</code>, these numbers in <code>report.json</code>. The page"
        " holds texts of both collections: treat it like them.</p></footer>"
    )
    return sheet(title, _head(page), [each for each in sections if each], footer, bool(page.alarms), LINKS)


def _head(page: LinkPage) -> str:
    first, second = map(name, page.names)
    if not len(page.best):
        said = f"No document of {first} is linked with one of {second}."
    else:
        are = "is" if len(page.best) == 1 else "are"
        said = f"{counted(len(page.best), 'document')} of {first} {are} linked with the nearest of {second}"
        if page.threshold is not None:
            said += f", {int((page.best >= page.threshold).sum()):,} with a similarity of at least {page.threshold:g}"
        said += ". Look at some of them below before you rely on them."
    boxes = "".join(f"<div><dt>{safe(label)}</dt><dd>{count:,}</dd></div>" for label, count in page.counts.items())
    return f'<h1>Links across languages</h1>\n<p class="lead">{said}</p>\n<dl class="tiles">{boxes}</dl>'


def _alarms(page: LinkPage) -> str:
    return "<ul>" + "".join(f"<li>{safe(alarm)}</li>" for alarm in page.alarms) + "</ul>\n"


def _similarities(page: LinkPage) -> str:
    best = tenth_bars(page.best)
    if not best:
        return "<p>There are no links to draw.</p>\n"
    every = [] if page.all is None else tenth_bars(page.all)
    mark = None if page.threshold is None else (f"threshold {page.threshold:g}", page.threshold)
    drawn = [("The best link of each document", "documents by the similarity of their first link", best)]
    drawn += [("All links", "links by their similarity", every)] if every else []
    figures = "\n".join(
        f"<figure><figcaption><b>{title}</b><br>{said}</figcaption>"
        f"{tenth_chart(bars, f'{said}, in steps of 0.1', 'cosine similarity', mark)}</figure>"
        for title, said, bars in drawn
    )
    tables = "".join(_bars(title, bars) for title, _, bars in drawn)
    return (
        f'<div class="plots">\n{figures}\n</div>\n<p class="note">{_quartiles(page.best)}</p>\n'
        f'<details><summary>The same as tables</summary><div class="plots">{tables}</div></details>\n'
    )


def _quartiles(best: F64) -> str:
    low, middle, high = np.nanpercentile(best, [25, 50, 75]).tolist()
    return f"Of the best links, half are between {low:.2f} and {high:.2f}; the median is {middle:.2f}."


def _bars(title: str, bars: list[Bar]) -> str:
    rows = "".join(f'<tr><td>{bar.label}</td><td class="number">{bar.count:,}</td></tr>' for bar in bars)
    return f'<table><tr><th>{title}: from</th><th class="number">count</th></tr>{rows}</table>'


def _rounds(rounds: Sequence[Mapping[str, Any]]) -> str:
    """Show the rounds as a table, whatever their columns are."""
    columns = list(dict.fromkeys(column for each in rounds for column in each))
    head = "".join(f'<th class="number">{safe(column.replace("_", " "))}</th>' for column in columns)
    rows = "".join(
        "<tr>" + "".join(f'<td class="number">{_cell(each.get(column))}</td>' for column in columns) + "</tr>"
        for each in rounds
    )
    return (
        "<p>Links that stand out teach words, and these words find more links. The rounds have come to rest when little"
        f' changes any more.</p>\n<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>\n'
    )


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool | str):
        return safe(value)
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{float(value):.4g}"


def _coverage(coverage: Mapping[str, float]) -> str:
    rows = "".join(
        f'<tr><td>{safe(label)}</td><td class="number">{percent(None if math.isnan(share) else share)}</td></tr>'
        for label, share in coverage.items()
    )
    return (
        "<p>A document of which few words are translated can hardly be linked, whatever it says.</p>\n"
        f"<table>{rows}</table>\n"
    )


def _hubs(page: LinkPage) -> str:
    first, second = map(name, page.names)
    if not page.hubs:
        return f"<p>No document of {second} is the best link of conspicuously many of {first}.</p>\n"
    rows = "".join(
        f'<tr><td class="long">{name(identifier)}</td><td class="number">{often:,}</td></tr>'
        for identifier, often in page.hubs
    )
    return (
        f"<p>Documents of {second} that are the best link of many documents of {first}. Few texts have many"
        " translations: lists, tables and very short texts are often near everything, and their links doubtful.</p>\n"
        '<div class="scroll"><table><tr><th>document</th><th class="number">times first</th></tr>'
        f"{rows}</table></div>\n"
    )


def _examples(page: LinkPage) -> list[Section]:
    near = (
        "Links of median similarity, as no threshold was set"
        if page.threshold is None
        else f"The links nearest to the threshold of {page.threshold:g}"
    )
    told = [
        ("best", "The best links", "The links that are most similar. If these are wrong, all are."),
        ("borderline", "Borderline links", f"{near}. If these say the same, the links above will, too."),
        ("doubtful", "Doubtful links", "First links with a small margin: another document is nearly as near."),
    ]
    return [
        (key, title, f"<p>{said}</p>\n{link_panels(page.examples[key])}")
        if page.examples.get(key)
        else (key, title, "<p>There are none.</p>\n")
        for key, title, said in told
    ]


def _table(rows: Mapping[str, str]) -> str:
    cells = "".join(f'<tr><th>{safe(key)}</th><td class="long">{safe(said)}</td></tr>' for key, said in rows.items())
    return f'<div class="scroll"><table>{cells}</table></div>\n' if rows else ""


def _reading(page: LinkPage) -> str:
    first, second = map(name, page.names)
    return (
        "<ul>\n<li><b>Similarity</b> is the cosine of two documents as weighted words, those of one language turned"
        " into words of the other by the dictionary. Much is lost in that: true translations are far below 1.</li>\n"
        f"<li><b>Rank</b> orders the links of a document of {first} by how far each stands out among its rivals in"
        f" {second}, so the first one need not be the most similar.</li>\n"
        "<li><b>Margin</b> is the similarity of a link less that of the second best of the same document. Where it is"
        " small or negative, look at both.</li>\n"
        "<li>A link says that two texts share what they are about, not that one translates the other. Read the"
        " borderline ones, and raise the threshold if they are wrong.</li>\n</ul>\n"
    )
