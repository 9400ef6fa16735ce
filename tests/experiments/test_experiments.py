"""Every experiment, run at a small size, with its page and pictures written beside the committed ones."""

import json
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sosie.evaluation.planted import PlantedCorpus
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.outcome import Outcome
from sosie.planner.wish import Wish

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
    "nfl_window": ("--rows 1000 --tables 20 --step 10", "nfl-window.md", 5),
    "planner_grid": ("outcomes.json", "planner.md", 1),
    "planner_map": ("--log-rows 10 --queries 64 --most 0.05", "planner.md", 1),
    "psm_figure1": ("--documents 300 --sample 200", None, 1),
    "psm_figure6": ("--documents 300 --sample 100", None, 1),
    "psm_flips": ("--log-rows 12 --queries 200 --seeds 2", "psm.md", 1),
    "psm_growth": ("--log-rows 10 11 --queries 100", "psm.md", 1),
    "psm_header": ("--log-rows 12 --queries 200 --bits 8 10 --seeds 2", "psm.md", 1),
    "psm_model": ("--log-rows 10 12 --queries 200 --bits 8 10", "psm.md", 1),
    "psm_paper": ("", "psm.md", 0),
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
OUTCOMES = [
    Outcome(method="probes", predicted=0.95, measured=0.97, predicted_seconds=1.0, seconds=1.9),
    Outcome(method="probes", predicted=0.95, measured=0.9, predicted_seconds=1.0, seconds=2.1),
    Outcome(method="flat", predicted=1.0, measured=1.0, predicted_bytes=100, bytes=109),
]
COMPUTED = {"issl_memory", "psm_paper"}  # they measure nothing, and so write what is there
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
    Path("outcomes.json").write_text(json.dumps({"runs": [each.to_dict() for each in OUTCOMES]}), "utf-8")
    monkeypatch.setattr(sys, "argv", [name, *options.split()])
    script.main()
    printed = capsys.readouterr().out
    assert "|---|" in printed.replace(" ", "")
    before = {path.name: path.read_text("utf-8") for path in (docs / "experiments").iterdir()}
    assert before == {path.name: path.read_text("utf-8") for path in (ROOT / "docs" / "experiments").iterdir()}
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--write"])
    script.main()
    written = [path.name for path in (docs / "experiments").iterdir() if path.read_text("utf-8") != before[path.name]]
    assert written == ([] if page is None or name in COMPUTED else [page])
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


def test_the_grid_counts_what_is_as_it_was_predicted(tmp_path):
    script, file = import_module("experiments.planner_grid"), tmp_path / "some.json"
    file.write_text(json.dumps([{"wish": {}, "outcomes": [each.to_dict()]} for each in OUTCOMES]), "utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in script.tell(script.read([file])).splitlines()]
    assert rows[2:] == [
        ["some", "probes", "2", "1 of 2", "1 of 2", ""],
        ["some", "flat", "1", "1 of 1", "", "1 of 1"],
        ["all", "all", "3", "2 of 3", "1 of 2", "1 of 1"],
    ]


def test_a_plan_from_a_sample_is_an_outcome():
    script = import_module("experiments.planner_grid")
    said = {
        "sampled": {"recall": 0.9, "seconds": 2.0, "bytes": 6},
        "measured": {"recall": 0.9, "seconds": 3.0, "bytes": 7},
    }
    (found,) = script.outcomes_of({"settings": [{"method": "minhash", "asked": 0.9, **said}, {"chosen": "exact"}]})
    assert (found.method, found.predicted_seconds, found.seconds, found.bytes) == ("minhash", 2.0, 3.0, 7)


def test_a_file_without_outcomes_is_refused(tmp_path):
    script, file = import_module("experiments.planner_grid"), tmp_path / "other.json"
    file.write_text('{"rows": 3}', "utf-8")
    with pytest.raises(SystemExit, match="other: there is no outcome"):
        script.read([file])


def test_candidates_find_what_they_are_planned_to():
    runs, plan = import_module("experiments.planner_runs"), import_module("sosie.planner.choose")
    data = runs.drawn(1 << 11, 200, 64, 4)
    for task in ("join", "search"):
        others = 200 if task == "search" else 0
        wish = Wish(task=task, rows=1 << 11, others=others, bits=64, radius=4, recall=0.9)
        best = [*plan.choose(wish, Facts(), Machine()).best]
        found = {each.method: runs.run(each, wish, data) for each in best}
        asked = data.queries if others else data.rows
        near = np.bitwise_count(asked.words[:, :1] ^ data.rows.words[:, 0]) <= 4
        true = np.flatnonzero(near if others else np.triu(near, 1))
        for each in best:
            if each.exact:
                assert found[each.method].found.tolist() == true.tolist()
            else:
                assert found[each.method].recall(true) >= 0.8
