"""Make every mistake, and write what is said to the page of the guide: `python -m tests.mistakes.page`."""

from __future__ import annotations

import contextlib
import importlib.abc
import os
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tests.cli.running import refused
from tests.mistakes.scene import arrange
from tests.mistakes.table import SECTIONS, Mistake

import sosie
from sosie.crosslingual.aligner import load_thot
from sosie.documents.html import load_resiliparse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "messages.md"
HEAD = """# Messages

What Sosie says when something is wrong: what it is, where, and what to do. These are typical mistakes, each with its
message as it is printed; a test makes all of them and compares. Options are named as on the command line: `--on-error
skip` is `on_error="skip"` in Python. Exit codes: 2 for wrong usage (`UsageError`), 1 for bad data, damaged files and
things that do not belong together (`DataError`, `StorageError`, `MismatchError`).

Messages name files, columns and ids as they are, but for characters that a terminal would take for a command (the codes
C0 and C1, as ESC) or that let a line read as another (line breaks, controls of bidirectional text): those are written
as escapes, `\\x1b` or `\\u202e`. So are they in tables, logs and everything else that is printed; in JSON as `\\u001b`.
"""


def said(mistake: Mistake) -> str:
    """Make a mistake in the working directory, and return the message."""
    with _hidden(mistake.without):
        if mistake.is_command:
            _, error = refused(*shlex.split(mistake.typed)[1:])
            message = error[error.rindex("Error: ") :].strip()
        else:
            try:
                exec(mistake.typed, {"sosie": sosie})
            except sosie.SosieError as error:
                message = f"{type(error).__name__}: {error}"
            else:
                raise AssertionError(f"nothing is said of: {mistake.title}")
    return message.replace(os.getcwd(), "/home/me")


def render(messages: dict[str, list[tuple[Mistake, str]]]) -> str:
    """Return the page: every mistake and what is said of it."""
    parts = [HEAD]
    for section, found in messages.items():
        parts.append(f"## {section}\n")
        for mistake, message in found:
            lines = [f"$ {mistake.typed}"] if mistake.is_command else [_prompted(line) for line in mistake.lines]
            lines.append(textwrap.fill(message, 112, subsequent_indent="    ", break_on_hyphens=False))
            block = "\n".join(lines)
            parts.append(f"{mistake.title[0].upper()}{mistake.title[1:]}:\n\n```text\n{block}\n```\n")
    return "\n".join(parts)


def _prompted(line: str) -> str:
    return f"{'...' if line.startswith(' ') else '>>>'} {line}"


def main() -> None:
    """Write the page."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(os.path.realpath(folder)):
        arrange()
        page = render({name: [(each, said(each)) for each in mistakes] for name, mistakes in SECTIONS.items()})
    PAGE.write_text(page, "utf-8")


@contextlib.contextmanager
def _hidden(packages: tuple[str, ...]) -> Iterator[None]:
    """Let packages look as if they were not installed."""

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name.partition(".")[0] in packages:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    loaded = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in packages}
    for name in loaded:
        del sys.modules[name]
    sys.meta_path.insert(0, finder := Finder())
    for load in (load_resiliparse, load_thot):
        load.cache_clear()  # it may be in use since another test
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.modules.update(loaded)


if __name__ == "__main__":
    main()
