"""Commands that change files, killed while they run, or run where the file system is full, broken or bounded."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable
from pathlib import Path

from tests.jobs.killed import CHANGES, CREATES, at_event, die, refuse

import sosie
from sosie.jobs.index import IndexBuilder, add_to_index, remove_from_index
from sosie.jobs.join import Joiner
from sosie.jobs.sign import Signing
from sosie.search.entries import Form
from sosie.storage.output import Output

NOT_MET, NAMED, BORNE = 0, 3, 4  # how a command ended: before the fault, by a named error, or well in spite of it
BUILDER = IndexBuilder(kind="blocks", form=Form(texts=True))


def documents(folder: Path, name: str) -> sosie.Source:
    return sosie.Source(folder / f"{name}.jsonl", on_error="skip")


def sign(folder: Path) -> None:
    Signing(signer=sosie.Simhash(), features=True).run(documents(folder, "docs"), Output(folder / "made"), threads=2)


def join(folder: Path) -> None:
    Joiner(threshold=0.6).run(documents(folder, "docs"), None, Output(folder / "made"), threads=2)


def build(folder: Path) -> None:
    BUILDER.from_documents(documents(folder, "docs"), sosie.Simhash(), Output(folder / "made"), threads=2)


def rebuild(folder: Path) -> None:
    output = Output(folder / "index", overwrite=True)
    BUILDER.from_documents(documents(folder, "more"), sosie.Simhash(), output, threads=2)


def add(folder: Path) -> None:
    add_to_index(folder / "index", documents(folder, "more"), threads=2)


def remove(folder: Path) -> None:
    remove_from_index(folder / "index", ["d1", "d4"])


COMMANDS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (sign, join, build, rebuild, add, remove)
}


def prepared(folder: Path) -> None:
    """Put there what the commands work with: documents, and an index of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, first in (("docs", 0), ("more", 100)):
        rows = [
            {"id": f"d{i}", "text": f"a rose of {i % 7} thorns is a rose of {i} thorns"}
            for i in range(first, first + 20)
        ]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows) + '{"text": 1}\n'
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    BUILDER.from_documents(documents(folder, "docs"), sosie.Simhash(), Output(folder / "index"), threads=2)


def each_once(folder: str) -> None:
    """Do everything once, so that kernels are loaded."""
    for name, command in COMMANDS.items():
        prepared(Path(folder) / name)
        command(Path(folder) / name)


def killed(number: int, name: str, folder: str) -> int:
    """Run a command until the n-th change of the file system."""
    at_event(number, CHANGES, die)
    COMMANDS[name](Path(folder))
    return NOT_MET


def failing(number: int, code: int, name: str, folder: str, once: bool) -> int:
    """Run a command whose n-th call fails, once or with all that follow."""
    met = []

    def fail() -> None:
        met.append(number)
        refuse(code)

    at_event(number, CHANGES if once else CREATES, fail, once, folder if once else "?")
    return _ended(name, folder, os.strerror(code), met)


def bounded(limit: int, name: str, folder: str) -> int:
    """Run a command while no file may grow beyond a limit, which writers in C++ meet as well."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    return _ended(name, folder, "File too large", [])


def _ended(name: str, folder: str, reason: str, met: list[int]) -> int:
    try:
        COMMANDS[name](Path(folder))
    except sosie.SosieError as error:
        assert reason in str(error), f"does not say why: {error}"
        assert folder in str(error) or os.environ.get("TMPDIR", "/tmp") in str(error), f"does not say where: {error}"
        return NAMED
    return BORNE if met else NOT_MET
