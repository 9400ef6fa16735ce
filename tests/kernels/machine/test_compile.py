"""What is said while kernels are compiled, and where they are kept when the folder for them cannot be written."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sosie.kernels.machine.compile import NOTICE

TWICE = """
import gc, sys
from sosie.kernels.machine.bits import next_mask
from sosie.kernels.machine.compile import is_kept
print(is_kept("machine.bits.next_mask"))
next_mask(6)
print(is_kept("machine.bits.next_mask"), gc.isenabled())
next_mask(True)  # another type
"""


def run(code: str, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "SOSIE_COMPILE_NOTICE"}
    environment |= {"NUMBA_CACHE_DIR": str(cache), **more}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)


def test_a_process_that_compiles_says_so_once_and_one_that_does_not_is_silent(tmp_path):
    first, second = run(TWICE, tmp_path), run(TWICE, tmp_path)
    assert first.stderr == NOTICE + "\n"
    assert first.stdout.split() == ["False", "True", "True"]
    assert second.stderr == ""
    assert second.stdout.split() == ["True", "True", "True"]


@pytest.mark.parametrize("how", ["import logging; logging.getLogger('sosie').setLevel('ERROR')", ""])
def test_it_can_be_silenced(tmp_path, how):
    variable = {} if how else {"SOSIE_COMPILE_NOTICE": "0"}
    assert run(how + TWICE, tmp_path, **variable).stderr == ""


def test_what_else_is_compiled_in_the_process_is_no_news(tmp_path):
    code = "import sosie.kernels.machine.bits, numba\n@numba.njit\ndef f(x): return x + 1\nprint(f(1))"
    done = run(code, tmp_path)
    assert done.stdout == "2\n" and done.stderr == ""


def test_a_folder_that_cannot_be_written_is_said_and_replaced(tmp_path):
    file = tmp_path / "file"
    file.touch()
    code = TWICE + "from sosie.kernels.machine.kept import cache_directory\nprint(cache_directory())"
    done = run(code, file)
    warning, notice = done.stderr.splitlines()
    assert str(file) in warning and "cannot be written" in warning and "NUMBA_CACHE_DIR" in warning
    assert notice == NOTICE
    used = Path(done.stdout.split()[-1])
    assert used.name.startswith("kernels-") and not used.parent.exists()


def test_the_package_itself_is_never_written_to(tmp_path):
    code = "import sosie.kernels.machine.bits as b\nprint(b.next_mask.stats.cache_path)"
    assert run(code, tmp_path).stdout.startswith(str(tmp_path))
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    without = "import os\ndel os.environ['NUMBA_CACHE_DIR']\n" + code
    assert run(without, tmp_path, **home).stdout.startswith(str(tmp_path / "home" / ".cache" / "sosie"))


def test_the_logger_is_that_of_the_package(caplog):
    from sosie.kernels.machine.compile import _Compiling

    compiling = _Compiling()
    compiling.said = False
    with caplog.at_level(logging.WARNING, "sosie"):
        compiling.say()
        compiling.say()
    assert [record.getMessage() for record in caplog.records] == [NOTICE]


BEYOND = """
import numpy as np
from sosie.kernels.machine.sort import _insert
try:
    _insert(np.arange(8)[:2], np.int64(0), STOP)
except IndexError:
    print("checked")
"""


def test_checks_of_bounds_never_take_what_was_compiled_without_them(tmp_path):
    within, beyond = (BEYOND.replace("STOP", str(stop)) for stop in (2, 3))
    assert run(within, tmp_path, NUMBA_BOUNDSCHECK="0").stdout == ""
    assert run(beyond, tmp_path, NUMBA_BOUNDSCHECK="1").stdout == "checked\n"
    assert run(within, tmp_path, NUMBA_BOUNDSCHECK="0").stderr == "", "both are kept, side by side"
