"""Every experiment, run at a small size, with its page and pictures written beside the committed ones."""

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
    "issl_breadth": ("--count 2048 --queries 3", "issl.md", 1),
    "issl_growth": ("--largest 14 --queries 3", "issl.md", 1),
    "issl_memory": ("", "issl.md", 0),
    "nfl_table1": ("--sample 60", "nfl.md", 1),
    "nfl_window": ("--rows 1000 --tables 20 --step 10", "nfl-window.md", 4),
    "psm_figure1": ("--documents 300 --sample 200", None, 1),
    "psm_figure6": ("--documents 300 --sample 100", None, 1),
    "psm_flips": ("--pairs 20", "psm.md", 1),
    "psm_growth": ("--log-rows 10 11 --queries 100", "psm.md", 1),
    "psm_header": ("--log-rows 12 --queries 200 --bits 8 10", "psm.md", 1),
    "psm_recall": ("--log-rows 10 12 --queries 200", "psm.md", 1),
    "psm_tables": ("--log-rows 12 --queries 200", "psm.md", 0),
    "stein_figure3": ("--documents 80", "stein.md", 1),
    "stein_table2": ("--documents 80", "stein.md", 0),
    "stein_figure5": ("texts.parquet:en --sample 30", "stein-figure5.md", 1),
    "topk_breadth": ("--count 512 --queries 2", "topk.md", 2),
    "topk_size": ("--sizes 1000 2000 --queries 3 --width 10", "topk.md", 1),
    "topk_width": ("--count 2048 --queries 3 --widths 8 10", "topk.md", 1),
}


def test_every_experiment_is_here():
    scripts = {path.stem for path in (ROOT / "experiments").glob("*.py") if "__main__" in path.read_text("utf-8")}
    assert scripts == SMALL.keys()
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


def elsewhere(folder, monkeypatch):
    """Let the experiments write into a copy of docs/, without pictures."""
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs" / "experiments", docs / "experiments")
    (docs / "images" / "experiments").mkdir(parents=True)
    import_module("experiments.figure")  # which some import only when they draw
    for module in [module for name, module in sys.modules.items() if name.startswith("experiments.")]:
        for place in ("DOCS", "PAGE", "FOLDER"):
            if hasattr(module, place):
                monkeypatch.setattr(module, place, docs / getattr(module, place).relative_to(ROOT / "docs"))
    return docs
