"""Commands run in this process as the console script runs them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from sosie import cli


def run(*arguments: Any) -> tuple[int, str, str]:
    """Run `main`: exit code, standard output, standard error; never a traceback."""
    script = click.Command("script", callback=lambda: None)
    script.main = lambda *_, **__: _main(list(map(str, arguments)))
    result = CliRunner().invoke(script)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout, result.stderr


def done(*arguments: Any) -> Any:
    """Run a command that has to succeed, and return what it says as JSON."""
    code, out, err = run(*arguments, "--json")
    assert code == 0 and not err, err
    return json.loads(out)


def refused(*arguments: Any) -> tuple[int, str]:
    """Run a command that has to fail: its exit code and its one sentence."""
    code, out, err = run(*arguments)
    assert code in (1, 2) and not out, out
    return code, err


def write_jsonl(path: str | Path, texts: dict[Any, str]) -> None:
    """Write documents by their ids."""
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    Path(path).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def files_in(folder: str | Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def _main(arguments: list[str]) -> None:
    before, sys.argv = sys.argv, ["sosie", *arguments]
    try:
        cli.main()
    finally:
        sys.argv = before
