"""What belongs to a part of the work: everything to exactly one, in order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sosie.documents.input import Input, Inputs
from sosie.errors import UsageError
from sosie.jobs.shards.part import Part, cut


@given(sizes=st.lists(st.integers(0, 1000), min_size=1, max_size=40), data=st.data())
def test_every_file_belongs_to_one_part_and_no_part_is_empty(sizes, data):
    parts = data.draw(st.integers(1, len(sizes)))
    found = cut(sizes, parts)
    assert len(found) == parts and all(len(part) for part in found)
    assert [file for part in found for file in part] == list(range(len(sizes)))


def test_parts_have_about_as_many_bytes():
    sizes = [1] * 100 + [50] * 2 + [1] * 100
    assert [sum(sizes[file] for file in part) for part in cut(sizes, 3)] == [100, 100, 100]


@given(count=st.integers(0, 100), of=st.integers(1, 12))
def test_every_task_belongs_to_one_part(count, of):
    shares = [Part(number, of).share(count) for number in range(1, of + 1)]
    assert [task for share in shares for task in share] == list(range(count))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("said", ["0/3", "4/3", "3", "a/b", "-1/3", "1/0", ""])
def test_what_is_no_part_is_refused(said):
    with pytest.raises(UsageError, match="shard"):
        Part.parse(said)


def test_more_parts_than_files_are_refused():
    with pytest.raises(UsageError, match="3 shards for 2 input files"):
        Part(1, 3).inputs(Inputs([Input("a", "a", "jsonl"), Input("b", "b", "jsonl")]))
