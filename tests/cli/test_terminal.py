"""What files, names and texts say is shown on a terminal, and never done by it."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import refused, run

from sosie.errors import DataError, MismatchError, SosieError, StorageError, UsageError
from sosie.shown import as_json, as_text, printable

# A title, a colour, a cleared screen, a bell, codes of C0 and C1, and every control of bidirectional text.
COMMANDS = "\x1b]0;OWNED\x07\x1b[31mRED\x1b[2J\x08\x7f\x85\x9b31m"
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028"
EVIL = f"{COMMANDS}{BIDI}"
SHOWN = r"\x1b]0;OWNED\x07\x1b[31mRED\x1b[2J\x08\x7f\x85\x9b31m\u061c\u200e"
_OWN = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[hl]|[12]?[ABKG])")  # colours, the cursor and lines of the bars

SESSION = """
import json, sys
from sosie.cli import main
for arguments in json.load(open("commands.json")):
    sys.argv = ["sosie", *arguments]
    try:
        main()
    except SystemExit as ended:
        print("exit code", ended.code, flush=True)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("header.csv").write_text(f"a{EVIL},b\n1,2\n", "utf-8")
    write("member.jsonl", {"id": "x", f"k{EVIL}": "1"})
    Path(f"name{EVIL}.jsonl").write_text("{bad\n", "utf-8")
    text = f"one two three four {EVIL} five six seven\neight"
    write("good.jsonl", {"id": f"i{EVIL}", "text": text}, {"id": f"j{EVIL}\n", "text": f"{text}!"})
    write("twice.jsonl", *[{"id": f"i{EVIL}", "text": "a b c"}] * 2)
    Path(f"strays{EVIL}").mkdir()
    write(f"strays{EVIL}/good.jsonl", {"text": "a b c"})
    Path(f"strays{EVIL}/other{EVIL}.json").write_text(json.dumps({EVIL: 1}))
    Path("options.toml").write_text(json.dumps(EVIL) + " = 1\n")
    return tmp_path


def write(path: str, *documents: dict[str, str]) -> None:
    Path(path).write_text("".join(json.dumps(each) + "\n" for each in documents), "utf-8")


