"""The files that the mistakes are made with: what people have on their disks, and what Sosie wrote for them."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

from tests.cli.running import done, write_jsonl

TEXTS = {
    "a": "the quick brown fox jumps over the lazy dog",
    "b": "the quick brown fox jumps over the lazy dog",
    "c": "something else that is not about a fox at all",
}


def arrange() -> None:
    """Write everything into the working directory."""
    for name in ("empty", "folder", "mine"):
        Path(name).mkdir()
    for name in ("docs.jsonl", "folder/docs.jsonl"):
        write_jsonl(name, TEXTS)
    Path("mine/thesis.tex").write_text("\\documentclass{article}\n")
    Path("letter.docx").write_bytes(b"PK\x03\x04")
    Path("headless.csv").write_text("1,the quick brown fox\n2,something else\n")
    Path("broken.jsonl").write_text('{"text": "a rose"}\n{"text": "a nose"\n')
    Path("latin.jsonl").write_bytes('{"text": "a café"}\n'.encode("latin-1"))
    Path("wide.csv").write_bytes("id,text\n1,a rose\n".encode("utf-16"))
    Path("numbers.jsonl").write_text('{"id": 1, "text": 5}\n')
    Path("repeated.jsonl").write_text('{"id": 1, "text": "a rose"}\n{"id": 1, "text": "a nose"}\n')
    Path("nulls.jsonl").write_text('{"id": 1, "text": "a rose"}\n{"id": null, "text": "a nose"}\n')
    Path("cut.jsonl.gz").write_bytes(gzip.compress(b'{"text": "a rose"}\n' * 1000)[:40])
    Path("options.toml").write_text("treshold = 0.8\n")
    Path("page.html").write_text("<p>a rose</p>")
    Path("german.txt").write_text("das Haus\nder Garten\n")
    Path("phrases.tsv").write_text("das Haus\tthe house\n")
    Path("marks.tsv").write_text("?!\t...\n")
    Path("spaces.tsv").write_text("Haus house 0.75\n")
    Path("twice.tsv").write_text("Haus\thouse\t0.75\nhaus\thouse\t0.25\n")
    Path("zero.tsv").write_text("Haus\thouse\t0\n")
    write_jsonl("english.jsonl", {i: f"the house with number {i} has a garden" for i in range(12)})
    write_jsonl("deutsch.jsonl", {i: f"das Haus mit Nummer {i} hat einen Garten" for i in range(12)})
    write_jsonl("marks.jsonl", {1: "?!", 2: "..."})
    german, english = "das haus mit nummer hat einen garten", "the house with number has a garden"
    pairs = zip(german.split(), english.split(), strict=True)
    Path("pairs.tsv").write_text("".join(f"{a}\t{b}\t1\n" for a, b in pairs))
    Path("strange.tsv").write_text("casa\tkuća\t1\n")
    done("dictionary", "import", "pairs.tsv", "-o", "de-to-en")
    done("dictionary", "import", "strange.tsv", "-o", "it-to-hr")
    done("sign", "docs.jsonl", "-o", "signatures")
    done("sign", "docs.jsonl", "-o", "singles", "--width", "1")
    done("sign", "docs.jsonl", "-o", "longer", "--bits", "128")
    done("index", "build", "docs.jsonl", "-o", "index", "--method", "simhash")
    done("dedup", "docs.jsonl", "-o", "result")
    shutil.copytree("result", "noted")
    Path("noted/notes.txt").write_text("pair 3 is no duplicate\n")
    shutil.copytree("index", "newer")
    manifest = json.loads(Path("newer/manifest.json").read_text())
    Path("newer/manifest.json").write_text(json.dumps({**manifest, "version": 99}))
