"""Formats are promises: what any version saved is opened, and gives what it gave; see tools/golden_files.py."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sosie

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "tests" / "golden" / "files"
SOSIE = Path(sys.executable).parent / "sosie"
LISTING = ".sosie"
VERSIONS = sorted(path.name for path in FILES.iterdir())
EXPECTED = {version: json.loads((FILES / version / "expected.json").read_text("utf-8")) for version in VERSIONS}


def kept(kind):
    """Return (version, name) of every artefact of a kind."""
    return [(v, name) for v in VERSIONS for name in EXPECTED[v] if name.startswith(f"{kind}/")]


def holding(folder):
    """Return the versions that wrote another kind of artefact, or wrote it in another way."""
    return [version for version in VERSIONS if (FILES / version / folder).exists()]


@pytest.fixture(scope="module")
def golden():
    spec = importlib.util.spec_from_file_location("golden_files", ROOT / "tools" / "golden_files.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copied(tmp_path):
    """A copy of the files of a version: commands write beside them."""

    def copy(version):
        return Path(shutil.copytree(FILES / version, tmp_path / version))

    return copy


def contents(folder):
    """Return the files of a folder, but for the list of them, which is no part of an artefact."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != LISTING}


def test_there_is_an_artefact_of_every_class_and_method():
    from sosie.signatures.registry import METHODS

    classes = {json.loads(path.read_text("utf-8"))["class"] for path in FILES.glob("*/index/*/manifest.json")}
    assert classes == {name for name in dir(sosie) if name.endswith("Index") and name != "TextIndex"}
    methods = {json.loads(p.read_text("utf-8"))["spec"]["method"] for p in FILES.glob("*/signer/*/manifest.json")}
    assert methods == set(METHODS)


@pytest.mark.parametrize(("version", "name"), kept("index"))
def test_an_index_finds_what_it_found(version, name, golden, tmp_path):
    index, expected = sosie.load_index(FILES / version / name), EXPECTED[version][name]
    assert len(index) == expected["rows"]
    assert golden.found(index) == expected["found"]
    index.save(tmp_path / "again")
    assert golden.found(sosie.load_index(tmp_path / "again")) == expected["found"]


@pytest.mark.parametrize(("version", "name"), kept("index"))
def test_an_index_is_written_as_it_was_read(version, name, tmp_path):
    sosie.load_index(FILES / version / name).save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(FILES / version / name)


@pytest.mark.parametrize(("version", "name"), kept("signer"))
def test_a_signer_makes_the_bits_that_it_made(version, name, golden, tmp_path):
    signer, expected = sosie.load_signer(FILES / version / name), EXPECTED[version][name]
    assert signer.digest == expected["digest"]
    assert golden.signed(signer) == expected["signed"]
    signer.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(FILES / version / name)


@pytest.mark.parametrize(("version", "name"), kept("store"))
def test_a_store_finds_what_it_found_and_goes_on(version, name, golden, copied):
    store = sosie.SignatureStore(copied(version) / name)
    assert golden.matched(store) == EXPECTED[version][name]
    before = len(store)
    ids = ["new"] if name.endswith("texts") else None
    store.append(sosie.Simhash().fit().sign(["something new"], ids=ids))
    assert len(sosie.SignatureStore(store.path)) == before + 1


