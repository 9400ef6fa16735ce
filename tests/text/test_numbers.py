"""Words by number: as a dictionary numbers them, however often the table grows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sosie.kernels.text.ascii import BLOCK
from sosie.text.numbers import WordNumbers, extended

# Words of all lengths, many with the same beginning or end: they are compared eight bytes at a time.
word = st.one_of(
    st.sampled_from([b"a", b"to", b"be"]),
    st.integers(1, 40).map(lambda size: b"x" * size),
    st.binary(min_size=1, max_size=20).map(lambda raw: raw.replace(b" ", b"_")),
)


def numbered(numbers, words):
    text = b"".join(each + b" " for each in words)
    starts = np.cumsum([0, *(len(each) + 1 for each in words)])
    return numbers.of(np.frombuffer(text.ljust(len(text) + 2 * BLOCK, b"?"), np.uint8), starts).tolist()


@given(st.lists(st.lists(word, max_size=12), max_size=12))
def test_against_a_dictionary(batches):
    numbers, known = WordNumbers(), {}
    for batch in batches:
        before = len(known)
        assert numbered(numbers, batch) == [known.setdefault(each, len(known)) for each in batch]
        assert len(numbers) == len(known) and numbers.size == sum(len(each) + 1 for each in known)
        assert numbers.words() == list(known) and numbers.words(before) == list(known)[before:]


def test_many_growths():
    numbers, known, rng = WordNumbers(), {}, np.random.default_rng(1)
    for size in range(200):
        batch = [b"word%d" % number for number in rng.integers(0, 40 * size + 1, 10 * (size % 7))]
        assert numbered(numbers, batch) == [known.setdefault(each, len(known)) for each in batch]
    assert len(numbers) == len(known) > 3000 and numbers.words() == list(known)


def test_extended():
    assert extended(np.array([1, 2], np.uint8), 4).tolist() == [1, 2, 0, 0]
