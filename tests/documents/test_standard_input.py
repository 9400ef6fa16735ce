"""Standard input is read once, kept, and read again from there."""

import gc
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest
from tests.documents.writing import reasons

from sosie.documents import Decisions, Source, write_documents
from sosie.documents.inputs import list_inputs
from sosie.errors import DataError, StorageError, UsageError


@pytest.fixture
def pipe(monkeypatch, tmp_path):
    """Give standard input some bytes; temporary files go to their own folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return folder

    return give


def test_lines_are_read_written_and_called_stdin(pipe, tmp_path):
    pipe(b'{"text": "a"}\n\n{"text": "b"}\n{"text": "c"}')
    reading = Source("-").batches()
    assert [text for batch in reading for text in batch.texts.to_pylist()] == ["a", "b", "c"]
    assert reading.ids.take([0, 1, 2]).to_pylist() == ["stdin:1", "stdin:3", "stdin:4"]
    decisions = Decisions(np.array([0, 1, 0], np.uint8), reasons(reading, np.zeros(3, np.int64), np.ones(3)))
    write_documents(reading, decisions, tmp_path / "out")
    assert (tmp_path / "out/kept/stdin.jsonl").read_bytes() == b'{"text": "a"}\n{"text": "c"}\n'
    dropped = b'{"text": "b", "duplicate_of": "stdin:1", "similarity": 1.0}\n'
    assert (tmp_path / "out/dropped/stdin.jsonl").read_bytes() == dropped


def test_the_same_stream_is_kept_once_and_removed_with_it(pipe, monkeypatch):
    folder = pipe(b'{"text": "a"}\n' * 5)
    first, second = list_inputs("-"), list_inputs(["-"])
    assert first == second and os.listdir(folder) == [os.path.basename(first[0].spool)]
    monkeypatch.undo()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    gc.collect()
    assert os.listdir(folder) == []
    assert list(Source("-").batches()) == []


def test_problems_are_named(pipe, tmp_path):
    pipe(b'{"text": "a"}\nbroken\n')
    with pytest.raises(DataError, match=r"^standard input, line 2: broken JSON"):
        list(Source("-").batches())
    (tmp_path / "stdin.jsonl").write_text('{"text": "b"}\n')
    for twice in (["-", "-"], ["-", tmp_path / "stdin.jsonl"]):
        with pytest.raises(UsageError, match=r"^standard input: is called stdin.jsonl"):
            Source(twice).batches()


def test_standard_input_beside_files_of_equal_names(pipe, tmp_path):
    pipe(b'{"text": "a"}\n')
    for name in ("x/a.jsonl", "y/a.jsonl"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text('{"text": "b"}\n')
    inputs = list_inputs([tmp_path / "x/a.jsonl", "-", tmp_path / "y/a.jsonl"])
    assert [place.name for place in inputs] == ["x/a.jsonl", "stdin.jsonl", "y/a.jsonl"]


def test_no_standard_input(pipe, monkeypatch):
    pipe(b"")
    sys.stdin.close()
    with pytest.raises(UsageError, match=r"^standard input: there is none"):
        Source("-").batches()
    monkeypatch.setattr(sys, "stdin", io.StringIO("text"))
    with pytest.raises(UsageError, match=r"^standard input: is text, not bytes"):
        Source("-").batches()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match=r"^standard input: there is none"):
        Source("-").batches()


def test_a_copy_that_fails_leaves_nothing(pipe):
    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(28, "No space left on device")

    folder = pipe(b"")
    sys.stdin = io.TextIOWrapper(Broken())
    with pytest.raises(StorageError, match="No space left"):
        Source("-").batches()
    assert os.listdir(folder) == []


def test_a_process_leaves_no_temporary_file(tmp_path):
    code = "from sosie.documents import Source; print([b.texts.to_pylist() for b in Source('-').batches(1)])"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    lines = b'{"text": "a"}\n{"text": "b"}\n'
    done = subprocess.run([sys.executable, "-c", code], input=lines, capture_output=True, env=environment, check=True)
    assert done.stdout.strip() == b"[['a', 'b']]" and os.listdir(tmp_path) == []


PROBLEMS = {
    "no column": (None, b'{"id": 1}\n', "standard input: there is no column 'text'"),
    "a line": (None, b'{"text": "a"}\n\n[1]\n', "standard input, line 3: "),
    "the same id": (None, b'{"id": 1, "text": "a"}\n' * 2, "standard input, line 2: duplicate id 1, first in standard"),
    "csv": ("csv", b'text\n"a\n', "standard input, line 2: a quote that is not closed"),
    "a header": ("csv", b"text\xff\na\n", "standard input, line 1: the header"),
    "json": ("json", b"[1", "standard input: "),
    "parquet": ("parquet", b"no", "standard input: is damaged or not Parquet"),
    "arrow": ("feather", b"no", "standard input: is damaged or not an Arrow file"),
    "text": ("text", b"\xff", "standard input: invalid UTF-8"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_messages_call_it_by_its_name(pipe, case):
    form, content, said = PROBLEMS[case]
    folder = pipe(content)
    with pytest.raises((DataError, UsageError)) as raised:
        list(Source("-", format=form).batches())
    assert str(raised.value).startswith(said), str(raised.value)
    assert str(folder) not in str(raised.value) and "stdin" not in str(raised.value)
