"""The examples of the README and the guide pass a strict type checker, as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs" / "guide").glob("*.md")])
# What documents may be given as, for type checkers, too; the last two lines are wrong.
GIVEN = """
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

import sosie

sosie.dedup("docs.jsonl")
sosie.dedup(Path("docs.jsonl"))
sosie.dedup([Path("docs.jsonl"), "more.jsonl"])
sosie.dedup(sosie.Source("docs.jsonl"))
sosie.dedup(["a rose"], "0.8", memory="4GB", against=["a nose"], text_column=["title", "body"], progress=True)
sosie.dedup(text for text in ["a rose"])
sosie.dedup([{"text": "a rose"}])
sosie.dedup({"text": ["a rose"]})
sosie.dedup(np.array(["a rose"]))
sosie.dedup(pa.table({"text": ["a rose"]}))
sosie.dedup(pl.DataFrame({"text": ["a rose"]}))
sosie.dedup(pl.LazyFrame({"text": ["a rose"]}))
sosie.dedup(pl.Series(["a rose"]))
print(sosie.join(["a rose"]).table, sosie.join(sosie.Shingles().extract(["a rose"]), threshold=1).a)
sosie.dedup(5)
sosie.dedup(["a rose"], treshold=0.8)
"""


def check(folder: Path) -> list[str]:
    """Check all files of a folder as the package itself is checked, with its cache; return the complaints."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", str(folder)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def test_the_examples_pass_mypy(tmp_path):
    """Each block is a module of its own, as a reader would paste it; the name says the page and the line."""
    for page in PAGES:
        text = page.read_text("utf-8")
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S):
            line = text.count("\n", 0, block.start(1)) + 1
            (tmp_path / f"{page.stem.lower()}_line_{line}.py").write_text(block[1], "utf-8")
    assert len(list(tmp_path.glob("*.py"))) > 20
    assert check(tmp_path) == []


def test_all_that_may_be_given_passes_mypy_and_nothing_else(tmp_path):
    (tmp_path / "given.py").write_text(GIVEN, "utf-8")
    complaints = check(tmp_path)
    last = len(GIVEN.splitlines())
    assert [int(line.split(":")[1]) for line in complaints] == [last - 1, last], complaints