@pytest.mark.parametrize(("version", "name"), kept("dictionary"))
def test_a_dictionary_translates_as_it_did(version, name, golden, tmp_path):
    made = sosie.load_dictionary(FILES / version / name)
    assert golden.translated(made) == EXPECTED[version][name]
    made.save(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(FILES / version / name)


@pytest.mark.parametrize("version", holding("signatures"))
def test_signatures_and_keys_are_as_they_were(version):
    words = sosie.load_signatures(FILES / version / "signatures" / "words")
    expected = EXPECTED[version]["signatures/words"]
    assert words.words.tolist() == expected["words"] and words.ids.to_pylist() == expected["ids"]
    assert words.volatility.shape == (len(words), words.bits)
    keys = sosie.load_signatures(FILES / version / "signatures" / "keys")
    expected = EXPECTED[version]["signatures/keys"]
    assert keys.values.tolist() == expected["values"] and keys.ids.to_pylist() == expected["ids"]


@pytest.mark.parametrize("version", holding("signatures"))
def test_documents_are_held_against_features_that_were_signed(version):
    reference = sosie.Reference(FILES / version / "signatures" / "words")
    job = sosie.Deduplicator(threshold=0.9)
    assert not len(job.run(str(FILES / version / "docs.jsonl"), against=reference).kept) - 1  # "?" has no features


@pytest.mark.parametrize(("version", "name"), kept("text-index"))
def test_an_index_of_texts_shows_what_it_showed(version, name, golden, copied):
    folder = copied(version)
    assert golden.shown(name, folder) == EXPECTED[version][name]
    verified = subprocess.run([SOSIE, "index", "verify", name], cwd=folder, capture_output=True, text=True)
    assert verified.returncode == 0, verified.stderr


@pytest.mark.parametrize("version", holding("dedup"))
def test_results_are_opened_and_are_as_they_were(version, golden, copied):
    folder = copied(version)
    for job in ("dedup", "join"):
        said = json.loads(golden.run("evaluate", job, "docs.jsonl", "--sample", "17", "--json", cwd=folder))
        assert said["sample"]["recall"] == 1.0
        options = ("--threshold", "0.5", "--width", "1", "--quiet")
        golden.run(job, "docs.jsonl", "-o", "again", "--overwrite", *options, cwd=folder)
        assert contents(folder / "again").keys() - {"report.html"} == contents(folder / job).keys()
        for table in (folder / job).glob("*.parquet"):
            assert pq.read_table(folder / "again" / table.name) == pq.read_table(table)
        old, new = (json.loads((folder / made / "report.json").read_text("utf-8")) for made in (job, "again"))
        if job == "dedup" and "wordless" not in old["parameters"]:  # what reports did not say yet
            assert new["parameters"].pop("wordless") == "identical"
            assert new["counts"].pop("dropped_without_features") == 0
        if "bounded_comparisons" in old["counters"]:  # no comparison is left out any more
            assert old["counters"].pop("bounded_comparisons") == new["counters"].pop("unlisted_pairs") == 0
        if job == "dedup" and len(set(new["measured"]["interval"])) == 1:  # all were compared
            assert old["measured"].pop("interval") and new["measured"].pop("interval") == [1.0, 1.0]
        if job == "join" and "recall" not in old:
            assert new.pop("recall") == 1.0 and new.pop("interval") is None
        if "plan" not in old:
            planned = new.pop("plan", None)
            assert planned is None or planned["asked"] == 1.0
        changing = ("seconds", "stages", "threads")
        assert {k: v for k, v in old.items() if k not in changing} == {
            k: v for k, v in new.items() if k not in changing
        }


@pytest.mark.parametrize(("version", "name"), kept("text-index"))
def test_an_index_of_texts_knows_its_parts_when_it_is_written_again(version, name, copied):
    folder = copied(version) / name
    parts = {path.name for path in folder.iterdir() if path.is_dir()}
    before = json.loads((folder / "manifest.json").read_text("utf-8")).get("parts")
    assert before is None if version == "0.1.0" else before.keys() == parts
    sosie.load_text_index(folder).save(folder, overwrite=True)
    assert json.loads((folder / "manifest.json").read_text("utf-8"))["parts"].keys() == parts


def test_this_version_still_writes_what_it_wrote(golden, tmp_path):
    """A folder holds what was written in another way from then on: of each file the last one counts."""
    golden.write(tmp_path)
    written = {}
    for version in VERSIONS:
        files = [path for path in (FILES / version).rglob("*") if path.is_file()]
        written |= {path.relative_to(FILES / version): path for path in files}
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert written.keys() == {name for name in made if name in written or name.name != LISTING}
    timed = {Path("dedup/report.json"), Path("join/report.json")}
    decomposed = ("signer/svd", "signer/threshold")  # fitted by LAPACK, whose last bits differ between machines
    for name in sorted(written.keys() - timed - {Path("expected.json")}):
        if not name.as_posix().startswith(decomposed):
            assert (tmp_path / name).read_bytes() == written[name].read_bytes(), name
    expected = json.loads((tmp_path / "expected.json").read_text("utf-8"))
    for version in VERSIONS:
        for name, said in EXPECTED[version].items():
            assert name in decomposed or expected[name] == said, name
