"""What the documents say is so: the map of the tree, the README's commands, the guide's examples, the defaults."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import sosie
from sosie.cli import sosie as cli
from sosie.crosslingual.signed import Signed
from sosie.crosslingual.spec import TrainingSpec
from sosie.crosslingual.views import Weights
from sosie.jobs.dictionary import Columns
from sosie.jobs.link import Linker
from sosie.signatures.registry import METHODS

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SOSIE = Path(sys.executable).parent / "sosie"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the documents speak of."""
    texts = ["the quick brown fox jumps over the lazy dog"] * 2 + ["something else that is not about a fox at all"]
    lines = [{"id": str(i), "text": text, "body": text, "url": f"u{i}"} for i, text in enumerate(texts)]
    for name in ("docs", "new", "old"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "code").mkdir()
    for name, number in (("a.py", 0), ("b.py", 0), ("Makefile", 2)):
        (tmp_path / "code" / name).write_text(texts[number])
    (tmp_path / "shards").mkdir()
    pq.write_table(pa.Table.from_pylist(lines), tmp_path / "shards" / "0.parquet")
    monkeypatch.chdir(tmp_path)
    exec(blocks(ROOT / "docs" / "guide" / "link.md", "python")[0], {})  # writes the files of two languages
    return tmp_path


def test_the_map_of_the_tree_equals_the_disk():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import architecture
    finally:
        sys.path.remove(str(ROOT / "tools"))
    page = architecture.PAGE.read_text("utf-8")
    assert architecture.with_map(page) == page, "run: python tools/architecture.py"


def test_the_places_that_the_documents_name_are_there():
    """Modules that ARCHITECTURE, CONTRIBUTING and the decision on the tree name, each with the functions beside it."""
    pages = [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/decisions/0010-*.md")]
    for page in pages:
        text = page.read_text("utf-8").split("<!-- map: begin -->")[0]
        for name in re.findall(r"`((?:\w+/)+\w+\.py)`", text):
            assert any((base / name).exists() for base in (ROOT, ROOT / "src" / "sosie")), f"{page.name} names {name}"
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("## Where is ...?")[1].split("## ")[0]
    named = re.findall(r"`([\w/]+\.py)`: ((?:`\w+`(?:, | and )?)+)", table)
    assert len(named) >= 4
    for file, functions in named:
        source = (ROOT / "src" / "sosie" / file).read_text("utf-8")
        for function in re.findall(r"`(\w+)`", functions):
            assert re.search(rf"(def|class) {function}\b", source), f"{file} has no {function}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_examples_run(page, folder):
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), {})


# Pages whose examples are run in one folder, in their order.
FOLLOWED = ("choosing.md", "formats.md", "indexes.md", "dictionary.md", "link.md")
COMMAND_LINES = [
    (page.name, line.split("#")[0].strip())
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.splitlines()
    if line.startswith("sosie ") and page.name not in FOLLOWED
]


