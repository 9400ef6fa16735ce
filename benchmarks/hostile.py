"""Hostile files within `--memory 1GB`: what became of each, the time, and the highest memory of the process tree.

usage: python -m benchmarks.hostile [--memory 1GB] [--only NAME ...] [--folder DIR]

Every file is made, de-duplicated with `--on-error skip`, and removed. A row that is above the limit, or that ends with
anything but documents, rejected records or a named error, is marked by `!`, and the command fails.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.memory import tree_bytes
from sosie.storage.size import parse_size, show_size

GOOD = "a rose is a rose is a rose"
LINE = json.dumps({"text": GOOD}).encode() + b"\n"
ROSE = '{"a": "\U0001f339'.encode()
MB = 1_000_000


class Case(NamedTuple):
    """A hostile file: how it is called, and its content in pieces."""

    name: str
    pieces: Callable[[], Iterator[bytes]]


def repeated(piece: bytes, size: int) -> Iterator[bytes]:
    """Yield about `size` bytes of one piece, again and again."""
    block = piece * max(1, MB // len(piece))
    for _ in range(max(1, size // len(block))):
        yield block


def lines(*middle: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a good line, others, and a good line."""
    yield LINE
    for each in middle:
        yield from each
    yield b"\n" + LINE


def packed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a member of gzip."""
    yield gzip.compress(b"".join(pieces), 9, mtime=0)


def text_line(text: str, size: int) -> Iterator[bytes]:
    """Yield a line whose text repeats another."""
    yield b'{"text": "'
    yield from repeated(text.encode(), size)
    yield b'"}\n'


def record_of(number: int, body: bytes) -> bytes:
    """Return a record of WARC with a plain text."""
    head = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <urn:uuid:%d>\r\nContent-Type: text/plain\r\n"
    return head % number + b"Content-Length: %d\r\n\r\n" % len(body) + body + b"\r\n\r\n"


def table(*texts: str) -> Iterator[bytes]:
    """Yield a file of Parquet."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": pa.array(texts, pa.large_string())}), sink, compression="zstd")
    yield sink.getvalue().to_pybytes()


