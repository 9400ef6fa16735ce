"""A de-duplication in shards finds what one machine finds, byte for byte, and what is done is not done again."""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import done, refused

ROOT = Path(__file__).resolve().parents[3]
FILES = 5


def texts(generator):
    """Texts with copies, near-copies, empty ones and some without words."""
    words = [f"w{number}" for number in range(300)]
    base = [" ".join(generator.choices(words, k=generator.randint(0, 30))) for _ in range(80)]
    while True:
        text = generator.choice(base).split()
        if text and generator.random() < 0.5:
            text[generator.randrange(len(text))] = f"x{generator.randrange(9)}"
        yield "😀" * generator.randrange(3) if generator.random() < 0.03 else " ".join(text)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Files of several formats; lines of some are blank, and one holds no object."""
    folder, generator = tmp_path_factory.mktemp("documents"), random.Random(5)
    made = texts(generator)
    for number in range(FILES):
        rows = [
            {"key": f"k{number}-{row}", "text": next(made), "day": generator.randrange(50)}
            for row in range(30 * number + 20)
        ]
        if number == 2:
            pq.write_table(pa.Table.from_pylist(rows), folder / "2.parquet")
            continue
        lines = [json.dumps(row) + "\n" + "\n" * (generator.random() < 0.1) for row in rows]
        (folder / f"{number}.jsonl").write_text("".join(lines))
    return folder


def in_shards(documents, work, options=(), signed=3, joined=2, written=2):
    """Run all stages."""
    for number in range(1, signed + 1):
        done("shards", "sign", documents, "-o", work, "--shard", f"{number}/{signed}", *options)
    done("shards", "collapse", work)
    for number in range(1, joined + 1):
        done("shards", "join", work, "--shard", f"{number}/{joined}")
    report = done("shards", "cluster", work)
    for number in range(1, written + 1):
        done("shards", "write", work, "--shard", f"{number}/{written}")
    return report


def files(*folders):
    return {file.name: file.read_bytes() for folder in folders for file in folder.iterdir()}


@pytest.mark.parametrize(
    ("options", "cuts"),
    [
        ([], (3, 2, 2)),
        (["--method", "minhash", "--keep", "longest"], (2, 3, 1)),
        (["--method", "simhash", "--threshold", "0.9", "--wordless", "keep"], (4, 5, 3)),
        (["--id-column", "key", "--keep", "max:day", "--similarity", "containment"], (5, 1, 5)),
        (["--method", "identical"], (1, 1, 1)),
    ],
    ids=["exact", "minhash", "simhash", "ids", "identical"],
)
def test_shards_find_what_one_machine_finds(documents, tmp_path, options, cuts):
    one, work = tmp_path / "one", tmp_path / "work"
    expected = done("dedup", documents, "-o", one, *options, *([] if "--method" in options else ["--method", "exact"]))
    in_shards(documents, work, options, *cuts)
    clustered = work / "clustered"
    for name in ("pairs.parquet", "clusters.parquet"):
        assert pq.read_table(clustered / name).equals(pq.read_table(one / name))
    assert pq.read_table(one / "pairs.parquet").num_rows > 20
    for kind in ("kept", "dropped"):
        assert files(one / kind) == files(*(work / "written").glob(f"*/{kind}"))
    said = json.loads((clustered / "report.json").read_text())
    for name in ("counts", "text_bytes", "features", "predicted_recall"):
        assert said.get(name) == expected.get(name)
    assert (clustered / "report.html").stat().st_size > 10_000


def test_bad_records_are_rejected_as_on_one_machine(documents, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(documents, broken)
    for name in ("1.jsonl", "4.jsonl"):
        with open(broken / name, "a") as file:
            file.write('[1, 2]\n{"text": "an end"}\n{"no": 1}\n')
    one, work = tmp_path / "one", tmp_path / "work"
    done("dedup", broken, "-o", one, "--on-error", "skip", "--annotate")
    in_shards(broken, work, ["--on-error", "skip"], written=2)
    assert (work / "clustered" / "rejected.jsonl").read_bytes() == (one / "rejected.jsonl").read_bytes()
    shutil.rmtree(work / "written")
    for number in (1, 2):
        done("shards", "write", work, "--shard", f"{number}/2", "--annotate")
    assert files(one / "annotated") == files(*(work / "written").glob("*/annotated"))


def test_what_is_done_is_not_done_again(documents, tmp_path):
    work = tmp_path / "work"
    in_shards(documents, work)
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()}
    assert in_shards(documents, work)["done_before"]
    assert {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()} == before
    shutil.rmtree(work / "joined" / "2-of-2")  # as if its process had been killed
    assert "1 of 2 shards are missing (2/2)" in refused("shards", "cluster", work)[1]
    assert not done("shards", "join", work, "--shard", "2/2")["done_before"]
    assert done("shards", "join", work, "--shard", "1/2")["done_before"]
    assert done("shards", "cluster", work)["done_before"]


def test_a_stage_that_fails_leaves_nothing(documents, tmp_path):
    broken, work = tmp_path / "broken", tmp_path / "work"
    shutil.copytree(documents, broken)
    with open(broken / "4.jsonl", "a") as file:
        file.write("{\n")
    assert refused("shards", "sign", broken, "-o", work, "--shard", "3/3")[0] == 1
    assert list((work / "signed").iterdir()) == []


def test_what_does_not_belong_together_is_refused(documents, tmp_path):
    work = tmp_path / "work"
    for number in (1, 2):
        done("shards", "sign", documents, "-o", work, "--shard", f"{number}/2")
    other = ("shards", "sign", documents, "-o", work, "--shard", "1/2", "--threshold", "0.7")
    assert "with other options" in refused(*other)[1]
    assert "run `sosie shards collapse`" in refused("shards", "join", work, "--shard", "1/1")[1]
    assert "holds no shard" in refused("shards", "collapse", tmp_path / "none")[1]
    shutil.rmtree(work / "signed" / "1-of-2")
    done(*other)
    assert "have different options" in refused("shards", "collapse", work)[1]
    done("shards", "sign", documents, "-o", work, "--shard", "1/3")
    assert "holds shards of 2 and 3" in refused("shards", "collapse", work)[1]
    for options in (["--similarity", "cosine", "--weighting", "tf"], ["--shard", "1/9"]):
        assert refused("shards", "sign", documents, "-o", tmp_path / "w", "--shard", "1/2", *options)[0] == 2


def test_an_id_that_two_shards_have_is_named(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "x", "text": "one two three four"}\n')
    inputs = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    for number in (1, 2):
        done("shards", "sign", *inputs, "-o", tmp_path / "work", "--shard", f"{number}/2")
    code, said = refused("shards", "collapse", tmp_path / "work")
    assert code == 1 and "duplicate id 'x'" in said and "b.jsonl" in said and "a.jsonl" in said


def test_signatures_of_shards_are_those_of_all(documents, tmp_path):
    done("sign", documents, "-o", tmp_path / "all")
    counts = [
        done("sign", documents, "-o", tmp_path / f"{number}", "--shard", f"{number}/3")["signed"]
        for number in (1, 2, 3)
    ]
    from sosie.signatures.files import load_signatures

    whole = load_signatures(tmp_path / "all")
    parts = [load_signatures(tmp_path / f"{number}") for number in (1, 2, 3)]
    assert [len(part) for part in parts] == counts
    assert pa.concat_arrays([part.ids for part in parts]).equals(whole.ids)
    assert b"".join(part.words.tobytes() for part in parts) == whole.words.tobytes()


def test_the_loop_of_the_guide(documents, tmp_path):
    page = (ROOT / "docs" / "guide" / "shards.md").read_text("utf-8")
    loop = page.partition("```bash\n")[2].partition("```")[0].replace("sosie ", f"{sys.executable} -m sosie ")
    shutil.copytree(documents, tmp_path / "shards")
    ran = subprocess.run(["bash", "-c", loop], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len(list((tmp_path / "work" / "written").glob("*/kept/*"))) == FILES
