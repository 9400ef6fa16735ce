"""After `sosie warm` no command compiles: what it compiles is what the commands call, found by running them."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from numba.core import event
from tools.kernel_needs import rehearsals, write_corpus

from sosie.cli import sosie
from sosie.jobs import warm
from sosie.jobs.warm import NEEDS
from sosie.kernels.machine.compile import KERNELS, kernel_name
from sosie.kernels.machine.side_by_side import imported
from sosie.kernels.machine.signature import described, typed
from sosie.report.timing import Silent

SEVERAL = ["sign.keys.tuple_keys", "sign.projection.embed"]  # of minima and of intervals; of a basis that was read too
KNOWN = json.loads(NEEDS.read_text("utf-8"))
AGAIN = "Run `python tools/kernel_needs.py`."


class Compiled(event.Listener):
    """The kernels that are compiled while it listens."""

    def __init__(self):
        self.kernels = set()

    def on_start(self, event):
        name = kernel_name(event.data["dispatcher"].py_func)
        if name in KERNELS:
            self.kernels.add(f"{name}{event.data['args']}")

    def on_end(self, event):
        pass


def test_no_command_compiles_what_warm_has_not(tmp_path):
    for name, needed in KNOWN["kernels"].items():
        for signature in needed["signatures"]:
            imported(name).compile(tuple(map(typed, signature)))
    write_corpus(tmp_path)
    compiled = Compiled()
    with event.install_listener("numba:compile", compiled):
        for commands in rehearsals(tmp_path).values():
            for command in commands:
                done = CliRunner().invoke(sosie, command)
                assert done.exit_code == 0, (command, done.output)
    assert compiled.kernels == set(), AGAIN


def test_every_kernel_is_there_and_compiled_for_one_kind_of_array():
    for name, needed in KNOWN["kernels"].items():
        assert imported(name).py_func, AGAIN
        assert all(described(typed(kind)) == kind for signature in needed["signatures"] for kind in signature)
    several = sorted(name for name, needed in KNOWN["kernels"].items() if len(needed["signatures"]) > 1)
    assert several == SEVERAL


def test_every_job_names_kernels_that_are_listed():
    assert {name for kernels in KNOWN["jobs"].values() for name in kernels} == set(KNOWN["kernels"]), AGAIN
    with_all = rehearsals(NEEDS.parent)
    assert list(KNOWN["jobs"]) == list(with_all), AGAIN


FEW = """
import sys, sosie.jobs.warm as w
w._needs = lambda: {
    "jobs": {"inspect": ["machine.bits.next_mask"]},
    "kernels": {
        "machine.bits.next_mask": {"functions": 1, "signatures": [["int64"]]},
        "sign.mix.splitmix64": {"functions": 1, "signatures": [["uint64"]]},
    },
}
"""


@pytest.fixture
def run(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "SOSIE_COMPILE_NOTICE"}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(code):
        command = [sys.executable, "-c", FEW + code]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)

    return run


def test_warm_compiles_what_is_missing_and_says_what_it_did(run, tmp_path):
    code = "from sosie.cli import main\nsys.argv = ['sosie', 'warm']\nmain()"
    first, second = run(code), run(code)
    assert first.stdout.startswith("2 kernels compiled in ")
    assert f"Kept in {tmp_path / 'cache' / 'kernels-'}" in first.stdout and not first.stderr
    assert second.stdout.startswith("0 kernels compiled in ") and " s, 2 before" in second.stdout


def test_a_job_says_that_it_waits_and_is_silent_if_it_does_not(run):
    code = (
        "from sosie.kernels.machine.compile import NOTICE\nfrom sosie.report.timing import Silent\n"
        "class Shown(Silent):\n"
        "    def start(self, stage, total): print(stage, total)\n"
        "w.prepare('inspect', 'no such job', progress=Shown())\nprint(NOTICE)"
    )
    first, second = run(code), run(code)
    stage, notice = first.stdout.splitlines()
    assert stage == "compile 1" and first.stderr == notice + "\n"
    assert second.stdout == notice + "\n" and not second.stderr


def test_plain_python_needs_nothing_compiled(run):
    done = run(
        "from sosie.report.timing import Silent\nw.config.DISABLE_JIT = 1\nw.prepare('inspect', progress=Silent())"
    )
    assert not done.stderr


@pytest.mark.parametrize(("memory", "processes"), [(600_000_000, 1), (1_000_000_000, 2), (10**10, 16)])
def test_no_more_processes_compile_than_there_is_memory_for(monkeypatch, memory, processes):
    started = []
    monkeypatch.setattr(warm, "_missing", lambda names: ["a kernel"])
    monkeypatch.setattr(warm, "compile_side_by_side", lambda missing, count, done: started.append(count))
    monkeypatch.setattr(warm.compiling, "said", True)
    warm.prepare("dedup", progress=Silent(), threads=16, memory=memory)
    monkeypatch.setattr(warm, "physical_memory", lambda: memory)
    warm.prepare("dedup", progress=Silent(), threads=16)
    assert started == [processes] * 2
