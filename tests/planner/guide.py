"""What `sosie plan` prints in the guide: `python -m tests.planner.guide` writes it there."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from pathlib import Path
from unittest import mock

from tests.cli.running import run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "choosing.md"


def printed(page: str) -> str:
    """Return the page with what its commands print on a machine that was not measured."""
    with tempfile.TemporaryDirectory() as cache, mock.patch.dict(os.environ, {"XDG_CACHE_HOME": cache}):
        return re.sub(r"^```text\n\$ (.*?)\n(.*?)^```", _block, page, flags=re.M | re.S)


def _block(found: re.Match[str]) -> str:
    program, *words = shlex.split(found[1])
    assert program == "sosie"
    code, out, err = run(*words)
    assert code == 0, err
    return f"```text\n$ {found[1]}\n{out}```"


if __name__ == "__main__":
    PAGE.write_text(printed(PAGE.read_text("utf-8")), "utf-8")
