"""The experiment on Spark, at a small size, with its page and picture written beside the committed ones."""

import shutil
import sys
from pathlib import Path

from experiments import figure, slice_page, spark_scaling

ROOT = Path(__file__).resolve().parents[2]


def test_it_runs_and_writes(java, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("JAVA_HOME", java)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    page = tmp_path / "experiments" / "spark.md"
    page.parent.mkdir()
    shutil.copy(ROOT / "docs" / "experiments" / "spark.md", page)
    monkeypatch.setattr(slice_page, "DOCS", tmp_path)
    monkeypatch.setattr(figure, "FOLDER", tmp_path / "images")
    monkeypatch.setattr(sys, "argv", ["spark_scaling", "--documents", "300", "--cores", "1", "--write"])
    spark_scaling.main()
    printed = capsys.readouterr().out.strip()
    assert printed in page.read_text("utf-8")
    (measured,) = [line for line in printed.splitlines() if line.startswith("| 300 |")]
    assert 100 < int(measured.split("|")[-2]) < 2000  # bytes shuffled for each document
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["spark-scaling-minhash.png"]
