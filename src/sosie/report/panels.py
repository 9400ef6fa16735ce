"""Examples as HTML: two texts side by side with what differs marked; all that comes from documents is escaped here."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from sosie.documents.write import DROPPED
from sosie.evaluation.sampling.draw import MARGIN
from sosie.report.deduplication import Deduplication
from sosie.report.differences import Kind, Stretch, differences, shorten
from sosie.report.examples import Example, Examples, LargeCluster

CHARACTERS = 100_000  # of a text: more is not compared for display
EXCERPT = 400  # characters of a text where its beginning is enough
OPENED = 3  # examples of a list that are not folded
_ID = 120
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if code not in (9, 10)} | {13: "", 127: "\u2421"}
LEGEND = (
    '<p class="note">Marked: words <mark class="left">only on the left</mark> or <mark class="right">only on the '
    'right</mark>. <span class="respelt">Dotted</span>: the same word to the comparison, in other case or with other '
    "punctuation.</p>\n"
)


class Shown:
    """The documents that are shown: their texts, ids and what becomes of them."""

    def __init__(self, result: Deduplication, texts: dict[int, str]) -> None:
        rows = np.fromiter(texts, np.int64, len(texts))
        self.texts = texts
        self.code = result.report.parameters.method.get("shingles", {}).get("unit") == "code"
        self.ids = dict(zip(rows.tolist(), result.ids(rows).to_pylist(), strict=True))
        foreign = result.is_foreign(rows)
        states = result.decisions.state[np.where(foreign, 0, rows)] if len(rows) else rows
        said = np.where(foreign, "reference", np.where(states == DROPPED, "dropped", "kept"))
        self.states = dict(zip(rows.tolist(), said.tolist(), strict=True))

    def panel(self, example: Example, opened: bool) -> str:
        """Show two documents beside each other."""
        title = f"<b>{four_digits(example.similarity)}</b> {self.name(example.a)} and {self.name(example.b)}"
        if example.total is not None and self.texts[example.a] != self.texts[example.b]:
            title += f' <span class="soft">{example.shared:,} of {example.total:,} features shared</span>'
        sides = (self._heading(example.a), self._heading(example.b))
        return side_by_side(title, sides, (self.texts[example.a], self.texts[example.b]), opened, self.code)

    def panels(self, examples: list[Example] | None) -> str:
        """Show examples, the first ones open."""
        return "\n".join(self.panel(example, index < OPENED) for index, example in enumerate(examples or []))

    def excerpt(self, cluster: LargeCluster) -> str:
        """Show the beginning of the document that stays for a cluster."""
        text = self.texts[cluster.anchor]
        cut = f'{safe(text[:EXCERPT])}<span class="gap"> […]</span>' if len(text) > EXCERPT else safe(text)
        return (
            f'<p class="note">The largest cluster has {cluster.size:,} documents; {self.name(cluster.anchor)} stays,'
            f' and begins so (<a href="#clusters">more</a>):</p>\n<p class="side text" dir="auto">{cut}</p>\n'
        )

    def name(self, row: int) -> str:
        """Return the id of a document."""
        return name(self.ids[row])

    def _heading(self, row: int) -> str:
        return f"{self.states[row]}: {self.name(row)}"


def threshold_panels(examples: Examples, report: dict[str, Any], shown: Shown) -> str:
    """Show the pairs that only just reach the threshold, and those of the sample that only just do not."""
    threshold = f"{report['parameters']['threshold']:g}"
    above, below = examples.lowest, examples.below
    legend = LEGEND if above or below else ""
    if above:
        said = (
            f"The {len(above)} least similar pairs that still reach {threshold}. If these are duplicates to you, the"
            " others will be, too; if not, raise the threshold."
        )
    else:
        said = f"No pair reaches the threshold of {threshold}."
    return (
        f'{legend}<div id="above"><h3>Just above</h3>\n<p>{said}</p>\n{shown.panels(above)}\n</div>\n'
        f'<div id="below"><h3>Just below</h3>\n<p>{_said_below(below, threshold, report.get("measured"))}</p>\n'
        f"{shown.panels(below)}\n</div>\n"
    )


def _said_below(below: list[Example] | None, threshold: str, measured: dict[str, Any] | None) -> str:
    if below is None or measured is None:
        return "Not looked for: a sample is compared with all documents where a result is written to a directory."
    drawn = f"{measured['sampled']:,} documents drawn at random"
    if not below:
        least = max(float(threshold) - float(MARGIN), 0)
        return f"None: of {drawn}, none that stays has a similarity from {least:g} to {threshold} to another."
    return (
        f"The {len(below)} most similar pairs of {drawn} that do not reach {threshold}, so that both documents"
        " stay. If these are duplicates to you, lower the threshold."
    )


def cluster_panels(clusters: list[LargeCluster], shown: Shown) -> str:
    """Show the largest clusters, each with some of its members."""
    if not clusters:
        return "<p>There is no cluster of two documents or more.</p>\n"
    folds = []
    for index, cluster in enumerate(clusters):
        panels = "\n".join(shown.panel(member, position == 0) for position, member in enumerate(cluster.members))
        folds.append(
            f'<details class="cluster"{" open" if index == 0 else ""}><summary><b>{cluster.size:,}</b> documents, '
            f"{shown.name(cluster.anchor)} stays</summary>\n{panels}\n</details>"
        )
    return (
        "<p>Of each cluster, the members that are least similar to the document that stays.</p>\n"
        f"{LEGEND}{chr(10).join(folds)}\n"
    )


def sample_panels(sample: list[Example], dropped: int, shown: Shown) -> str:
    """Show a sample of the dropped documents beside those that stay."""
    if not sample:
        return "<p>Nothing is dropped.</p>\n"
    said = (
        f"{len(sample)} of {dropped:,} dropped documents, drawn at random" if len(sample) < dropped else "All of them"
    )
    return f"<p>{said}: on the left the document that stays.</p>\n{LEGEND}{shown.panels(sample)}\n"


def safe(text: object) -> str:
    r"""Return a text that may stand anywhere in the page: escaped, with control characters made visible.

    >>> safe('<b> & "c"\x00')
    '&lt;b&gt; &amp; &quot;c&quot;\u2400'
    """
    encodable = str(text).encode("utf-8", "backslashreplace").decode("utf-8")
    return escape(encodable.translate(_CONTROLS))


def name(identifier: object) -> str:
    """Return an id or a path as HTML, isolated from the direction of what surrounds it, and cut if it is long."""
    text = str(identifier)
    shown = text if len(text) <= _ID else f"{text[:_ID]}[… {len(text) - _ID:,} more characters]"
    return f"<bdi><code>{safe(shown)}</code></bdi>"


def side_by_side(title: str, sides: tuple[str, str], texts: tuple[str, str], opened: bool, code: bool) -> str:
    """Return a fold with two texts; `title` and the headings of the `sides` are HTML."""
    cut = any(len(text) > CHARACTERS for text in texts)
    left, right = differences(texts[0][:CHARACTERS], texts[1][:CHARACTERS], code)
    bodies = (shorten(left), shorten(right))
    shortened = any(run.omitted for body in bodies for run in body)
    notes = _notes({run.kind for run in (*left, *right)}, cut, shortened)
    return (
        f'<details class="pair"{" open" if opened else ""}><summary>{title}</summary>{notes}'
        f'<div class="sides">{_side("left", sides[0], bodies[0])}{_side("right", sides[1], bodies[1])}</div></details>'
    )


def _notes(kinds: set[Kind], cut: bool, shortened: bool) -> str:
    """Say what the texts have in common as a whole, and what of them is not shown."""
    notes = []
    if cut:
        notes.append(f"Only the first {CHARACTERS:,} characters of each text are compared here.")
    if "rest" in kinds:
        notes.append("The texts differ in more places than are compared here; grey words were not.")
    if shortened:
        notes.append("Cut around the differences: numbers in brackets say how many words are not shown.")
    if not cut and kinds <= {"same"}:
        notes.append("The same words in the same order.")
    elif not cut and kinds <= {"same", "respelt"}:
        notes.append("The same words in the same order; only case, punctuation or spelling variants differ.")
    return f'<p class="note">{" ".join(notes)}</p>' if notes else ""


def _side(kind: str, heading: str, runs: list[Stretch]) -> str:
    body = "".join(map(_run, runs)) or '<span class="gap">(empty)</span>'
    return f'<section class="side {kind}"><h4>{heading}</h4><p class="text" dir="auto">{body}</p></section>'


def _run(run: Stretch) -> str:
    text = run.text
    if run.kind == "same":
        html = safe(text)
    else:
        # White space at the end stays outside of the mark.
        inside = text.rstrip()
        tag = "mark" if run.kind == "changed" else "span"
        html = f'<{tag} class="{run.kind}">{safe(inside)}</{tag}>{safe(text[len(inside) :])}' if inside else safe(text)
    if not run.omitted:
        return html
    return f'{html} <span class="gap">[… {run.omitted:,} {"word" if run.omitted == 1 else "words"} …]</span> '


def four_digits(value: float) -> str:
    """Return four digits, rounded down: only what is identical reads 1.0000."""
    return f"{math.floor(round(value * 10_000, 6)) / 10_000:.4f}"
