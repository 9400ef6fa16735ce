"""How long a user waits before anything happens: row 10 of the table of speeds."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import best

GOALS = {"import sosie": 0.05, "sosie --help": 0.3, "sosie plan --rows 10M": 1.5, "warm small job": 1.5}


def rows() -> list[dict[str, object]]:
    """Measure the start of the interpreter and of the commands; kernels are compiled before."""
    program = str(Path(sys.executable).parent / "sosie")
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder) / "documents.jsonl"
        texts = [f"document {i // 2} is a short text that says nothing of interest" for i in range(100)]
        documents.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        small = [program, "dedup", str(documents), "-o", str(Path(folder) / "out"), "--overwrite", "--quiet"]
        empty = _seconds([sys.executable, "-c", ""])
        times = {
            "import sosie": _seconds([sys.executable, "-c", "import sosie"]) - empty,
            "sosie --help": _seconds([program, "--help"]),
            "sosie plan --rows 10M": _seconds([program, "plan", "--rows", "10M", "--recall", "0.95"]),
            "warm small job": _seconds(small),
        }
    return [{"job": f"start-up: `{job}`", "seconds": times[job], "goal_s": goal} for job, goal in GOALS.items()]


def _seconds(command: list[str]) -> float:
    return best(lambda: subprocess.run(command, check=True, capture_output=True), 7)
