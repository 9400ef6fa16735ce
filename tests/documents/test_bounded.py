"""Texts and lines that there is no memory for are rejected, or refused, before the memory is taken."""

import json

import pytest

import sosie
from sosie.documents import Source, bounded
from sosie.documents.blocks import BLOCK_BYTES
from sosie.errors import DataError

LEAST = 600_000_000  # the least limit


def write(folder, *texts):
    path = folder / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts), "utf-8")
    return path


def reading(path, memory, on_error="skip"):
    return Source(path, on_error=on_error).batches(memory=memory)


def test_a_text_that_cannot_fit_is_a_rejected_record(tmp_path):
    path = write(tmp_path, "a rose", "a " * 3_000_000, "\ufdfa" * 700_000, "\u4e00" * 700_000)
    batches = list(reading(path, LEAST))
    assert [row for batch in batches for row in batch.rows.tolist()] == [0, 3]
    reasons = [reject.reason for batch in batches for reject in batch.rejects]
    assert reasons[0].startswith(
        "a text of 6.0 MB, which takes 144.0 MB of memory to compare; there is room for 125.0 MB"
    )
    assert "a text of 2.1 MB, which takes 176" in reasons[1]
    with pytest.raises(DataError, match=r"line 2: a text of 6.0 MB, .*split it"):
        list(reading(path, LEAST, "raise"))


def test_without_a_limit_it_is_that_of_the_machine(tmp_path, monkeypatch):
    path = write(tmp_path, "a " * 3_000_000)
    assert [len(batch) for batch in Source(path).batches()] == [1]
    monkeypatch.setattr(bounded, "physical_memory", lambda: LEAST)
    assert [len(batch.rejects) for batch in Source(path, on_error="skip").batches()] == [1]


def test_a_job_keeps_to_its_limit(tmp_path):
    path = write(tmp_path, "a rose is a rose", "a " * 3_000_000)
    found = sosie.dedup(path, memory=LEAST, on_error="skip")
    assert (len(found.kept), len(found.rejects)) == (1, 1)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_line_that_cannot_fit_ends_the_run(tmp_path, monkeypatch, name):
    monkeypatch.setattr(bounded, "LINE_COPIES", 2 * (LEAST - bounded.PROGRAM_BYTES) // (2 * BLOCK_BYTES))
    path = tmp_path / name
    line = json.dumps({"text": "a" * 4 * BLOCK_BYTES})
    path.write_text(f"[{line}]" if name == "a.json" else line)
    with pytest.raises(DataError, match=r"longer than .* MiB, the most that there is memory for"):
        list(reading(path, LEAST))
