"""Install each distribution into new environments, one for every Python from 3.11 on that is here, and try it.

usage: python tools/try_distributions.py FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (3, 11)
NEWEST = (3, 20)  # beyond what there is
TEXT = "the quick brown fox jumps over the lazy dog, and the dog does not mind at all"
SMOKE = """
import sosie

result = sosie.dedup("docs.jsonl", threshold=0.8)
assert [str(each) for each in result.kept] == ["0", "2"], result.kept
print(sosie.__version__)
"""


def main(folder: Path) -> None:
    """Try every distribution on every Python; stop at the first that fails."""
    distributions = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    found = pythons()
    if len(distributions) < 2 or not found:
        sys.exit(
            f"{folder} has {len(distributions)} distributions, and there are {len(found)} Pythons from 3.11 on:"
            " a wheel, a source distribution and a Python are needed"
        )
    for version, python in found.items():
        for distribution in distributions:
            with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
                try_in(Path(scratch), python, distribution.resolve())
            print(f"Python {version}: {distribution.name} installs and works", flush=True)


def pythons() -> dict[str, str]:
    """Return every Python that is new enough, by version: those on the path and those of pyenv, one for each minor."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], NEWEST[1])]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [*(root / "versions").glob("3.*/bin/python"), *filter(None, map(shutil.which, names)), sys.executable]
    found: dict[tuple[int, ...], str] = {}
    for candidate in map(str, candidates):
        told = "import sys, venv, ensurepip; print(*sys.version_info[:2], sys.prefix == sys.base_prefix)"
        asked = subprocess.run([candidate, "-c", told], capture_output=True, text=True)
        if asked.returncode == 0:
            major, minor, own = asked.stdout.split()
            version = int(major), int(minor)
            if version >= OLDEST and (own == "True" or version not in found):
                found.setdefault(version, candidate)
    return {".".join(map(str, version)): found[version] for version in sorted(found)}


def try_in(scratch: Path, python: str, distribution: Path) -> None:
    """Install a distribution into a new environment and use it, far from the sources."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["NUMBA_CACHE_DIR"] = str(scratch / "cache")

    def run(*command: object) -> str:
        done = subprocess.run([*map(str, command)], cwd=scratch, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{distribution.name} with {python}: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout

    run(python, "-m", "venv", "environment")
    bin = scratch / "environment" / "bin"
    run(bin / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", distribution)
    documents = [{"id": str(number), "text": text} for number, text in enumerate((TEXT, TEXT.upper(), "another"))]
    (scratch / "docs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")
    version = run(bin / "sosie", "--version").split()[-1]
    assert version in distribution.name, f"{distribution.name} says that it is {version}"
    assert run(bin / "python", "-c", SMOKE).split() == [version]
    run(bin / "sosie", "dedup", "docs.jsonl", "-o", "out", "--quiet")
    assert (scratch / "out" / "kept" / "docs.jsonl").read_text("utf-8").count("\n") == 2
    run(bin / "sosie", "index", "build", "docs.jsonl", "-o", "index", "--quiet")
    found = run(bin / "sosie", "search", "index", "--text", TEXT, "--json")
    assert '"0"' in found, found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
