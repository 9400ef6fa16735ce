"""`sosie dedup` and the other commands on folders of HTML and on WARC."""

import gzip
import json

import pyarrow.parquet as pq
import pytest
from tests.cli.test_cli import run
from tests.documents.warc.warcs import page, record

BODY = "the quick brown fox jumps over the lazy dog and runs away into the dark green wood behind the old mill {}"
PAGES = [f"<html><nav>menu {n}</nav><p>{BODY.format(n // 2)}</p><footer>foot {n}</footer></html>" for n in range(4)]
PAGES.append("<html><body><img src='x'></body></html>")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "site").mkdir()
    for number, text in enumerate(PAGES):
        (tmp_path / f"site/{number}.html").write_text(text)
    records = [record(9, b"a: b", media="application/warc-fields", kind="warcinfo")]
    records += [page(number, text.encode()) for number, text in enumerate(PAGES)]
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(map(gzip.compress, [*records, b"broken"])))
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in PAGES))
    return tmp_path


def pairs(out):
    table = pq.read_table(f"{out}/pairs.parquet")
    return list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))


def test_a_folder_of_pages(folder):
    code, _, err = run("dedup", "site", "-o", "out", "--threshold", "0.99")
    assert (code, err) == (0, "")
    assert pairs("out") == [("0.html", "1.html"), ("2.html", "3.html")]
    assert sorted(path.name for path in (folder / "out/kept").iterdir()) == ["0.html", "2.html", "4.html"]
    assert (folder / "out/dropped.tsv").read_text() == (
        "file\tduplicate_of\tsimilarity\n1.html\t0.html\t1.0\n3.html\t2.html\t1.0\n"
    )
    report = json.loads((folder / "out/report.json").read_text())
    assert report["counts"]["without_features"] == 1
    shown = (folder / "out/report.html").read_text()
    assert "quick brown fox" in shown and "menu 0" not in shown
    code, _, _ = run("dedup", "site", "-o", "all", "--threshold", "0.99", "--html-content", "all")
    assert code == 0 and pairs("all") == []


def test_a_crawl(folder):
    code, _, err = run("dedup", "crawl.warc.gz", "-o", "out", "--threshold", "0.99")
    assert code != 0 and "crawl.warc.gz, record 7: no WARC header" in err and not (folder / "out").exists()
    code, _, err = run("dedup", "crawl.warc.gz", "-o", "out", "--threshold", "0.99", "--on-error", "skip")
    assert (code, err) == (0, "")
    assert pairs("out") == [("00000000", "00000001"), ("00000002", "00000003")]
    counts = json.loads((folder / "out/report.json").read_text())["counts"]
    assert (counts["documents"], counts["kept"], counts["dropped"], counts["rejected"]) == (6, 3, 2, 1)
    reject = json.loads((folder / "out/rejected.jsonl").read_text())
    assert (reject["file"], reject["line"]) == ("crawl.warc.gz", 7)
    assert "quick brown fox" in (folder / "out/report.html").read_text()
    code, _, err = run("dedup", "out/kept/crawl.warc.gz", "-o", "again", "--threshold", "0.99")
    assert (code, err) == (0, "") and pairs("again") == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], 0), (["--html"], 2), (["--html-content", "main"], 2), (["--html-content", "all"], 0)],
)
def test_html_in_lines(folder, options, expected):
    code, out, err = run("dedup", "pages.jsonl", "--dry-run", "--json", "--threshold", "0.99", *options)
    assert (code, err) == (0, "") and json.loads(out)["counts"]["dropped"] == expected


def test_the_other_commands(folder):
    code, out, _ = run("inspect", "pages.jsonl", "--html", "--json")
    assert code == 0 and json.loads(out)["empty"] == 1
    (folder / "options.toml").write_text("html = true\nthreshold = 0.99\n")
    code, _, err = run("join", "pages.jsonl", "-o", "joined", "--config", "options.toml")
    assert (code, err) == (0, "") and len(pairs("joined")) == 2
    code, out, err = run("evaluate", "joined", "pages.jsonl", "--html", "--sample", 5, "--json")
    assert (code, err) == (0, "") and json.loads(out)["sample"]["recall"] == 1
    code, _, err = run("sign", "site", "-o", "signed")
    assert (code, err) == (0, "")
