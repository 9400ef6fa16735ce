"""The engine itself: it tells a crash, a hang, a wrong error and a changed input; a seed makes the same cases again."""

import subprocess
import sys
from collections import Counter

import pytest
from tests.fuzz import engine
from tests.fuzz.engine import Worker

BAD = """
import os, sys, time
from pathlib import Path
from tests.fuzz import worker
from tests.fuzz.target import Case

class Bad:
    def prepare(self, folder): pass
    def write(self, random, folder):
        (folder / "file").write_bytes(random.randbytes(4))
        return Case(folder / "file")
    def judge(self, case, random):
        import sosie
        way = os.environ["WAY"]
        if way == "crash": os.kill(os.getpid(), 11)
        if way == "hang": time.sleep(1000)
        if way == "error": raise KeyError("x")
        if way == "changed": case.path.write_bytes(b"other")
        if way == "nowhere": raise sosie.StorageError("something is wrong")
        if way == "named": raise sosie.StorageError(f"{case.path}: is wrong")
        if way == "exit": os._exit(7)
        return "same"

worker.main(Path(sys.argv[1]), {"bad": Bad()})
"""
ENDS = {
    "crash": "signal",
    "hang": "hang",
    "error": "other",
    "changed": "other",
    "nowhere": "other",
    "exit": "other",
    "named": "named",
    "right": "same",
}


@pytest.fixture
def bad(tmp_path, monkeypatch):
    """A worker whose only target misbehaves."""
    started = Worker(tmp_path)
    popen = subprocess.Popen
    monkeypatch.setattr(
        engine.subprocess,
        "Popen",
        lambda command, **options: popen([sys.executable, "-c", BAD, command[-1]], **options),
    )
    yield started
    started.stop()


@pytest.mark.parametrize("way", ENDS)
def test_what_became_of_a_case_is_told_and_the_case_is_kept(way, bad, tmp_path, monkeypatch):
    monkeypatch.setenv("WAY", way)
    monkeypatch.setattr(engine, "DEADLINE", 1.0)
    monkeypatch.setattr(engine.tempfile, "tempdir", str(tmp_path))
    tally = bad.fuzz("bad", "12", 3, most=2)
    right = ENDS[way] in engine.RIGHT
    assert tally.endings == {ENDS[way]: 3 if right else 2} and len(tally.failures) == (0 if right else 2)
    for number, said in enumerate(tally.failures):
        kept = tmp_path / "sosie-fuzz" / f"bad-12-{number}"
        assert f"case {number} of SOSIE_FUZZ_SEED=12, kept in {kept}" in said and (kept / "file").is_file()


def test_the_same_seed_makes_the_same_cases(tmp_path):
    from random import Random

    from tests.fuzz.mutate import mutated

    made = [mutated(Random(f"1/jsonl/{i}"), b'{"text": "x"}', [b"[]"], [b"{"]) for i in range(50)]
    assert made == [mutated(Random(f"1/jsonl/{i}"), b'{"text": "x"}', [b"[]"], [b"{"]) for i in range(50)]
    assert len(set(made)) > 30 and made[0] != mutated(Random("2/jsonl/0"), b'{"text": "x"}', [b"[]"], [b"{"])


def test_the_sums_say_how_many_cases_there_were_and_what_became_of_them():
    tallies = [engine.Tally("a", "7", Counter(named=3, same=2)), engine.Tally("b", "7", Counter(signal=1, accepted=4))]
    said = engine.summed(tallies)
    assert "10 cases of 2 targets with SOSIE_FUZZ_SEED=7: 1 signals, 0 hangs, 0 other" in said