def coded(text: str, rows: int) -> Iterator[bytes]:
    """Yield a file of Parquet in which a dictionary of one text stands for all rows."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])}), sink)
    yield sink.getvalue().to_pybytes()


def pages(page: bytes) -> Iterator[bytes]:
    yield page


CASES = [
    Case("line of 216 MB.jsonl", lambda: lines(repeated(b"x", 216 * MB))),
    Case("text of 216 MB.jsonl", lambda: lines(text_line("word ", 216 * MB))),
    Case("nested to 20 MB.jsonl", lambda: lines(repeated(b"[", 20 * MB))),
    Case("objects of 20 MB.jsonl", lambda: lines(iter([b'{"a": [']), repeated(b"{},", 19 * MB), iter([b"0]}"]))),
    Case("members of 20 MB.jsonl", lambda: lines(iter([b'{"a": [']), repeated(b'{"":0},', 19 * MB), iter([b"0]}"]))),
    Case("one emoji in 20 MB.jsonl", lambda: lines(iter([ROSE]), repeated(b"x", 19 * MB), iter([b'"}']))),
    Case("24 MB of U+FDFA.jsonl", lambda: lines(text_line("\ufdfa", 24 * MB))),
    Case("13 texts of 12 MB.jsonl", lambda: lines(*(text_line(f"w{i} ", 12 * MB) for i in range(13)))),
    Case("element of 216 MB.json", lambda: iter([b'[{"text": "a"},[', *repeated(b",", 216 * MB), b"]]"])),
    Case("elements of 1 byte.json", lambda: iter([b'[{"text": "a"}', *repeated(b",1", 2 * MB), b"]"])),
    Case("field of 216 MB.csv", lambda: iter([b'text\na\n"', *repeated(b"word ", 216 * MB), b'"\nb\n'])),
    Case("field of newlines, 216 MB.csv", lambda: iter([b'text\na\n"', *repeated(b"\n", 216 * MB), b'"\nb\n'])),
    Case("quotes, 216 MB.csv", lambda: iter([b'text\na\n"', *repeated(b'""', 216 * MB), b'"\nb\n'])),
    Case("open quotes, 20 MB.csv", lambda: iter([b"text\na\n", *repeated(b'"x\n', 20 * MB)])),
    Case("payload of 216 MB.warc", lambda: map(record_of, range(3), [b"a", b"word " * (43 * MB), b"b"])),
    Case("file of 216 MB.txt", lambda: repeated(b"word ", 216 * MB)),
    Case("value of 216 MB.parquet", lambda: table(GOOD, "word " * (43 * MB), GOOD)),
    Case("4,000 rows of one text of 1 MB.parquet", lambda: coded("w" * MB, 4000)),
    Case("a million bad lines.jsonl", lambda: lines(b'{"text": %d\n' % i for i in range(MB))),
    Case("a million null texts.jsonl", lambda: lines(repeated(b'{"text": null}\n', 15 * MB))),
    Case("a million bad rows.csv", lambda: iter([b"id,text\n1,a\n", *(b"%d,a,b\n" % i for i in range(MB))])),
    Case("2 million bad lines in 4 kB.jsonl.gz", lambda: packed(lines(repeated(b"1\n", 4 * MB)))),
    Case("16 million blank lines in 16 kB.jsonl.gz", lambda: packed(lines(repeated(b"\n", 16 * MB)))),
    Case("tags that never close.html", lambda: pages(b"<a" * 4000)),
    Case("4,000 open elements.html", lambda: pages(b"<b>" * 4000 + b"<p>x" * 4000)),
    Case("formatting in every block.html", lambda: pages(b"<b><i><u><s>" * 900 + b"<div>x</div>" * 9000)),
    Case("attributes in pairs.html", lambda: pages(b"<p " + b"".join(b"a%d " % i for i in range(200_000)) + b">x")),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--only", nargs="*", help="parts of the names of files")
    parser.add_argument("--folder", help="where the files are made; default: a temporary folder")
    options = parser.parse_args()
    limit, failed = parse_size(options.memory), False
    print(f"| file | CPU | time | highest memory, of {show_size(limit)} | what became of it |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure(Path(folder), Case("kernels are compiled.html", lambda: pages(b"<p>x" * 300)), options.memory)
        for case in CASES:
            if options.only is None or any(part in case.name for part in options.only):
                found = measure(Path(folder), case, options.memory)
                wrong = found["memory"] > limit or found["code"] not in (0, 1, 2) or "Traceback" in found["said"]
                failed = failed or wrong
                times = f"{found['cpu']:.1f} s | {found['seconds']:.1f} s"
                memory = show_size(found["memory"]) + " !" * wrong
                print(f"| {case.name} | {times} | {memory} | {found['said']} |", flush=True)
    return failed


def measure(folder: Path, case: Case, memory: str) -> dict[str, Any]:
    """Make a file, de-duplicate it, and return what that took."""
    file, out = folder / "in" / case.name, folder / "out"
    file.parent.mkdir(exist_ok=True)
    with open(file, "wb") as made:
        made.writelines(case.pieces())
    command = [sys.executable, "-m", "sosie", "dedup", str(file), "-o", str(out), "--on-error", "skip"]
    peak, start, before = 0, time.perf_counter(), os.times()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*command, "--memory", memory, "--threads", "2", "--quiet"], stdout=errors, stderr=errors, cwd=folder
        )
        while process.poll() is None:
            peak = max(peak, tree_bytes(process.pid))
            time.sleep(0.005)
        after = os.times()
        errors.seek(0)
        said = errors.read().replace(str(folder) + "/in/", "").strip().splitlines()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    found = {"code": process.returncode, "seconds": time.perf_counter() - start, "cpu": used, "memory": peak}
    found["said"] = ended(out) if process.returncode == 0 else " ".join(said)[-160:]
    shutil.rmtree(file.parent)
    shutil.rmtree(out, ignore_errors=True)
    return found


def ended(out: Path) -> str:
    """Return how many documents there are, and why the first of those was rejected that were."""
    counts = json.loads((out / "report.json").read_text("utf-8"))["counts"]
    told = f"{counts['kept'] + counts['dropped']:,} documents, {counts['rejected']:,} rejected"
    if not counts["rejected"]:
        return told
    with open(out / "rejected.jsonl", encoding="utf-8") as lines:
        return f"{told}: {json.loads(next(lines))['reason'][:90]}"


if __name__ == "__main__":
    sys.exit(main())
