"""The process in which cases are tried: it may die of one, and another is started.

usage: python -m tests.fuzz.worker FOLDER; a line of standard input is TARGET, to prepare it, or TARGET SEED NUMBER. The
answer is a line of JSON: how it ended, and what was said. The case lies in FOLDER/case while it is tried.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.fuzz.target import Case, Target, emptied

import sosie

MEMORY = 4 << 30  # bytes that a case of at most some 100 kB may take, with all that the process has


def main(folder: Path, targets: Mapping[str, Target]) -> None:
    """Answer line by line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        name, *which = line.split()
        if which:
            said = tried(targets[name], *which, name, folder)
        else:
            targets[name].prepare(emptied(folder / name))
            said = "ready", ""
        print(json.dumps(said), file=answers, flush=True)


def tried(target: Target, seed: str, number: str, name: str, folder: Path) -> tuple[str, str]:
    """Write a case and say what became of it."""
    random = Random(f"{seed}/{name}/{number}")
    return judged(target, target.write(random, emptied(folder / "case")), random)


def judged(target: Target, case: Case, random: Random) -> tuple[str, str]:
    before = snapshot(case.path)
    try:
        ended, said = target.judge(case, random), ""
    except sosie.SosieError as error:
        ended, said = "named", f"{type(error).__name__}: {error}"
        if isinstance(error, sosie.StorageError | sosie.DataError) and case.path.name not in said:
            return "other", f"does not say where: {said}"
    except BaseException:
        return "other", traceback.format_exc(limit=-12)
    if snapshot(case.path) != before:
        return "other", "the input was changed"
    return ended, said


def snapshot(path: Path) -> dict[str, tuple[bytes, int]]:
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


if __name__ == "__main__":
    from tests.fuzz.targets import TARGETS

    main(Path(sys.argv[1]), TARGETS)
