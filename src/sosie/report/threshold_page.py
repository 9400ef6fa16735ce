"""The page on thresholds: how near the nearest are, who would go, and the pairs nearest to each, with differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sosie.report.charts import Bar, nearest_chart
from sosie.report.examples import Example
from sosie.report.panels import LEGEND, four_digits, name, safe, side_by_side
from sosie.report.sheet import sheet
from sosie.report.style import THRESHOLD
from sosie.report.summary import counted, unit_name

if TYPE_CHECKING:
    from sosie.evaluation.thresholds.going import Going
    from sosie.report.threshold_advice import NearPairs, ThresholdAdvice

_FEET = "<footer><p>The page holds texts of the documents: treat it like them.</p></footer>"


def threshold_page(advice: ThresholdAdvice, command: str) -> str:
    """Return the page as one HTML file, without scripts and without anything from elsewhere."""
    sections = [
        ("nearest", "How near the nearest are", _nearest(advice)),
        ("going", "How much goes", _going(advice)),
        ("pairs", "Pairs to look at", _pairs(advice)),
        ("command", "What to run", _command(advice, command)),
    ]
    if not advice.documents:
        sections = sections[-1:]
    return sheet("Sosie: which threshold?", _head(advice), sections, _FEET, False, THRESHOLD)


def _head(advice: ThresholdAdvice) -> str:
    said = " ".join(safe(sentence) for sentence in advice.said())
    chosen = next((each for each in advice.going if each.threshold == advice.threshold), None)
    tiles = [
        ("documents", f"{advice.documents:,}"),
        ("held against all", f"{advice.sampled:,}"),
        ("threshold", f"{advice.threshold:g}<small>{'in the valley' if advice.valley else 'the usual one'}</small>"),
        ("would go there", "-" if chosen is None else f"{_documents(chosen)}<small>{_share(chosen)}</small>"),
    ]
    boxes = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in tiles)
    return f'<h1>Which threshold?</h1>\n<p class="lead">{said}</p>\n<dl class="tiles">{boxes}</dl>'


def _nearest(advice: ThresholdAdvice) -> str:
    labels = ["below 0.3", *(f"{edge:g}" for edge in advice.edges[1:])]
    bars = [Bar(label, count) for label, count in zip(labels, advice.nearest, strict=True)]
    valley = None if advice.valley is None else (advice.valley.low, advice.valley.high)
    chart = nearest_chart(
        bars[1:],
        "documents by the similarity of their nearest other document",
        "similarity of the nearest other document",
        (f"threshold {advice.threshold:g}", advice.threshold),
        valley,
    )
    rows = "".join(f'<tr><td>{bar.label}</td><td class="number">{bar.count:,}</td></tr>' for bar in bars)
    shaded = " The valley is shaded." if valley else ""
    low = f"{advice.nearest[0]:,} of {advice.sampled:,}"
    return (
        "<figure><figcaption>Documents by the similarity of their nearest other one, in steps of 0.05; the last bar"
        f" holds those of similarity 1.{shaded}</figcaption>{chart}</figure>\n"
        f'<p class="note">Not drawn: {low} documents, whose nearest one is below 0.3.</p>\n'
        '<details><summary>The same as a table</summary><table><tr><th>similarity from</th><th class="number">'
        f"documents</th></tr>{rows}</table></details>\n"
        f'<p class="note">{_reading(advice)}</p>\n'
    )


def _reading(advice: ThresholdAdvice) -> str:
    width, unit = advice.shingles.get("width"), unit_name(str(advice.shingles.get("unit")))
    what = f"{safe(advice.measure.capitalize())} of runs of {safe(width)} {unit}s"
    return (
        f"Similarity is {what}. A valley is a stretch that is significantly emptier than a place on each of its sides:"
        " of collections without one, at most one in twenty is said to have one."
    )


def _going(advice: ThresholdAdvice) -> str:
    rows = "".join(
        f'<tr{_chosen(advice, each)}><td>{each.threshold:g}</td><td class="number">{_documents(each)}</td>'
        f'<td class="number">{_share(each)}</td></tr>'
        for each in advice.going
    )
    if all(each.exact for each in advice.going):
        how = "Counted: all similar pairs were found, and who stays follows from them."
    else:
        how = (
            f"Estimated from {counted(advice.sampled, 'document')}: the interval holds the true share in at least 95 %"
            " of samples."
        )
    return (
        '<div class="scroll"><table><tr><th>threshold</th><th class="number">documents that go</th><th class="number">'
        f'share</th></tr>{rows}</table></div>\n<p class="note">{how} A document goes if an earlier one that stays is'
        " similar to it.</p>\n"
    )


def _chosen(advice: ThresholdAdvice, going: Going) -> str:
    return ' class="chosen"' if going.threshold == advice.threshold else ""


def _documents(going: Going) -> str:
    return f"{'' if going.exact else 'about '}{going.documents:,}"


def _share(going: Going) -> str:
    low, high = (f"{100 * end:.3g}" for end in going.interval)
    return f"{100 * going.share:.3g} %" if going.exact else f"{low} to {high} %"


def _pairs(advice: ThresholdAdvice) -> str:
    if not any(each.below or each.above for each in advice.near):
        return "<p>None: no sampled document has another with a similarity of 0.3 or more.</p>\n"
    parts = "".join(_near(advice, *each) for each in advice.alike)
    return (
        "<p>Of the sampled documents. If the pairs above a threshold are duplicates to you and those below are not, it"
        f" is yours.</p>\n{LEGEND}{parts}"
    )


def _near(advice: ThresholdAdvice, threshold: str, here: bool, near: NearPairs) -> str:
    parts = []
    for said, pairs in (("Just above", near.above), ("Just below", near.below)):
        panels = "\n".join(_panel(advice, pair, here and place == 0) for place, pair in enumerate(pairs))
        parts.append(f"<h4>{said}</h4>\n{panels or '<p>There is none.</p>'}\n")
    return (
        f'<details class="cluster"{" open" if here else ""}><summary><b>{threshold}</b></summary>\n'
        f"{''.join(parts)}</details>\n"
    )


def _panel(advice: ThresholdAdvice, pair: Example, opened: bool) -> str:
    a, b = name(advice.ids[pair.a]), name(advice.ids[pair.b])
    title = f"<b>{four_digits(pair.similarity)}</b> {a} and {b}"
    if pair.total is not None and pair.shared is not None:
        title += f' <span class="soft">{pair.shared:,} of {pair.total:,} features shared</span>'
    return side_by_side(title, (a, b), (advice.texts[pair.a], advice.texts[pair.b]), opened, advice.code)


def _command(advice: ThresholdAdvice, command: str) -> str:
    again = "" if advice.valley else " Or with the threshold at which the pairs look right to you."
    return f'<p class="text"><code>{safe(command)}</code></p>\n<p class="note">It writes to OUT.{again}</p>\n'
