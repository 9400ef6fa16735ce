"""Elements of a JSON array to their places: arrays again, the elements copied byte for byte, or with more members."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sosie.documents.jsonl.array import ArrayBlock, ArrayStyle, read_array, read_style
from sosie.documents.jsonl.write import MemberNames, annotated_objects, extended_objects, taken_names
from sosie.documents.share import ANNOTATED, COPIED, Share, free_names
from sosie.documents.write_blocks import Packing, Portion, RecordCut
from sosie.parallel import ordered_map
from sosie.types import I64

# The records of a cut and the columns to add -> each object as text.
Enrich = Callable[[RecordCut, Any], Any]


def split_array(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the elements of one input to their places; return how many it had.

    Where all documents are annotated, a member has one name in the whole file; else each has the first free one.
    """
    known = MemberNames(share.added.names)
    enrich: Enrich = partial(extended_objects, known=known)
    if share.copies is None:
        names = free_names(share.added.names, taken_names(_portions(share), known, threads))
        enrich = partial(annotated_objects, names=names)
    style, packing = read_style(share.source), Packing.of(share.source)
    done = 0
    with contextlib.ExitStack() as stack:
        paths = (share.copies, share.annotated)
        files = [None if path is None else stack.enter_context(packing.create(path)) for path in paths]
        begun = [False, False]
        items = ((each, share.columns(each.start, each.place)) for each in _portions(share))
        work = partial(_split, enrich=enrich, style=style, packing=packing)
        for count, contents in ordered_map(work, items, threads):
            for which, (file, content) in enumerate(zip(files, contents, strict=True)):
                if file is not None and content:
                    file.write(packing.pack(b"," + style.gap if begun[which] else b"[" + style.lead))
                    file.write(content)
                    begun[which] = True
            done += count
            advance(count)
        end = b"\n]\n" if b"\n" in style.lead else b"]\n"
        for file, is_begun in zip(files, begun, strict=True):
            if file is not None:
                file.write(packing.pack(end if is_begun else b"[]\n"))
    return done


def _portions(share: Share) -> Iterator[Portion]:
    done = 0
    for block in read_array(share.source):
        yield Portion(_terminated(block), block, share.places(done, len(block)), done)
        done += len(block)


def _terminated(block: ArrayBlock) -> bytes:
    """Return the bytes of a block with a newline after each element."""
    data = np.frombuffer(block.data, np.uint8).copy()
    data[block.ends] = ord("\n")
    return data.tobytes() + b"\n"


def _split(
    item: tuple[Portion, Any], enrich: Enrich, style: ArrayStyle, packing: Packing
) -> tuple[int, tuple[bytes, bytes]]:
    """Return how many elements there are, and the bytes to write as copies and as annotated."""
    portion, added = item
    between = b"," + style.gap
    copies = between.join(_elements(portion.block, portion.spans.starts, portion.spans.ends, portion.place == COPIED))
    objects = enrich(portion.cut(ANNOTATED), added).to_pylist() if added.num_rows else []
    annotated = between.join([text.encode() for text in objects])
    return len(portion.place), (packing.pack(copies), packing.pack(annotated))


def _elements(block: bytes, starts: I64, ends: I64, chosen: NDArray[np.bool_]) -> list[bytes]:
    return [block[start:end] for start, end in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True)]
