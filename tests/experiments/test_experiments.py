"""Every experiment, run at a small size, with its page and pictures written beside the committed ones."""

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sosie.evaluation.planted import PlantedCorpus

ROOT = Path(__file__).resolve().parents[2]
SMALL = {  # options, the page that is written, and pictures
    "issl_breadth": ("--count 2048 --queries 3 --texts texts.parquet", "issl.md", 1),
    "issl_growth": ("--largest 14 --queries 3", "issl.md", 1),
    "issl_memory": ("", "issl.md", 0),
    "nfl_links": ("--documents 400 --sample 30 --tables 20 --step 10", "nfl-links.md", 2),
    "nfl_links_errors": ("--documents 400", "nfl-links.md", 0),
    "nfl_table1": ("--sample 60", "nfl.md", 1),
    "nfl_table2": ("--sample 60 --texts texts.parquet", "nfl.md", 0),
    "psm_batch": ("--log-rows 10 12 --log-batches 8 9", "psm-batch.md", 1),
    "nfl_window": ("--rows 1000 --tables 20 --step 10", "nfl-window.md", 4),
    "psm_figure1": ("--documents 300 --sample 200", None, 1),
    "psm_figure6": ("--documents 300 --sample 100", None, 1),
    "psm_flips": ("--log-rows 12 --queries 200 --seeds 2", "psm.md", 1),
    "psm_growth": ("--log-rows 10 11 --queries 100", "psm.md", 1),
    "psm_header": ("--log-rows 12 --queries 200 --bits 8 10 --seeds 2", "psm.md", 1),
    "psm_recall": ("--log-rows 10 12 --queries 200 --seeds 2", "psm.md", 1),
    "psm_table1": ("--documents 300 --pairs 1000", "psm.md", 0),
    "psm_tables": ("--log-rows 12 --queries 200", "psm.md", 0),
    "psm_total": ("--documents 1200 --radius 4 8", "psm.md", 0),
    "stein_figure3": ("--documents 80 --samples 2", "stein.md", 1),
    "stein_figure4": ("--documents 80 --samples 2", "stein.md", 1),
    "stein_new": ("--documents 80 --samples 2", "stein.md", 0),
    "stein_table2": ("--documents 80 --samples 2", "stein.md", 0),
    "stein_figure5": ("texts.parquet:en --sample 30", "stein-figure5.md", 1),
    "topk_breadth": ("--count 512 --queries 2 --texts texts.parquet", "topk.md", 2),
    "topk_rank": ("--queries 3 --texts texts.parquet", "topk.md", 1),
    "topk_size": ("--sizes 1000 2000 --queries 3 --width 10", "topk.md", 1),
    "topk_width": ("--count 2048 --queries 3 --widths 8 10 --texts texts.parquet", "topk.md", 1),
}
OF_TEXTS = {  # what else is written of texts that a user has
    "psm_flips": "--log-rows 12 --queries 400 --seeds 1",
    "psm_growth": "--log-rows 11 12 --queries 400",
    "psm_header": "--log-rows 12 --queries 400 --bits 8 --seeds 1",
    "psm_recall": "--log-rows 12 --queries 400 --seeds 1",
    "psm_tables": "--log-rows 12 --queries 400",
}


def test_every_experiment_is_here():
    scripts = {path.stem for path in (ROOT / "experiments").glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert scripts == SMALL.keys() | {"spark_scaling"}  # which tests/spark/test_scaling.py runs
    listed = (ROOT / "experiments" / "README.md").read_text("utf-8")
    assert [name for name in sorted(scripts) if f"`{name}`" not in listed] == []


@pytest.mark.parametrize("name", SMALL)
def test_it_runs_and_writes(name, tmp_path, monkeypatch, capsys):
    options, page, pictures = SMALL[name]
    script = import_module(f"experiments.{name}")
    docs = elsewhere(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    texts = pa.concat_tables(PlantedCorpus(200).tables())
    pq.write_table(texts, "texts.parquet")
    monkeypatch.setattr(sys, "argv", [name, *options.split()])
    script.main()
    printed = capsys.readouterr().out
    assert "|---|" in printed.replace(" ", "")
    before = {path.name: path.read_text("utf-8") for path in (docs / "experiments").iterdir()}
    assert before == {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "experiments").iterdir()}
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--write"])
    script.main()
    written = [path.name for path in (docs / "experiments").iterdir() if path.read_text("utf-8") != before[path.name]]
    assert written == ([] if page is None or name == "issl_memory" else [page])  # the latter computes what is there
    drawn = list((docs / "images" / "experiments").glob("*.png"))
    assert len(drawn) == pictures and all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)


@pytest.mark.parametrize("name", OF_TEXTS)
def test_texts_have_sections_and_pictures_of_their_own(name, tmp_path, monkeypatch, capsys):
    script, docs = import_module(f"experiments.{name}"), elsewhere(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.concat_tables(PlantedCorpus(1600, copies=0.5).tables()), "texts.parquet")
    options = f"{OF_TEXTS[name]} --texts texts.parquet --write"
    monkeypatch.setattr(sys, "argv", [name, *options.split()])
    script.main()
    printed, page = capsys.readouterr().out.strip(), (docs / "experiments" / "psm.md").read_text("utf-8")
    assert "texts of texts.parquet" in printed and printed in page
    before = (ROOT / "docs" / "experiments" / "psm.md").read_text("utf-8")
    assert [line for line in changed_sections(before, page) if not line.endswith("-texts")] == []
    assert all(path.stem.endswith("-texts") for path in (docs / "images" / "experiments").glob("*.png"))


def changed_sections(before, after):
    """Return the names of the sections of a page that differ."""
    return [
        name
        for name in re.findall(r"<!-- (\S+): begin -->", before)
        if len(
            {re.search(rf"<!-- {name}: begin -->(.*?)<!-- {name}: end -->", page, re.S)[1] for page in (before, after)}
        )
        > 1
    ]


def elsewhere(folder, monkeypatch):
    """Let the experiments write into a copy of docs/, without pictures."""
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs" / "experiments", docs / "experiments")
    (docs / "images" / "experiments").mkdir(parents=True)
    import_module("experiments.figure")  # which some import only when they draw
    for module in [module for name, module in sys.modules.items() if name.startswith("experiments.")]:
        for place in ("DOCS", "PAGE", "FOLDER"):
            if isinstance(getattr(module, place, None), Path):
                monkeypatch.setattr(module, place, docs / getattr(module, place).relative_to(ROOT / "docs"))
    return docs
