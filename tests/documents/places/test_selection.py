"""Which files of folders are read, and as what: --format, --include and --exclude."""

import io
import json

import pytest
from click.testing import CliRunner
from tests.documents.writing import write

from sosie.cli import sosie as cli
from sosie.documents import Source
from sosie.documents.places.selection import Selection
from sosie.errors import DataError, UsageError

FILES = ["Makefile", "a.py", "b/c.py", "b/c.pyc", "b/d.js", "node_modules/x/e.py", "tests/test_a.py", "notes.txt"]


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"this is the file {name}, a text of its own")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("hidden")
    return root


def names(source):
    reading = source.batches()
    return [name for batch in reading for name in reading.ids.take(batch.rows).to_pylist()]


def test_every_file_is_a_text(tree, tmp_path):
    source = Source(tree, format="text")
    assert names(source) == sorted(FILES)
    write(source, {0: 1}, tmp_path / "out")
    assert (tmp_path / "out/kept/b/c.py").read_bytes() == (tree / "b/c.py").read_bytes()
    assert (tmp_path / "out/dropped/Makefile").exists()
    assert names(Source(tree / "Makefile", format="text")) == ["Makefile"]


@pytest.mark.parametrize(
    ("include", "exclude", "wanted"),
    [
        (["*.py"], [], ["a.py", "b/c.py", "node_modules/x/e.py", "tests/test_a.py"]),
        (["*.py"], ["node_modules", "test_*"], ["a.py", "b/c.py"]),
        (["b/*"], [], ["b/c.py", "b/c.pyc", "b/d.js"]),
        (["/*.py"], [], ["a.py"]),
        (["b/"], ["*.pyc"], ["b/c.py", "b/d.js"]),
        (["**/c.py", "Make*"], [], ["Makefile", "b/c.py"]),
        (["node_modules/**"], [], ["node_modules/x/e.py"]),
        (["?.py", "[A-Z]akefile", "[M]*"], [], ["Makefile", "a.py", "b/c.py", "node_modules/x/e.py"]),
        ([], ["*.py*", "*.js", "[!n]*file"], ["notes.txt"]),
    ],
)
def test_patterns(tree, include, exclude, wanted):
    assert names(Source(tree, format="text", include=include, exclude=exclude)) == wanted
    found = names(Source(f"{tree}/**", format="text", include=include, exclude=exclude))
    assert [name.rpartition("/")[2] for name in found] == [name.rpartition("/")[2] for name in wanted]


def test_brackets_and_carets_are_plain_where_they_have_no_meaning():
    chosen = Selection(["a[^]b", "c[]]d", "e.f", "g[!]]h"])
    assert [chosen.admits(name) for name in ("a^b", "c]d", "e.f", "exf", "gxh", "g]h")] == [
        *(True, True, True, False, True, False)
    ]


def test_a_pattern_that_leads_nowhere_is_named(tree):
    for source, message in [
        (Source(tree, include="*.rs"), r"--include '\*\.rs': matches no file"),
        (Source(tree, include=["*.py", "*.txt"]), r"'\*\.py': leads only to files of unknown kinds, .*--format text"),
        (Source(tree / "notes.txt", include="*.txt"), "there is none among the inputs"),
        (Source(tree / "a.py"), r"a\.py: unknown kind of file.*--format text reads each as one document"),
        (Source(tree / "b"), "holds no file that can be read.*--format text"),
        (Source(tree, format="pdf"), "the format must be one of jsonl, json, csv, tsv, .*text"),
        (Source(f"{tree}/*.txt", exclude="*"), "leave none of its 1 files"),
        (Source(tree, include="/"), "is no pattern"),
    ]:
        with pytest.raises(UsageError, match=message):
            source.batches()


def test_files_are_read_as_another_format(tmp_path):
    (tmp_path / "dump").write_text('{"text": "a"}\n')
    (tmp_path / "dump.log").write_text("text\nb\n")
    assert [b.texts.to_pylist() for b in Source(tmp_path / "dump", format="jsonl").batches()] == [["a"]]
    assert [b.texts.to_pylist() for b in Source(tmp_path / "dump.log", format="csv").batches()] == [["b"]]
    with pytest.raises(DataError, match=r"dump\.log: is damaged or not Parquet"):
        Source(tmp_path / "dump.log", format="parquet").batches()


def test_binary_files_among_texts_are_rejected(tree):
    (tree / "image.png").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(DataError, match=r"image\.png: .*--on-error skip.*--exclude"):
        names(Source(tree, format="text"))
    assert "image.png" not in names(Source(tree, format="text", on_error="skip"))


@pytest.mark.parametrize(("form", "content", "name"), [("csv", b"text\na\n", "stdin.csv"), ("text", b"a", "stdin.txt")])
def test_standard_input_of_another_format(tmp_path, monkeypatch, form, content, name):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    write(Source("-", format=form), {}, tmp_path / "out")
    assert (tmp_path / "out/kept" / name).read_bytes() == content


def test_the_command_line_has_them_and_evaluate_reads_the_same(tree, tmp_path):
    arguments = ["dedup", str(tree), "-o", str(tmp_path / "out"), "--format", "text", "--exclude", "node_modules"]
    done = CliRunner().invoke(cli, [*arguments, "--include", "*.py", "--include", "*.js"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "out/report.json").read_text())
    assert report["counts"]["documents"] == 4
    given = {"format": "text", "include": ["*.py", "*.js"], "exclude": ["node_modules"]}
    assert report["parameters"]["files"] == given
    again = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "out"), str(tree), "--sample", "2"])
    assert again.exit_code == 0, again.output
    for command in (["inspect"], ["join", "-o", str(tmp_path / "j")], ["sign", "-o", str(tmp_path / "s")]):
        done = CliRunner().invoke(cli, [command[0], str(tree), *command[1:], "--format", "text", "--quiet"])
        assert done.exit_code == 0, done.output


def test_a_reference_need_not_heed_the_options_of_the_documents(tree, tmp_path):
    (tmp_path / "a.csv").write_text("id;text;more\n1;a rose is a rose;x\n")
    (tmp_path / "b.jsonl").write_text('{"id": "2", "text": "a rose is a rose"}\n')
    arguments = ["dedup", str(tmp_path / "a.csv"), "-o", str(tmp_path / "out"), "--delimiter", ";"]
    done = CliRunner().invoke(cli, [*arguments, "--against", str(tmp_path / "b.jsonl")])
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "out/report.json").read_text())["counts"]["dropped"] == 1
    arguments = [
        "join",
        str(tree),
        "--with",
        str(tmp_path / "b.jsonl"),
        "-o",
        str(tmp_path / "j"),
        "--include",
        "*.txt",
    ]
    done = CliRunner().invoke(cli, [*arguments, "--include", "*.txt"])
    assert done.exit_code == 0, done.output
