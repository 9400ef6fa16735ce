"""The example of the guide, in the session that the tests share."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "spark.md"


def test_the_example_says_what_it_prints(spark, capsys, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", "")  # it is set back afterwards
    (example,) = re.findall(r"^```py\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    assert example.endswith("spark.stop()\n")
    exec(example.removesuffix("spark.stop()\n"), {})
    (said,) = re.findall(r"print\(.*\)  # (.*)", example)
    assert capsys.readouterr().out.strip() == said
