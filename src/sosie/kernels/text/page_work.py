"""What a page of HTML costs a parser, counted without building its tree: tags open and close elements as they would.

Where it cannot be told what a parser does without doing it, nothing closes from there on: rather more is counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text import elements as e
from sosie.kernels.text import page_tags as t
from sosie.kernels.text.elements import (
    Elements,
    add_format,
    close,
    count_element,
    current_kind,
    cut,
    cut_to_table_part,
    drop_format,
    find_anywhere,
    find_format,
    find_in_scope,
    find_in_table,
    is_in_table,
    kind_of,
    push,
    remove,
    reopen_formats,
)
from sosie.kernels.text.end_tags import end_element, end_format
from sosie.kernels.text.page_tags import code_of, end_of_raw, name_code, next_tag
from sosie.kernels.text.xxh64 import xxh64

_ROOM = 64  # elements that one tag may open beside the formatting elements
_HTML, _BODY, _FRAMESET, _SVG, _MATH, _SCRIPT, _TEXTAREA, _INPUT, _KEYGEN, _COL, _FONT = (
    np.int64(code_of(name)) for name in "html body frameset svg math script textarea input keygen col font".split()
)
_HEAD, _MGLYPH, _MALIGNMARK, _NOSCRIPT, _TITLE, _BASE = (
    np.int64(code_of(name)) for name in "head mglyph malignmark noscript title base".split()
)
_FOREIGN_OBJECT = np.frombuffer(b"foreignobject", np.uint8)
_ANNOTATION = np.frombuffer(b"annotation-xml", np.uint8)
_NONE = np.int64(0)


@kernel
def page_work(data: NDArray[np.uint8], most_work: int, most_open: int, most_formats: int) -> I64:
    """Return the counts of a page, as far as it was read: until one of them is too high.

    Work is 1 for each ancestor of each element, some for the element itself, and for each pair of attributes in a tag.
    """
    opened, listed = most_open + most_formats + _ROOM, most_formats + _ROOM
    elements = Elements(np.empty((opened, 3), np.int64), np.empty((listed, 3), np.int64), np.zeros(e.COUNTS, np.int64))
    counts, tag, position = elements.counts, np.zeros(t.FIELDS, np.int64), np.int64(0)
    while counts[e.WORK] <= most_work and counts[e.MOST_OPEN] <= most_open and counts[e.MOST_FORMATS] <= most_formats:
        next_tag(data, position, current_kind(elements) & e.FOREIGN != 0, tag)
        if tag[t.TEXT] == t.WORDS and not counts[e.IN_BODY]:
            _leave_head(elements, _NONE, 0)
        if tag[t.TEXT] and not _is_foreign(elements) and _takes_text(elements, tag[t.TEXT]):
            reopen_formats(elements)
        if tag[t.KIND] == t.NO_TAG:
            break
        position = tag[t.END]
        counts[e.WORK] += tag[t.ATTRIBUTES] * tag[t.ATTRIBUTES] // 8
        if counts[e.OPEN] > most_open:
            break
        code = name_code(data, tag[t.NAME], tag[t.NAME_END])
        if tag[t.KIND] == t.START_TAG:
            position = _start(elements, data, tag, code)
        elif not counts[e.UNCERTAIN]:
            end_element(elements, data, tag, code)
    return counts


@kernel
def _is_foreign(elements: Elements) -> bool:
    """Whether a start tag here belongs to SVG or MathML."""
    return current_kind(elements) & (e.FOREIGN | e.POINT) == e.FOREIGN


@kernel
def _takes_text(elements: Elements, text: int) -> bool:
    """Whether text opens formatting elements again here: not blanks in a table, and nothing in a choice."""
    return not (text == t.BLANK and is_in_table(elements)) and find_anywhere(elements, e.SELECT) < 0


@kernel
def _break_out(elements: Elements) -> None:
    """Leave SVG and MathML."""
    left = elements.counts[e.OPEN]
    while left and elements.stack[left - 1, e.KIND] & (e.FOREIGN | e.POINT) == e.FOREIGN:
        left -= 1
    cut(elements, left)


@kernel
def _start(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> int:
    """Do what a start tag does; return where the page goes on."""
    counts, kind, name = elements.counts, kind_of(code), tag[t.NAME]
    if counts[e.UNCERTAIN]:
        push(elements, code, kind, name)
        return tag[t.END]
    is_glyph = (code == _MGLYPH or code == _MALIGNMARK) and current_kind(elements) & e.MATH
    if _is_foreign(elements) or is_glyph:
        if not (kind & e.BREAKS_OUT or (code == _FONT and tag[t.IS_FONT])):
            _start_foreign(elements, data, tag, code)
            return tag[t.END]
        _break_out(elements)
    if code == _HTML or code == _BODY or code == _HEAD:
        counts[e.WORK] += tag[t.ATTRIBUTES] * counts[e.ROOT_ATTRIBUTES] // 8
        counts[e.ROOT_ATTRIBUTES] += tag[t.ATTRIBUTES]
        return tag[t.END]
    if not counts[e.IN_BODY]:
        _leave_head(elements, code, kind)
    selected = find_anywhere(elements, e.SELECT)
    if selected >= 0:
        if code == e.SELECT:
            cut(elements, selected)
            return tag[t.END]
        if code == _TEXTAREA or code == _INPUT or code == _KEYGEN:
            cut(elements, selected)
        elif code == e.OPTION or code == e.OPTGROUP:
            _close_option(elements, code)
            push(elements, code, kind, name)
            return tag[t.END]
        elif not (code == _SCRIPT or kind & e.TABLE_PART):
            counts[e.UNCERTAIN] = 1
    if code == _FRAMESET:
        counts[e.UNCERTAIN] = 1
    if code == e.FORM and find_anywhere(elements, e.TEMPLATE) < 0:
        if counts[e.IN_FORM]:
            return tag[t.END]
        counts[e.IN_FORM] = 1
    if counts[e.UNCERTAIN]:
        push(elements, code, kind, name)
    elif code == e.FORM and is_in_table(elements):
        count_element(elements)
    elif kind & e.RAW:
        if kind & e.CLOSES_P:
            _close_p(elements)
            reopen_formats(elements)
        count_element(elements)
        return end_of_raw(data, tag[t.END], name, tag[t.NAME_END])
    elif kind & e.TABLE_PART:
        _start_table_part(elements, code, kind)
    elif kind & e.FORMAT:
        _start_format(elements, data, tag, code)
    elif code == _SVG or code == _MATH:
        reopen_formats(elements)
        _start_foreign(elements, data, tag, code)
    else:
        _start_other(elements, code, kind, name)
    return tag[t.END]


@kernel
def _leave_head(elements: Elements, code: int, kind: int) -> None:
    """Begin the body with what does not belong to the head; there, `noscript` ends with what it may not have."""
    is_noscript = elements.counts[e.OPEN] > 0 and elements.stack[0, e.CODE] == _NOSCRIPT
    is_closed = code == _TITLE or code == _SCRIPT or code == e.TEMPLATE or code == _BASE
    if is_noscript and (is_closed or not kind & e.HEAD):
        cut(elements, 0)
    if not kind & e.HEAD:
        elements.counts[e.IN_BODY] = 1


@kernel
def _start_foreign(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> None:
    name, end, above = tag[t.NAME], tag[t.NAME_END], current_kind(elements)
    is_math = above & e.MATH if above & e.FOREIGN else 0
    if code == _MATH and not _is_foreign(elements):
        is_math = e.MATH
    if code == _SVG and (not _is_foreign(elements) or (is_math and _is_annotation(elements, data))):
        is_math = 0
    known = kind_of(code)
    kind = e.FOREIGN | is_math | (e.NAMED if known & e.BARRIER else 0)
    if is_math:
        if known & e.MATH_POINT:
            kind |= e.POINT
        if _is_named(data, name, end, _ANNOTATION):
            kind |= e.BARRIER | e.SPECIAL | (e.POINT if tag[t.IS_MARKUP] else 0)
    elif known & e.SVG_POINT or _is_named(data, name, end, _FOREIGN_OBJECT):
        kind |= e.POINT
    if tag[t.IS_EMPTY]:
        count_element(elements)
    else:
        push(elements, code, kind, name)


@kernel
def _is_annotation(elements: Elements, data: NDArray[np.uint8]) -> bool:
    """Whether the current element is `annotation-xml`."""
    name = elements.stack[elements.counts[e.OPEN] - 1, e.NAME]
    return _is_named(data, name, name + _ANNOTATION.size, _ANNOTATION)


@kernel
def _is_named(data: NDArray[np.uint8], name: int, end: int, wanted: NDArray[np.uint8]) -> bool:
    """Whether the name at name..end is `wanted`."""
    if end - name != wanted.size or end > data.size:
        return False
    for i in range(end - name):
        if t.lowered(data[name + i]) != wanted[i]:
            return False
    return True


@kernel
def _start_table_part(elements: Elements, code: int, kind: int) -> None:
    """Open a part of a table; outside of tables there are none."""
    table = max(find_in_table(elements, e.TABLE), find_in_table(elements, e.TEMPLATE))
    if table < 0:
        return
    body = max(find_in_table(elements, e.TBODY), find_in_table(elements, e.THEAD), find_in_table(elements, e.TFOOT))
    row = find_in_table(elements, e.TR)
    if code == e.TD or code == e.TH:
        if row < 0:
            _open_row(elements, table, body)
        else:
            cut_to_table_part(elements, row + 1)
    elif code == e.TR:
        cut_to_table_part(elements, max(table, body) + 1)
        if body < 0:
            push(elements, e.TBODY, kind_of(e.TBODY), 0)
    elif code == _COL:
        columns = find_in_table(elements, e.COLGROUP)
        cut_to_table_part(elements, max(table, columns) + 1)
        if columns < 0:
            push(elements, e.COLGROUP, kind_of(e.COLGROUP), 0)
        count_element(elements)
        return
    else:
        cut_to_table_part(elements, table + 1)
    push(elements, code, kind, 0)
    if kind & e.MARKER:
        add_format(elements, code, _NONE, e.MARK)


@kernel
def _open_row(elements: Elements, table: int, body: int) -> None:
    cut_to_table_part(elements, max(table, body) + 1)
    if body < 0:
        push(elements, e.TBODY, kind_of(e.TBODY), 0)
    push(elements, e.TR, kind_of(e.TR), 0)


@kernel
def _start_format(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> None:
    if code == e.A and find_format(elements, code) >= 0:
        end_format(elements, data, tag, code)
        left = find_format(elements, code)
        if left >= 0:
            place = elements.listed[left, e.PLACE]
            drop_format(elements, left)
            if place >= 0:
                remove(elements, place)
    reopen_formats(elements)
    if code == e.NOBR and find_in_scope(elements, code, False, False) >= 0:
        end_format(elements, data, tag, code)
        reopen_formats(elements)
    place = elements.counts[e.OPEN]
    push(elements, code, kind_of(code), tag[t.NAME])
    add_format(elements, code, np.int64(xxh64(data, tag[t.NAME], tag[t.END], np.uint64(0))), place)


@kernel
def _start_other(elements: Elements, code: int, kind: int, name: int) -> None:
    counts = elements.counts
    if code == e.LI or code == e.DD or code == e.DT:
        _close_item(elements, code)
    if kind & e.CLOSES_P:
        _close_p(elements)
        above = elements.stack[counts[e.OPEN] - 1, e.CODE] if counts[e.OPEN] else _NONE
        if e.H1 <= code <= e.H6 and e.H1 <= above <= e.H6 and not current_kind(elements) & e.FOREIGN:
            cut(elements, counts[e.OPEN] - 1)
    elif code == e.BUTTON:
        close(elements, find_in_scope(elements, code, False, False))
    elif code == e.TABLE:
        _close_table(elements)
    elif code == e.OPTION or code == e.OPTGROUP:
        _close_option(elements, code)
    elif (code == e.RB or code == e.RT or code == e.RP or code == e.RTC) and (
        find_in_scope(elements, e.RUBY, False, False) >= 0
    ):
        _close_implied(elements, code == e.RT or code == e.RP)
    if not kind & (e.CLOSES_P | e.QUIET):
        reopen_formats(elements)
    if kind & e.VOID:
        count_element(elements)
        return
    push(elements, code, kind, name)
    if kind & e.MARKER:
        add_format(elements, code, _NONE, e.MARK)


@kernel
def _close_p(elements: Elements) -> None:
    close(elements, find_in_scope(elements, e.P, True, False))


@kernel
def _close_table(elements: Elements) -> None:
    """Close the table that another one follows outside of its cells."""
    table = find_in_table(elements, e.TABLE)
    for i in range(table + 1, elements.counts[e.OPEN]):
        if elements.stack[i, e.KIND] & (e.CELL | e.FOREIGN) == e.CELL:
            return
    close(elements, table)


@kernel
def _close_item(elements: Elements, code: int) -> None:
    """Close the item of a list that another one follows."""
    for i in range(elements.counts[e.OPEN] - 1, -1, -1):
        here, kind = elements.stack[i, e.CODE], elements.stack[i, e.KIND]
        if not kind & e.FOREIGN and (here == code or (code != e.LI and (here == e.DD or here == e.DT))):
            cut(elements, i)
            return
        is_plain = here == e.ADDRESS or here == e.DIV or here == e.P
        if kind & e.POINT or (kind & e.SPECIAL and not is_plain):
            return
        elements.counts[e.WORK] += i % e.SCAN_STEPS == 0


@kernel
def _close_option(elements: Elements, code: int) -> None:
    opened = elements.counts[e.OPEN]
    if opened and elements.stack[opened - 1, e.CODE] == e.OPTION and not current_kind(elements) & e.FOREIGN:
        opened -= 1
    in_select = opened > 1 and elements.stack[opened - 2, e.CODE] == e.SELECT
    if code == e.OPTGROUP and in_select and elements.stack[opened - 1, e.CODE] == e.OPTGROUP:
        opened -= 1
    cut(elements, opened)


@kernel
def _close_implied(elements: Elements, keeps_rtc: bool) -> None:
    left = elements.counts[e.OPEN]
    while left and not elements.stack[left - 1, e.KIND] & e.FOREIGN:
        here = elements.stack[left - 1, e.CODE]
        is_item = here == e.DD or here == e.DT or here == e.LI or here == e.OPTION or here == e.OPTGROUP or here == e.P
        if not (is_item or here == e.RB or here == e.RP or here == e.RT or (here == e.RTC and not keeps_rtc)):
            break
        left -= 1
    cut(elements, left)
