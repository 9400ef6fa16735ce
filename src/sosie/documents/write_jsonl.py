"""JSON lines to kept and dropped: kept lines byte for byte; dropped ones with two more members."""

from __future__ import annotations

import json
from collections.abc import Callable

from sosie.documents.blocks import BLANK, find_lines, read_blocks
from sosie.documents.line import members_of
from sosie.documents.share import MEMBERS, Share, free_names
from sosie.documents.write_blocks import split_blocks


def split_lines(share: Share, threads: int | None, advance: Callable[[int], None]) -> int:
    """Write the lines of one input where its decisions say; return how many records it had."""
    blocks = ((block, find_lines(block)) for block in read_blocks(share.source))
    return split_blocks(share, blocks, splice, (b"", b""), threads, advance)


def splice(line: bytes, duplicate_of: str | int, similarity: float) -> bytes:
    r"""Append two members to the object in a line, leaving the rest of it as it is.

    >>> splice(b'{"text": "a rose" }\r\n', "b.jsonl:4", 0.875)
    b'{"text": "a rose", "duplicate_of": "b.jsonl:4", "similarity": 0.875}\n'
    """
    names = list(MEMBERS)
    # A name may also be spelt with escapes of ASCII characters.
    if any(mark in line for mark in (b'"duplicate_of', b'"similarity', b"\\u00")):
        members = members_of(line)
        names = free_names(MEMBERS if members is None else members.names())
    body = line.rstrip(BLANK)[:-1].rstrip(BLANK)
    added = json.dumps(dict(zip(names, (duplicate_of, similarity), strict=True)), ensure_ascii=False)
    separator = b"" if body.lstrip(BLANK) == b"{" else b", "
    return body + separator + added[1:].encode("utf-8") + b"\n"
