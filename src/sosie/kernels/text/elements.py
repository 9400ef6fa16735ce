"""The elements of a page that are open, and the formatting elements that will be opened again, as the standard says.

What they are called, what is popped together, and how deep they are: all that decides what a page costs a parser.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text.page_tags import OTHER_NAME, code_of, same_name

# What is counted: steps of work, elements open at once, formatting elements at once, and how many there are now.
WORK, MOST_OPEN, MOST_FORMATS, OPEN, FORMATS, ROOT_ATTRIBUTES, UNCERTAIN, IN_BODY, IN_FORM = range(9)
COUNTS = 9
ELEMENT_WORK = 8  # what an element costs beside what its ancestors do
SCAN_STEPS = 32  # elements that are looked at for one step of work
# What an element is: by its name, and by where it stands.
VOID, FORMAT, SPECIAL, BARRIER, CLOSES_P, RAW, SCOPED, BREAKS_OUT, TABLE_PART, MARKER, CELL, SVG_POINT, MATH_POINT = (
    1 << bit for bit in range(13)
)
QUIET, HEAD, FOREIGN, MATH, POINT, NAMED = (1 << bit for bit in range(13, 19))
CLOSED, MARK = -1, -2  # places of formatting elements that are not open now, and of marks between them
_LISTS = {
    VOID: "area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr",
    FORMAT: "a b big code em font i nobr s small strike strong tt u",
    SPECIAL: "address applet area article aside base basefont bgsound blockquote body br button caption center col"
    " colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6"
    " head header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes"
    " noscript object ol p param plaintext pre script search section select source style summary table tbody td"
    " template textarea tfoot th thead title tr track ul wbr xmp",
    BARRIER: "applet caption html table td th marquee object template",
    CLOSES_P: "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary"
    " ul xmp",
    RAW: "script style textarea title xmp iframe noembed noframes",
    SCOPED: "address applet article aside blockquote button center dd details dialog dir div dl dt fieldset figcaption"
    " figure footer form header hgroup listing li main marquee menu nav object ol pre search section summary ul",
    BREAKS_OUT: "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing"
    " menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
    TABLE_PART: "caption col colgroup tbody td tfoot th thead tr",
    MARKER: "applet caption marquee object td template th",
    CELL: "caption td th",
    SVG_POINT: "desc title",
    HEAD: "base basefont bgsound head html link meta noframes noscript script style template title",
    QUIET: "base basefont bgsound frame link meta param rb rp rt rtc source table template track",
    MATH_POINT: "mi mo mn ms mtext",
}
_ORDERED = sorted({name for names in _LISTS.values() for name in names.split()}, key=code_of)
_CODES = np.array([code_of(name) for name in _ORDERED], np.int64)
_KINDS = np.array([sum(kind for kind, names in _LISTS.items() if name in names.split()) for name in _ORDERED])
(A, NOBR, P, LI, DD, DT, OL, UL, BUTTON, FORM, SELECT, OPTION, OPTGROUP, RUBY) = (
    np.int64(code_of(name)) for name in "a nobr p li dd dt ol ul button form select option optgroup ruby".split()
)
(TABLE, TEMPLATE, TBODY, THEAD, TFOOT, TR, TD, TH, DIV, ADDRESS, H1, H6, RB, RP, RT, RTC, COLGROUP) = (
    np.int64(code_of(name))
    for name in "table template tbody thead tfoot tr td th div address h1 h6 rb rp rt rtc colgroup".split()
)


CODE, KIND, NAME = range(3)  # of an open element: its code, what it is, and where in the page its name is
HASH, PLACE = 1, 2  # of a formatting element: a hash of its tag, and its place among the open ones


class Elements(NamedTuple):
    """The open elements, the list of formatting elements, and the counts."""

    stack: NDArray[np.int64]
    listed: NDArray[np.int64]
    counts: I64


@kernel
def kind_of(code: int) -> int:
    """Return what an element is by its name."""
    low, high = 0, _CODES.size
    while low < high:
        middle = (low + high) // 2
        if _CODES[middle] < code:
            low = middle + 1
        else:
            high = middle
    return _KINDS[low] if low < _CODES.size and _CODES[low] == code else 0


@kernel
def is_there(elements: Elements, data: NDArray[np.uint8], at: int, code: int, name: int, end: int) -> bool:
    """Whether an open element has this name."""
    if elements.stack[at, CODE] != code:
        return False
    return code < OTHER_NAME or same_name(data, name, end, elements.stack[at, NAME])


@kernel
def push(elements: Elements, code: int, kind: int, name: int) -> None:
    """Open an element."""
    counts = elements.counts
    opened = counts[OPEN]
    elements.stack[opened, CODE], elements.stack[opened, KIND], elements.stack[opened, NAME] = code, kind, name
    count_element(elements)
    counts[OPEN] = opened + 1
    counts[MOST_OPEN] = max(counts[MOST_OPEN], opened + 1)


@kernel
def count_element(elements: Elements) -> None:
    """Count what an element costs where the page is now."""
    elements.counts[WORK] += ELEMENT_WORK + elements.counts[OPEN]


@kernel
def cut(elements: Elements, place: int) -> None:
    """Pop the open elements from a place on; formatting elements among them stay in their list."""
    elements.counts[OPEN] = place
    for i in range(elements.counts[FORMATS] - 1, -1, -1):
        if elements.listed[i, PLACE] >= place:
            elements.listed[i, PLACE] = CLOSED
        elif elements.listed[i, PLACE] >= 0:
            return


@kernel
def cut_to_table_part(elements: Elements, place: int) -> None:
    """Pop what is in a table from a place on; a cell or a caption takes its formatting elements with it."""
    has_cell = False
    for i in range(place, elements.counts[OPEN]):
        has_cell = has_cell or (elements.stack[i, KIND] & (CELL | FOREIGN)) == CELL
    cut(elements, place)
    if has_cell:
        clear_to_mark(elements)


@kernel
def clear_to_mark(elements: Elements) -> None:
    """Forget formatting elements up to the last mark."""
    left = elements.counts[FORMATS] - 1
    while left >= 0 and elements.listed[left, PLACE] != MARK:
        left -= 1
    elements.counts[FORMATS] = max(left, 0)


@kernel
def remove(elements: Elements, place: int) -> None:
    """Take one element out of the open ones, from below others."""
    last = elements.counts[OPEN] - 1
    for i in range(place, last):
        elements.stack[i, CODE] = elements.stack[i + 1, CODE]
        elements.stack[i, KIND] = elements.stack[i + 1, KIND]
        elements.stack[i, NAME] = elements.stack[i + 1, NAME]
    elements.counts[OPEN] = last
    for i in range(elements.counts[FORMATS]):
        if elements.listed[i, PLACE] == place:
            elements.listed[i, PLACE] = CLOSED
        elif elements.listed[i, PLACE] > place:
            elements.listed[i, PLACE] -= 1


@kernel
def current_kind(elements: Elements) -> int:
    """Return what the current element is."""
    return elements.stack[elements.counts[OPEN] - 1, KIND] if elements.counts[OPEN] else 0


@kernel
def is_in_table(elements: Elements) -> bool:
    """Whether the current element is a table or a part of one that holds no text."""
    here = elements.stack[elements.counts[OPEN] - 1, CODE] if elements.counts[OPEN] else 0
    return here == TABLE or here == TBODY or here == THEAD or here == TFOOT or here == TR or here == COLGROUP


@kernel
def close(elements: Elements, place: int) -> None:
    """Pop the element at a place and what is in it; nothing where there is none."""
    if place >= 0:
        cut(elements, place)


@kernel
def find_in_scope(elements: Elements, code: int, by_button: bool, by_list: bool) -> int:
    """Return the place of the last open element of a name, -1 if there is none or it is behind a barrier."""
    for i in range(elements.counts[OPEN] - 1, -1, -1):
        here, kind = elements.stack[i, CODE], elements.stack[i, KIND]
        if here == code and not kind & FOREIGN:
            return _scanned(elements, i, i)
        if kind & (BARRIER | POINT) or (by_button and here == BUTTON) or (by_list and (here == OL or here == UL)):
            return _scanned(elements, i, -1)
    return _scanned(elements, 0, -1)


@kernel
def find_heading(elements: Elements) -> int:
    """Return the place of the last open heading, -1 if there is none or it is behind a barrier.

    Barriers are such by their name alone, as Lexbor has it.
    """
    for i in range(elements.counts[OPEN] - 1, -1, -1):
        kind = elements.stack[i, KIND]
        if H1 <= elements.stack[i, CODE] <= H6 and not kind & FOREIGN:
            return _scanned(elements, i, i)
        if kind & (BARRIER | NAMED | POINT):
            return _scanned(elements, i, -1)
    return _scanned(elements, 0, -1)


@kernel
def find_in_table(elements: Elements, code: int) -> int:
    """Return the place of the last open element of a name in the innermost table, -1 if there is none."""
    for i in range(elements.counts[OPEN] - 1, -1, -1):
        if elements.stack[i, CODE] == code and not elements.stack[i, KIND] & FOREIGN:
            return _scanned(elements, i, i)
        if elements.stack[i, CODE] == TABLE or elements.stack[i, CODE] == TEMPLATE:
            return _scanned(elements, i, -1)
    return _scanned(elements, 0, -1)


@kernel
def find_anywhere(elements: Elements, code: int) -> int:
    """Return the place of the last open element of a name, -1 if there is none."""
    for i in range(elements.counts[OPEN] - 1, -1, -1):
        if elements.stack[i, CODE] == code and not elements.stack[i, KIND] & FOREIGN:
            return _scanned(elements, i, i)
    return _scanned(elements, 0, -1)


@kernel
def _scanned(elements: Elements, place: int, found: int) -> int:
    """Count what was looked at, down to a place."""
    elements.counts[WORK] += (elements.counts[OPEN] - place) // SCAN_STEPS
    return found


@kernel
def add_format(elements: Elements, code: int, tag_hash: int, place: int) -> None:
    """Put an element on the list of formatting elements, or a mark; of four equal ones the first goes."""
    counts = elements.counts
    counts[WORK] += counts[FORMATS] // 8
    same, first = 0, -1
    for i in range(counts[FORMATS] - 1, -1, -1):
        if place == MARK or elements.listed[i, PLACE] == MARK:
            break
        if elements.listed[i, CODE] == code and elements.listed[i, HASH] == tag_hash:
            same, first = same + 1, i
    if same >= 3:
        drop_format(elements, first)
    at = counts[FORMATS]
    elements.listed[at, CODE], elements.listed[at, HASH], elements.listed[at, PLACE] = code, tag_hash, place
    counts[FORMATS] = at + 1
    counts[MOST_FORMATS] = max(counts[MOST_FORMATS], at + 1)


@kernel
def drop_format(elements: Elements, at: int) -> None:
    """Take an element off the list of formatting elements."""
    last = elements.counts[FORMATS] - 1
    for i in range(at, last):
        elements.listed[i, CODE] = elements.listed[i + 1, CODE]
        elements.listed[i, HASH] = elements.listed[i + 1, HASH]
        elements.listed[i, PLACE] = elements.listed[i + 1, PLACE]
    elements.counts[FORMATS] = last


@kernel
def find_format(elements: Elements, code: int) -> int:
    """Return where on the list the last formatting element of a name is, -1 if none is after the last mark."""
    for i in range(elements.counts[FORMATS] - 1, -1, -1):
        if elements.listed[i, PLACE] == MARK:
            return -1
        if elements.listed[i, CODE] == code:
            return i
    return -1


@kernel
def reopen_formats(elements: Elements) -> None:
    """Open the formatting elements again that were closed with what they were in."""
    first = elements.counts[FORMATS]
    while first > 0 and elements.listed[first - 1, PLACE] == CLOSED:
        first -= 1
    for i in range(first, elements.counts[FORMATS]):
        elements.listed[i, PLACE] = elements.counts[OPEN]
        push(elements, elements.listed[i, CODE], FORMAT, 0)
