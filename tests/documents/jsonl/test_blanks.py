"""Blank lines and blanks around values: as many as there are, found as `bytes.strip` finds them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents.jsonl.array import _escaped
from sosie.documents.jsonl.blocks import BLANK, find_lines

PARTS = st.lists(st.sampled_from([b"{", b"}", b"a", b" ", b"\t", b"\r", b"\n", b" " * 20, b"{}\n"]), max_size=30)


@given(PARTS)
def test_lines_that_are_not_blank_are_those_that_strip_leaves(parts):
    block = b"".join(parts)
    lines = block.split(b"\n")[:-1] if block.endswith(b"\n") else block.split(b"\n") if block else []
    kept = [number for number, line in enumerate(lines) if line.strip(BLANK)]
    found = find_lines(block)
    spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    assert [block[start:end] for start, end in spans] == [lines[number] for number in kept]
    assert found.total == len(lines)
    assert (list(range(found.total)) if found.numbers is None else found.numbers.tolist()) == kept
    stripped = [lines[number].strip(BLANK) for number in kept]
    assert found.objects == all(line.startswith(b"{") and line.endswith(b"}") for line in stripped)


def test_millions_of_blank_lines_are_one_step_each():
    found = find_lines(b"\n" * 4_000_000 + b"{}\n" + b"\r\n" * 100)
    assert (found.starts.tolist(), found.numbers.tolist(), found.total) == ([4_000_000], [4_000_000], 4_000_101)


@given(st.lists(st.sampled_from([b"\\", b'"', b"a", b"\\" * 9]), max_size=30))
def test_a_quote_is_escaped_after_an_odd_number_of_backslashes(parts):
    text = b"".join(parts)
    quotes = [at for at, byte in enumerate(text) if byte == ord('"')]
    odd = [(at - len(text[:at].rstrip(b"\\"))) % 2 == 1 for at in quotes]
    if b"\\" in text:
        assert _escaped(np.frombuffer(text, np.uint8), np.array(quotes, np.int64)).tolist() == odd
