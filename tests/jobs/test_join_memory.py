"""`sosie join --memory` and `sosie.join(memory=...)`: the same pairs as without a limit, and nothing left behind."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, refused
from tests.jobs.test_jobs import Counting
from tests.oracle_hamming import signatures

import sosie
from sosie.errors import UsageError
from sosie.jobs import join_rows
from sosie.jobs.join import Joiner
from sosie.storage.room import Room


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Signatures and keys on disk: numbered, and with ids; some are equal, and many pairs are near."""
    monkeypatch.chdir(tmp_path)
    words = np.concatenate([signatures("clustered", 600, 64).words, signatures("clustered", 40, 64).words])
    named = pa.array([f"row {i}" for i in range(len(words))])
    spec = sosie.Simhash(bits=64)
    sosie.save_signatures("numbered", sosie.Signatures(words), spec)
    sosie.save_signatures("named", sosie.Signatures(words[100:], ids=named[100:]), spec)
    keys = np.ascontiguousarray(words.view(np.uint8).reshape(-1, 8)[:, :3].astype(np.uint64))
    sosie.save_signatures("keys", sosie.Keys(keys), sosie.Minhash())
    return words


@pytest.fixture
def small(monkeypatch):
    """Let rooms be small, whatever the limit: many pieces, and many runs on disk."""
    rooms = []

    def room(scratch, limit, threads, tell=lambda done, total: None, *, held=0):
        rooms.append(Room(scratch, 4000, threads, limit=8 * 700 * 80, tell=tell))
        return rooms[-1]

    monkeypatch.setattr("sosie.planner.held.JOIN_PROGRAM", 0)
    monkeypatch.setattr("sosie.jobs.join.joining_room", room)
    return rooms


JOINS = {
    "one": ["numbered", "--radius", 7],
    "two": ["numbered", "--with", "named", "--radius", 7],
    "named": ["named", "--with", "named", "--radius", 7],
    "keys": ["keys", "--max-pairs", 10**6],
}


@pytest.mark.parametrize("name", JOINS)
def test_the_file_is_the_same_byte_for_byte(saved, small, name, monkeypatch):
    monkeypatch.setattr(join_rows, "choose_join", lambda *_: "blocks")
    limited = done("join", *JOINS[name], "-o", "limited", "--memory", "4GB")
    assert small and not list(Path(small[0].scratch).parent.glob("scratch/*"))
    monkeypatch.undo()
    os.chdir(Path(small[0].scratch).parent.parent)
    monkeypatch.setattr(join_rows, "choose_join", lambda *_: "blocks")
    plain = done("join", *JOINS[name], "-o", "plain")
    assert limited["pairs"] == plain["pairs"] > 1000 and limited["counters"] == plain["counters"]
    assert Path("limited/pairs.parquet").read_bytes() == Path("plain/pairs.parquet").read_bytes()
    assert [stage["stage"] for stage in limited["stages"]] == ["join", "write"]
    assert not list(Path().glob(".*sosie*"))


def test_ids_and_rows_of_pairs(saved):
    done("join", *JOINS["two"], "-o", "out", "--memory", "600MB")
    table = pq.read_table("out/pairs.parquet")
    assert table.schema.types == [pa.int64(), pa.large_string()]
    a, b = table["a"].to_numpy(), np.array([int(name[4:]) for name in table["b"].to_pylist()])
    distances = np.bitwise_count(saved[:, None, 0] ^ saved[None, 100:, 0])
    assert sorted(zip(a, b - 100, strict=True)) == list(zip(*np.nonzero(distances <= 7), strict=True))


def test_from_python(saved, small, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for name, how in (("numbered", {"radius": 7, "method": "blocks"}), ("keys", {})):
        rows = sosie.load_signatures(name)
        limited, plain = sosie.join(rows, memory="4GB", **how), sosie.join(rows, **how)
        assert np.array_equal(limited.a, plain.a) and np.array_equal(limited.b, plain.b) and len(plain) > 1000
    assert len(small) == 2 and not list((tmp_path / "tmp").iterdir())


def test_progress_is_told(saved):
    shown = Counting()
    report = Joiner(radius=3).run("numbered", None, sosie.Output("out"), memory=10**9, progress=shown)
    tables = report.counters["tables"] if "tables" in report.counters else 0
    assert shown.stages["write"] == report.pairs and (not tables or shown.stages["join"] >= tables * 600)


def test_a_limit_that_cannot_be_kept_is_refused(saved):
    assert "4.0 MB of memory are too little: allow" in refused("join", *JOINS["one"], "-o", "o", "--memory", "4MB")[1]
    Path("docs.jsonl").write_text('{"text": "a rose is a rose"}\n')
    code, said = refused("join", "docs.jsonl", "-o", "o", "--memory", "4GB")
    assert code == 2 and "--memory" in said and "use dedup, which takes a limit" in said
    features = sosie.Shingles().extract(["a rose is a rose"])
    for rows, how in ((features, {"threshold": 0.5}), (["a rose"], {})):
        with pytest.raises(UsageError, match="is for signatures and keys"):
            sosie.join(rows, memory="4GB", **how)
    held = sosie.Signatures(np.zeros((4_000_000, 4), np.uint64))
    with pytest.raises(UsageError, match=r"take 128\.0 MB of memory themselves: allow 728\.0 MB or more"):
        sosie.join(held, radius=3, memory="700MB")
    with pytest.raises(UsageError, match="not a size"):
        sosie.join(sosie.load_signatures("numbered"), radius=3, memory="4 gigs")
    assert not Path("o").exists()


def test_a_full_disk_is_named_and_nothing_is_left(saved, small, monkeypatch):
    monkeypatch.setattr(join_rows, "choose_join", lambda *_: "blocks")

    def full(descriptor, data, offset):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    before = sorted(path.name for path in Path().iterdir())
    code, said = refused("join", *JOINS["one"], "-o", "out")
    assert code == 1 and "No space left on device" in said and "Check space" in said
    assert sorted(path.name for path in Path().iterdir()) == before


def test_an_interrupt_leaves_nothing(tmp_path):
    """The process is interrupted while its temporary files are there."""
    script = (
        "import sys, os, signal, sosie\nimport numpy as np\n"
        "from sosie.matches.collected import PairRuns\n"
        "add = PairRuns.add_packed\n"
        "def adding(self, pairs):\n    add(self, pairs)\n"
        "    if self.spilled_bytes:\n        os.kill(os.getpid(), signal.SIGTERM)\n"
        "PairRuns.add_packed = adding\n"
        "import sosie.jobs.join as jobs\n"
        "from sosie.storage.room import Room\n"
        "jobs.joining_room = lambda scratch, limit, threads, tell=None: Room(scratch, 800, 1, limit=10**9)\n"
        "sys.argv = ['sosie', 'join', 'signed', '--radius', '3', '-o', 'out', '--threads', '1']\n"
        "from sosie.cli import main\nmain()\n"
    )
    words = np.repeat(np.random.default_rng(0).integers(0, 2**64, 3000, np.uint64), 2)
    words[::2] ^= np.uint64(1)
    sosie.save_signatures(tmp_path / "signed", sosie.Signatures(words), sosie.Simhash(bits=64))
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode not in (0, 1), ended.stderr
    for _ in range(100):
        if [path.name for path in tmp_path.iterdir()] == ["signed"]:
            break
        time.sleep(0.05)
    assert [path.name for path in tmp_path.iterdir()] == ["signed"], ended.stderr
