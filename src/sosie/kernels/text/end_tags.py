"""What the end tags of a page close, as the standard says: less than their names, where elements are not nested."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sosie.arrays import I64
from sosie.kernels.machine.compile import kernel
from sosie.kernels.text import elements as e
from sosie.kernels.text import page_tags as t
from sosie.kernels.text.elements import (
    Elements,
    clear_to_mark,
    close,
    count_element,
    current_kind,
    cut,
    cut_to_table_part,
    drop_format,
    find_anywhere,
    find_format,
    find_heading,
    find_in_scope,
    find_in_table,
    is_there,
    kind_of,
    remove,
    reopen_formats,
)
from sosie.kernels.text.page_tags import code_of

_BR = np.int64(code_of("br"))
_NONE = np.int64(0)
_ROUNDS = 8  # blocks that one end tag of a formatting element leads out of it


@kernel
def end_element(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> None:
    """Do what an end tag does."""
    counts, kind = elements.counts, kind_of(code)
    if current_kind(elements) & e.FOREIGN and _end_foreign(elements, data, tag, code):
        return
    is_table = code == e.TABLE or kind & e.TABLE_PART
    if find_anywhere(elements, e.SELECT) >= 0:
        if code == e.OPTION or code == e.OPTGROUP:
            _end_option(elements, code)
            return
        if not (is_table or code == e.SELECT or code == e.TEMPLATE):
            return
    if is_table:
        place = find_in_table(elements, code)
        if place >= 0:
            cut_to_table_part(elements, place)
    elif kind & e.FORMAT:
        end_format(elements, data, tag, code)
    elif code == e.P:
        if find_in_scope(elements, code, True, False) < 0:
            count_element(elements)
        close(elements, find_in_scope(elements, e.P, True, False))
    elif code == e.TEMPLATE or code == e.SELECT:
        place = find_anywhere(elements, code)
        close(elements, place)
        if place >= 0 and code == e.TEMPLATE:
            clear_to_mark(elements)
    elif e.H1 <= code <= e.H6:
        close(elements, find_heading(elements))
    elif kind & e.SCOPED:
        if code == e.FORM and find_anywhere(elements, e.TEMPLATE) < 0:
            counts[e.IN_FORM] = 0
        place = find_in_scope(elements, code, False, code == e.LI)
        if place >= 0 and code == e.FORM and place < counts[e.OPEN] - 1:
            elements.stack[place, e.CODE] = _NONE  # what is in it stays in it
        else:
            close(elements, place)
        if place >= 0 and kind & e.MARKER:
            clear_to_mark(elements)
    elif code == _BR:
        reopen_formats(elements)
        count_element(elements)
    else:
        _end_other(elements, data, tag, code)
    counts[e.WORK] += 1


@kernel
def _end_foreign(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> bool:
    """Close an element of SVG or MathML; return whether there was one."""
    for i in range(elements.counts[e.OPEN] - 1, -1, -1):
        if not elements.stack[i, e.KIND] & e.FOREIGN:
            return False
        if is_there(elements, data, i, code, tag[t.NAME], tag[t.NAME_END]):
            cut(elements, i)
            return True
        elements.counts[e.WORK] += i % e.SCAN_STEPS == 0
    return False


@kernel
def _end_option(elements: Elements, code: int) -> None:
    opened = elements.counts[e.OPEN]
    here = elements.stack[opened - 1, e.CODE]
    if code == e.OPTGROUP and here == e.OPTION and opened > 1 and elements.stack[opened - 2, e.CODE] == e.OPTGROUP:
        cut(elements, opened - 2)
    elif here == code:
        cut(elements, opened - 1)


@kernel
def _end_other(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> None:
    for i in range(elements.counts[e.OPEN] - 1, -1, -1):
        kind = elements.stack[i, e.KIND]
        if not kind & e.FOREIGN and is_there(elements, data, i, code, tag[t.NAME], tag[t.NAME_END]):
            cut(elements, i)
            return
        if kind & (e.POINT | e.SPECIAL):
            return
        elements.counts[e.WORK] += i % e.SCAN_STEPS == 0


@kernel
def end_format(elements: Elements, data: NDArray[np.uint8], tag: I64, code: int) -> None:
    """Close a formatting element: what is open inside of it stays open if it is a block (the adoption agency)."""
    counts = elements.counts
    at = find_format(elements, code)
    if at < 0:
        _end_other(elements, data, tag, code)
        return
    place = elements.listed[at, e.PLACE]
    if place < 0:
        drop_format(elements, at)
        return
    blocks, last = 0, -1
    for i in range(counts[e.OPEN] - 1, place, -1):
        kind = elements.stack[i, e.KIND]
        if kind & (e.BARRIER | e.POINT):
            return  # not in scope
        if kind & e.SPECIAL:
            blocks, last = blocks + 1, max(last, i)
    drop_format(elements, at)
    if not blocks:
        cut(elements, place)
        return
    for _ in range(min(blocks, _ROUNDS)):
        count_element(elements)
    if blocks < _ROUNDS:
        cut(elements, last + 1)
    remove(elements, place)
