"""What differs between two texts, word by word, as the comparison reads words: for people to look at.

A text becomes chunks, each a word with what follows it up to the next word; chunks are compared by the folded word. So
case, punctuation and spacing, which do not count for the similarity, are told apart from words that do. In code every
token counts as it is written, and spacing does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby, pairwise
from typing import Literal

from sosie.text.words import code_tokens, fold

Kind = Literal["same", "respelt", "changed", "rest"]

WORDS = 2_000  # words compared on each side once the common beginning and end are set aside
_WORK = 300_000  # pairs of equal words from which frequent words no longer start a match
_GROUPS = {"same": "unmarked", "respelt": "unmarked"}
CHUNK = 200  # characters shown of a single chunk
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    + ("\U00020000-\U0003ffff")
)


@dataclass(frozen=True)
class Stretch:
    """Neighbouring chunks of one kind; `omitted` words after them are not shown.

    "same" is the same on both sides, "respelt" differs in case or punctuation only, "changed" is on this side alone,
    and "rest" was not compared.
    """

    kind: Kind
    chunks: list[str]
    omitted: int = 0

    @property
    def text(self) -> str:
        """The chunks as they stand in the text."""
        return "".join(self.chunks)


def differences(a: str, b: str, code: bool = False) -> tuple[list[Stretch], list[Stretch]]:
    """Return both texts as runs; the runs of a side, joined, are its text. With `code`, tokens stand for words.

    >>> left, right = differences("A rose, is a rose", "a rose is one rose")
    >>> [(run.kind, run.text) for run in left]
    [('respelt', 'A rose, '), ('same', 'is '), ('changed', 'a '), ('same', 'rose')]
    >>> [(run.kind, run.text) for run in right]
    [('respelt', 'a rose '), ('same', 'is '), ('changed', 'one '), ('same', 'rose')]
    >>> [(run.kind, run.text) for run in differences("if a < b:", "if a>b:", code=True)[0]]
    [('same', 'if a '), ('changed', '< '), ('same', 'b:')]
    """
    cut = _code_chunks if code else _chunks
    (chunks_a, keys_a), (chunks_b, keys_b) = cut(a), cut(b)
    head, tail = _common_ends(keys_a, keys_b)
    kinds_a: list[Kind] = ["changed" if i < head + WORDS else "rest" for i in range(len(chunks_a))]
    kinds_b: list[Kind] = ["changed" if i < head + WORDS else "rest" for i in range(len(chunks_b))]
    for i, j, length in _matches(keys_a, keys_b, head, tail):
        for k in range(length):
            equal = _spaced(chunks_a[i + k]) == _spaced(chunks_b[j + k])
            kinds_a[i + k] = kinds_b[j + k] = "same" if equal else "respelt"
    return _runs(kinds_a, chunks_a), _runs(kinds_b, chunks_b)


def shorten(runs: list[Stretch], words: int = 250, context: int = 25, characters: int = 6_000) -> list[Stretch]:
    """Leave out what is far from any difference in a text of more than `words` words, and all beyond `characters`.

    What lies between two differences keeps `context` words at each end; of a changed run four times as many are shown.

    >>> text = "one two three four five six seven"
    >>> [(run.text, run.omitted) for run in shorten(differences(text, text)[0], words=3, context=1)]
    [('one ', 5), ('seven', 0)]
    """
    if sum(len(run.chunks) for run in runs) > words:
        groups = [list(group) for _, group in groupby(runs, key=lambda run: _GROUPS.get(run.kind, run.kind))]
        runs = [part for group in groups for part in _ends(group, context * (4 if group[0].kind == "changed" else 1))]
    runs = [replace(run, chunks=[_short(chunk) for chunk in run.chunks]) for run in runs]
    shown: list[Stretch] = []
    for index, run in enumerate(runs):
        fitting = _fitting(run.chunks, characters)
        if len(fitting) < len(run.chunks):
            left = sum(len(later.chunks) + later.omitted for later in runs[index:]) - len(fitting)
            return [*shown, Stretch(run.kind, fitting, left)]
        shown.append(run)
        characters -= sum(map(len, fitting))
    return shown


def _chunks(text: str) -> tuple[list[str], list[str]]:
    """Cut a text into chunks and return them with their keys: the folded words."""
    # Python's \w lacks marks and invisible characters, which belong to a word; most texts have few kinds of them.
    marks = re.escape("".join(sorted(c for c in set(text) if unicodedata.category(c) in ("Mn", "Mc", "Me", "Cf"))))
    unit = rf"[{_SPACELESS}][{marks}]*" if marks else rf"[{_SPACELESS}]"
    word = re.compile(rf"{unit}|(?:(?![{_SPACELESS}])[\w{marks}])+")
    spans = [match.span() for match in word.finditer(text)]
    if not spans:
        return ([text], [text]) if text else ([], [])
    starts = [0, *(start for start, _ in spans[1:]), len(text)]
    chunks = [text[start:stop] for start, stop in pairwise(starts)]
    keys = fold("\n".join([text[start:stop] for start, stop in spans])).split("\n")
    return chunks, keys


def _code_chunks(text: str) -> tuple[list[str], list[str]]:
    """Cut code into chunks, each a token with the white space after it, and return them with their keys: the tokens."""
    readable = re.sub("[\ud800-\udfff]", "\ufffd", text)
    tokens, starts, at = code_tokens(readable), [], 0
    for token in tokens:
        starts.append(readable.index(token, at))
        at = starts[-1] + len(token)
    if not tokens:
        return ([text], [text]) if text else ([], [])
    return [text[start:stop] for start, stop in pairwise([0, *starts[1:], len(text)])], tokens


def _common_ends(a: list[str], b: list[str]) -> tuple[int, int]:
    """Return how many keys the beginnings, and beyond them the ends, have in common."""
    shorter = min(len(a), len(b))
    head = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    tail = next((i for i in range(shorter - head) if a[-1 - i] != b[-1 - i]), shorter - head)
    return head, tail


def _matches(a: list[str], b: list[str], head: int, tail: int) -> list[tuple[int, int, int]]:
    """Return spans of equal keys: where they begin in a and in b, and their length."""
    middle_a, middle_b = a[head : len(a) - tail][:WORDS], b[head : len(b) - tail][:WORDS]
    often = Counter(middle_b)
    work = sum(often[key] for key in middle_a)
    matcher = SequenceMatcher(None, middle_a, middle_b, autojunk=work > _WORK)
    middle = [(head + i, head + j, length) for i, j, length in matcher.get_matching_blocks()]
    return [(0, 0, head), *middle, (len(a) - tail, len(b) - tail, tail)]


def _short(chunk: str) -> str:
    """Return a chunk cut where no word of any language is as long, with the white space at its end."""
    if len(chunk) <= CHUNK:
        return chunk
    return f"{chunk[:CHUNK]}[… {len(chunk) - CHUNK:,} more characters]{' ' * chunk[-1].isspace()}"


def _spaced(chunk: str) -> str:
    return " ".join(chunk.split())


def _runs(kinds: list[Kind], chunks: list[str]) -> list[Stretch]:
    pairs = groupby(zip(kinds, chunks, strict=True), key=lambda pair: pair[0])
    return [Stretch(kind, [chunk for _, chunk in group]) for kind, group in pairs]


def _ends(group: list[Stretch], context: int) -> list[Stretch]:
    """Return neighbouring runs, or their two ends with a gap between them."""
    total = sum(len(run.chunks) for run in group)
    if total <= 2 * context + 1:
        return group
    *head, edge = _first(group, context)
    backwards = [replace(run, chunks=run.chunks[::-1]) for run in reversed(group)]
    tail = [replace(run, chunks=run.chunks[::-1]) for run in reversed(_first(backwards, context))]
    return [*head, replace(edge, omitted=total - 2 * context), *tail]


def _first(group: list[Stretch], count: int) -> list[Stretch]:
    first: list[Stretch] = []
    for run in group:
        if count > 0:
            first.append(replace(run, chunks=run.chunks[:count]))
        count -= len(run.chunks)
    return first


def _fitting(chunks: list[str], room: int) -> list[str]:
    fitting: list[str] = []
    for chunk in chunks:
        room -= len(chunk)
        if room < 0:
            break
        fitting.append(chunk)
    return fitting
