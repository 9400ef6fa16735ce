"""Kept kernels: private, checked, and never in the way, whatever happens to their files."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sosie.kernels.machine.compile import NOTICE

# For two types: each has its own machine code.
CODE = """
from sosie.kernels.machine.bits import next_mask
print(next_mask(6), next_mask(True), sum(next_mask.stats.cache_hits.values()))
"""
WHERE = "from sosie.kernels.machine.kept import cache_directory\nprint(cache_directory())"
RIGHT = ["9", "2"]
# Without capabilities root, too, may only do what the modes of files say.
MODES_COUNT = """
import ctypes
libc = ctypes.CDLL(None)
if hasattr(libc, "capset"):
    libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes and owners of files")
as_root = pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="only root gives files away")


def run(code: str, cache: Path, **more: str) -> tuple[list[str], list[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "SOSIE_COMPILE_NOTICE"}
    environment |= {"NUMBA_CACHE_DIR": str(cache), **more}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr.splitlines()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("compiled")
    assert run(CODE, base) == ([*RIGHT, "0"], [NOTICE])
    return base


@pytest.fixture
def base(compiled, tmp_path) -> Path:
    """A folder of its own in which both machine codes are kept."""
    return shutil.copytree(compiled, tmp_path / "cache")


def kernels(base: Path) -> Path:
    (folder,) = base.glob("kernels-*")
    return folder


def one(base: Path, pattern: str) -> Path:
    return sorted(base.rglob(f"bits.next_mask*{pattern}"))[0]


def test_folders_are_made_for_the_user_alone_and_used(tmp_path, compiled):
    out, said = run(CODE, compiled)
    assert out == [*RIGHT, "2"] and said == []
    base = tmp_path / "above" / "cache"
    assert run("import sosie.kernels.machine.bits", base)[1] == []
    for folder in (base.parent, base, kernels(base)):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def swap(file: Path) -> None:
    """Two processes that kept another type under the same number at the same time."""
    first, second = sorted(file.parent.glob("bits.next_mask*.nbc"))
    content = first.read_bytes(), second.read_bytes()
    second.write_bytes(content[0])
    first.write_bytes(content[1])


DAMAGE = {
    "empty index": (".nbi", lambda file: file.write_bytes(b"")),
    "cut index": (".nbi", cut),
    "random index": (".nbi", lambda file: file.write_bytes(os.urandom(300))),
    "index of another kind": (".nbi", lambda file: file.write_bytes(b"\x80\x04N.")),
    "unreadable index": (".nbi", lambda file: file.chmod(0)),
    "index that is a folder": (".nbi", lambda file: (file.unlink(), file.mkdir())),
    "empty code": (".nbc", lambda file: file.write_bytes(b"")),
    "cut code": (".nbc", cut),
    "random code": (".nbc", lambda file: file.write_bytes(os.urandom(300))),
    "flipped bit": (".nbc", flip),
    "code of another type": (".nbc", swap),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_said_once_and_compiled_again(base, kind):
    suffix, damage = DAMAGE[kind]
    damage(one(base, suffix))
    out, said = run(MODES_COUNT + CODE, base)
    assert out[:2] == RIGHT
    if kind == "index of another kind":  # Numba takes it for one of another version
        assert said == [NOTICE]
    else:
        line = next(line for line in said if line != NOTICE)
        assert "cannot be used (" in line and str(one(base, suffix).parent) in line and "next_mask" in line
        assert len(said) == (3 if kind == "index that is a folder" else 2) and NOTICE in said
    if kind in ("cut index", "cut code", "code of another type"):
        assert run(CODE, base) == ([*RIGHT, "2"], [])


@pytest.mark.parametrize("limit", [0, 2_000])
def test_a_full_disk_is_said_once(tmp_path, limit):
    full = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
    out, said = run(full + CODE, tmp_path)
    assert out == [*RIGHT, "0"] and len(said) == 2
    assert said[0] == NOTICE and "cannot be written (File too large)" in said[1] and str(tmp_path) in said[1]
    assert not list(tmp_path.rglob("*.tmp.*"))
    out, said = run(CODE, tmp_path)
    assert out[:2] == RIGHT and said in ([NOTICE], [])


def refused(base: Path, reason: str, code: str = CODE) -> None:
    """Check that a folder is not used, with one line, and that what is used instead goes with the process."""
    before = sorted(base.rglob("*"))
    out, said = run(code + WHERE, base)
    assert out[:3] == [*RIGHT, "0"] and len(said) == 2 and said[1] == NOTICE
    assert reason in said[0] and str(base) in said[0] and "NUMBA_CACHE_DIR" in said[0]
    assert not Path(out[3]).is_relative_to(base) and not Path(out[3]).exists()
    assert sorted(base.rglob("*")) == before


def test_a_folder_that_cannot_be_written(base):
    kernels(base).chmod(0o500)
    refused(base, "cannot be written (Permission denied)", MODES_COUNT + CODE)


def test_a_folder_that_others_can_enter(base):
    kernels(base).chmod(0o770)
    refused(base, "others can enter it (mode 0770, not 0700)")


def test_a_folder_above_in_which_others_can_rename(base):
    base.chmod(0o777)
    refused(base, "others can write to it (mode 0777)")
    base.chmod(0o1777)  # as that of temporary files, where they cannot
    assert run(CODE, base) == ([*RIGHT, "2"], [])


def test_a_folder_that_is_a_link(base):
    folder = kernels(base)
    folder.rename(base / "elsewhere")
    folder.symlink_to("elsewhere")
    refused(base, "it is a link")


def test_a_file_that_is_a_link(base):
    file = one(base, ".nbc")
    file.rename(base / "code")
    file.symlink_to(base / "code")
    refused(base, "it is a link")


@as_root
@pytest.mark.parametrize("what", ["folder", ".nbi", ".nbc"])
def test_what_belongs_to_another_user(base, what):
    os.chown(kernels(base) if what == "folder" else one(base, what), 12345, -1)
    refused(base, "it belongs to another user (uid 12345)")


def test_a_link_above_is_the_users_word(base, tmp_path):
    (tmp_path / "link").symlink_to(base)
    assert run(CODE, tmp_path / "link") == ([*RIGHT, "2"], [])


def test_no_place_at_all(tmp_path):
    (tmp_path / "file").touch()
    nowhere = "import tempfile\ntempfile.tempdir = '/nowhere'\n"
    out, said = run(nowhere + CODE + WHERE, tmp_path / "file")
    assert out == [*RIGHT, "0", "None"] and len(said) == 2 and said[1] == NOTICE
    assert "cannot be written (Not a directory), nor can a temporary folder (No such file" in said[0]
    many = (
        nowhere + "from sosie.kernels.machine.side_by_side import Wanted, compile_side_by_side as together\n"
        "wanted = [Wanted('machine.bits.next_mask', [['int64']], 9), Wanted('sign.mix.splitmix64', [['uint64']], 9)]\n"
        "together(wanted, 2, print)"
    )
    assert run(many, tmp_path / "file")[0] == ["1", "1"]


def test_a_file_system_without_modes(tmp_path):
    modeless = "import os, pathlib\nmkdir = pathlib.Path.mkdir\n" + (
        "pathlib.Path.mkdir = lambda self, mode=0, **more: (mkdir(self, **more), self.chmod(0o755))\n"
    )
    out, said = run(modeless + CODE + WHERE, tmp_path)
    assert out == [*RIGHT, "0", "None"] and len(said) == 2 and said[0].count("others can enter it (mode 0755") == 2


def test_a_user_without_a_home(tmp_path):
    homeless = "import os\nos.path.expanduser = lambda path: path\ndel os.environ['NUMBA_CACHE_DIR']\n"
    out, said = run(homeless + CODE + WHERE, tmp_path, XDG_CACHE_HOME="")
    assert out[:3] == [*RIGHT, "0"] and len(said) == 2 and "this user has no home folder" in said[0]