def on_terminal(*commands: list[str]) -> str:
    """Run commands, one after another in one process, and return what a terminal would be sent."""
    Path("commands.json").write_text(json.dumps(commands))
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "2000"}
    child = subprocess.Popen(
        [sys.executable, "-c", SESSION], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert child.wait(timeout=60) == 0, shown
    return shown.decode("utf-8")


def commands_in(text: str) -> list[str]:
    """Return the characters that could be commands and are not those of bars and bold letters."""
    return [point for point in _OWN.sub("", text) if point not in "\r\n" and printable(point) != point]


def test_no_command_reaches_a_terminal(folder):
    ask = ["search", "index", "--text", "one two three four", "--passages"]
    shown = on_terminal(
        ["dedup", "header.csv", "-o", "o1"],
        ["dedup", "member.jsonl", "-o", "o2"],
        ["dedup", f"name{EVIL}.jsonl", "-o", "o3"],
        ["dedup", "twice.jsonl", "-o", "o4"],
        ["inspect", "good.jsonl", f"name{EVIL}.jsonl"],
        ["index", "build", "good.jsonl", "-o", "index", "--keep-texts"],
        ask,
        [*ask, "--format", "jsonl"],
        [*ask, "--json"],
        ["index", "remove", "index", f"zz{EVIL}"],
        ["index", "info", f"index{EVIL}"],
        ["dedup", "good.jsonl", "-o", "o6"],
        ["dedup", f"nosuch{EVIL}.jsonl", "-o", "o7"],
        ["join", "good.jsonl", "-o", "o8"],
        ["dedup", "good.jsonl", "-o", f"o9{EVIL}\n"],
        ["dedup", f"strays{EVIL}", "-o", "o10"],
        ["dedup", "good.jsonl", "--config", "options.toml"],
        ["dedup", "good.jsonl", f"--no{EVIL}"],
        [f"de{EVIL}"],
        ["dedup", "good.jsonl", "--method", EVIL],
    )
    assert commands_in(shown) == []
    assert "\x1b[31mRED" not in shown and "\x1b[2J" not in shown and shown.count(SHOWN) > 12
    assert "Traceback" not in shown
    codes = [int(code) for code in re.findall(r"exit code (\d)", shown)]
    assert codes == [2, 2, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 2, 0, 0, 0, 2, 2, 2, 2]
    assert "1 file holds no documents and is passed over: strays" in shown
    assert f"Written to o9{printable(EVIL)}\\n\r\n" in shown
    assert "\x1b[1mone two three four" in shown  # bold letters are ours


def test_nor_a_file_nor_a_pipe(folder):
    for arguments in (["dedup", "header.csv", "-o", "out"], ["inspect", f"nosuch{EVIL}.jsonl"], [f"--no{EVIL}"]):
        _, said = refused(*arguments)
        assert not commands_in(said) and SHOWN in said
    run("index", "build", "good.jsonl", "-o", "index", "--keep-texts")
    ask = ["search", "index", "--text", "one two three four", "--passages"]
    _, lines, _ = run(*ask, "--format", "jsonl")
    _, table, _ = run(*ask)
    assert not commands_in(lines) and not commands_in(table)
    assert {json.loads(line)["id"] for line in lines.splitlines()} == {f"i{EVIL}", f"j{EVIL}\n"}
    assert "\\x1b[2J" in table and len(table.splitlines()) == 6
    run(*ask, "-o", "found.jsonl")
    Path("bad.jsonl").write_text(f"{{bad {EVIL}\n", "utf-8")
    run("dedup", "bad.jsonl", "-o", "out", "--on-error", "skip")
    assert not commands_in(Path("found.jsonl").read_text("utf-8") + Path("out/rejected.jsonl").read_text("utf-8"))
    assert json.loads(Path("out/rejected.jsonl").read_text("utf-8"))["raw"] == f"{{bad {EVIL}"


def test_marks_stay_where_they_are_beside_escapes(folder):
    write("one.jsonl", {"id": "a", "text": "\x1b[2J some words \u202e that are shared \x9b here"})
    run("index", "build", "one.jsonl", "-o", "index", "--keep-texts")
    _, table, _ = run("search", "index", "--text", "that are shared", "--passages")
    assert r"some words \u202e **that are shared** \x9b here" in table


@pytest.mark.parametrize("kind", [SosieError, UsageError, DataError, StorageError, MismatchError])
def test_errors_hold_no_commands(kind):
    error = kind(f"{EVIL}\nname: is wrong.")
    assert str(error) == error.args[0] == f"{printable(EVIL)}\\nname: is wrong."
    assert kind().args == () and kind(3).args == (3,)


def test_nor_does_what_is_logged(caplog):
    log = logging.getLogger("sosie")
    with caplog.at_level(logging.WARNING, "sosie"):
        log.warning("%s: passed over", EVIL)
        log.warning("%d files", 3)
    assert [record.getMessage() for record in caplog.records] == [f"{printable(EVIL)}: passed over", "3 files"]


def test_letters_stay_as_they_are():
    for text in ("Straße", "日本語", "می‌خواهم", "👩‍🚀", "a\u00a0b", "\\x1b", "a\u0301"):
        assert printable(text) == text and json.loads(as_json(text)) == text and text in as_text("t", [("a", text)])
    assert printable("\udce9\ud800") == r"\udce9\ud800"
    assert as_json("\udce9\x7f\U000e0041") == r'"\udce9\u007f\udb40\udc41"'
    assert json.loads(as_json(EVIL)) == EVIL == json.loads(as_json(EVIL, ensure_ascii=True))