def run_line(line: str, *, alone: bool) -> None:
    """Run a line as a shell does: in a process of its own, or here, where that is only a command and its words."""
    if alone or re.search(r"[|<>$;*]", line):
        done = subprocess.run(line.replace("sosie ", f"{SOSIE} "), shell=True, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        return
    for command in line.split(" && "):
        program, *words = shlex.split(command)
        if program != "sosie":
            subprocess.run([program, *words], check=True)
            continue
        invoked = CliRunner().invoke(cli, words)
        assert invoked.exit_code == 0, f"{command}: {invoked.output} {invoked.exception}"


@pytest.mark.parametrize(("page", "line"), COMMAND_LINES)
def test_shell_examples_run(page, line, folder):
    run_line(line, alone=page == "README.md")


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_page_can_be_followed_from_its_beginning_to_its_end(name, folder):
    """All examples of a page in one folder and in their order, as a reader runs them."""
    page = ROOT / "docs" / "guide" / name
    for language, block in re.findall(r"^```(sh|python)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        if language == "python":
            exec(compile(block, str(page), "exec"), {})
            continue
        for line in filter(None, (line.split("#")[0].strip() for line in block.splitlines())):
            run_line(line, alone=False)


def test_the_files_that_the_first_steps_list_are_written(folder):
    subprocess.run([SOSIE, "dedup", "docs.jsonl", "-o", "out", "--threshold", "0.8", "--quiet"], check=True)
    page = ROOT / "docs" / "guide" / "start.md"
    listed = re.findall(r"^\| `([^`]+)` \|", page.read_text("utf-8"), re.M)
    assert sorted(listed) == sorted(str(file.relative_to("out")) for file in Path("out").rglob("*") if file.is_file())


def commands(group: click.Group, *before: str) -> list[tuple[str, ...]]:
    """The words of every command, those of a command's own commands included."""
    context = click.Context(group)
    named = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    inner = [
        commands(each, *before, name) if isinstance(each, click.Group) else [(*before, name)] for name, each in named
    ]
    return [words for found in inner for words in found]


@pytest.mark.parametrize("words", commands(cli), ids=" ".join)
def test_every_command_is_documented(words):
    assert any(f"sosie {' '.join(words)}" in page.read_text("utf-8") for page in PAGES)


@pytest.mark.parametrize("words", commands(cli), ids=" ".join)
def test_every_option_is_in_the_guide_and_has_a_help(words):
    text = "".join(page.read_text("utf-8") for page in PAGES)
    command = cli
    for name in words:
        command = command.get_command(click.Context(command), name)
    for option in (option for option in command.params if isinstance(option, click.Option)):
        assert any(re.search(rf"(?<![\w-]){spelt}(?![\w-])", text) for spelt in option.opts), option.opts
        assert option.help, option.opts


def test_every_command_has_the_options_of_all():
    for words in commands(cli):
        text = CliRunner().invoke(cli, [*words, "--help"]).output
        looks = words[-1] in ("remove", "info", "verify", "show", "export")
        assert "INPUT" in text or "SOURCE TARGET" in text or words[0] in ("demo", "warm", "shards") or looks
        assert all(option in text for option in ("--json", "--quiet", "--config"))
        assert "--threads" in text or looks or words[-1] == "import"


def test_the_defaults_are_what_the_page_says():
    rows = re.findall(r"^\|(.*?)\| `(\w+)` \| (.*?) \|", (ROOT / "docs" / "defaults.md").read_text("utf-8"), re.M)
    spec, said = "", {}
    for owner, field, default in rows:
        spec = owner.strip().strip("`") or spec
        said[spec, field] = default.strip("`")
    for kind in (sosie.Shingles, *METHODS.values()):
        for field in (field.name for field in fields(kind) if field.init and field.repr):
            owner = kind.__name__ if (kind.__name__, field) in said else "all"
            assert eval(said[owner, field], {"Shingles": sosie.Shingles}) == getattr(kind(), field)
    specs = {"Columns": Columns, "Signed": Signed, "TrainingSpec": TrainingSpec}
    for kind in (Linker, Signed, TrainingSpec, Weights):
        names = kind._fields if kind is Weights else [field.name for field in fields(kind)]
        listed = {field: eval(default, specs) for (owner, field), default in said.items() if owner == kind.__name__}
        assert listed == {name: getattr(kind(), name) for name in names}
    job = {name: getattr(sosie.Deduplicator(), name) for owner, name in said if owner == "dedup"}
    assert job.pop("threshold") == Fraction(said["dedup", "threshold"])
    windows = {name: value.default for name, value in inspect.signature(sosie.passages).parameters.items()}
    for owner, found in (("dedup", job), ("passages", {name: windows[name] for name in ("words", "overlap")})):
        assert found == {name: eval(said[owner, name]) for name in found}
    assert job.keys() == {field.name for field in fields(sosie.Deduplicator)} - {"threshold", "shingles"}
