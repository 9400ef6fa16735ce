"""`sosie plan --threshold`: what a person needs to choose a threshold, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from sosie.cli.say import say
from sosie.report.examples import Example
from sosie.report.panels import four_digits
from sosie.report.threshold_advice import NearPairs, ThresholdAdvice, share_of

_WIDTH = 50  # of the longest bar
_ID, _SAID = 60, 100  # characters of an id, and of what differs, in one line


def show(advice: ThresholdAdvice, command: str) -> None:
    """Print what was found: the similarities as bars, the valley, who goes, pairs with what differs, the command."""
    say(*_lines(advice), *(["To run it:", "", f"  {command}"] if advice.documents else []))


def _lines(advice: ThresholdAdvice) -> Iterator[str]:
    yield f"{advice.documents:>12,} {'document' if advice.documents == 1 else 'documents'}"
    if advice.rejected:
        yield f"{advice.rejected:>12,} rejected"
    if advice.wordless:
        yield f"{advice.wordless:>12,} of them without words, similar to nothing but what is the same byte for byte"
    if advice.documents > 1:
        yield f"{advice.sampled:>12,} of them held against all others, exactly"
        yield ""
        yield from _bars(advice)
    yield ""
    yield from advice.said()
    yield ""
    if advice.documents > 1:
        yield from _going(advice)
        yield from _pairs(advice)


def _bars(advice: ThresholdAdvice) -> Iterator[str]:
    """Draw how many documents there are by the similarity of their nearest one, `|` where the valley is."""
    yield f"{'nearest at':>12}  documents"
    above = advice.nearest[1:]
    most, edges = max(above, default=0) or 1, [*advice.edges, 1.0]
    for place, count in enumerate(advice.nearest):
        low, high = edges[place], edges[place + 1]
        name = "below 0.30" if place == 0 else f"{low:.2f}"
        inside = advice.valley is not None and advice.valley.low - 1e-9 <= low and high <= advice.valley.high + 1e-9
        bar = "" if place == 0 else "#" * -(-count * _WIDTH // most)
        yield f"{name:>12} {'|' if inside else ' '} {count:<8,} {bar}".rstrip()


def _going(advice: ThresholdAdvice) -> Iterator[str]:
    how = "counted" if all(each.exact for each in advice.going) else "estimated from the sample"
    yield f"{'threshold':>12}{'documents that go':>20}    share ({how})"
    for each in advice.going:
        here = " *" if each.threshold == advice.threshold else ""
        about = "" if each.exact else "about "
        yield f"{each.threshold:>12g}{about + format(each.documents, ','):>20}    {share_of(each)}{here}"
    yield ""


def _pairs(advice: ThresholdAdvice) -> Iterator[str]:
    if not any(each.below or each.above for each in advice.near):
        return
    yield "Pairs nearest to each threshold, with the words that only one of the two has:"
    yield ""
    for threshold, _, near in advice.alike:
        yield from _near(advice, threshold, near)


def _near(advice: ThresholdAdvice, threshold: str, near: NearPairs) -> Iterator[str]:
    for said, pairs in (("above", near.above), ("below", near.below)):
        for pair in pairs:
            yield f"{threshold:>12} {said}  {four_digits(pair.similarity)}  {_name(advice, pair)}"
            for sign, words in zip("-+", advice.differing(pair), strict=True):
                yield f"{'':>12} {sign} {_cut(words, _SAID) or '(nothing)'}"
    yield ""


def _name(advice: ThresholdAdvice, pair: Example) -> str:
    a, b = (_cut(str(advice.ids[row]), _ID) for row in (pair.a, pair.b))
    return f"{a}  and  {b}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 2]} …"
