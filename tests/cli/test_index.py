"""`sosie index`: what is built is what the library builds, changes are whole or not at all, damage is named."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.artefacts import rewritten
from tests.cli.running import done, files_in, refused, run, write_jsonl
from tests.sentences import GERMAN

import sosie
from sosie import search
from sosie.index.registry import KINDS
from sosie.search.files import load_text_index
from sosie.storage.claim import claimed
from sosie.types import Keys

SENTENCES = [line.format(7) for line in GERMAN.strip().splitlines()]
TEXTS = {f"d{i}": " ".join(SENTENCES[i : i + 4]) for i in range(20)}
MORE = {f"m{i}": " ".join(SENTENCES[i + 8 : i + 12]) for i in range(3)}
SAVABLE = [name for name in KINDS if name != "words"]  # of signatures or keys
METHODS = {name: ["--method", "minhash"] if name == "keys" else [] for name in KINDS}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl("in.jsonl", {**TEXTS, "empty": "?!"})
    write_jsonl("more.jsonl", MORE)
    return tmp_path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def answers(directory, texts) -> list[tuple[str, int]]:
    index = load_text_index(directory)
    found = index.search(index.sign(list(texts)), 3)
    return list(zip(found.ids.to_pylist(), found.distances.tolist(), strict=True))


# Build


def test_every_class_of_indexes_has_a_kind():
    sources = (path.read_text("utf-8") for path in (Path(sosie.__file__).parent / "index").glob("*.py"))
    made = {name for source in sources for name in re.findall(r"^class (\w+)\(\w*Index\)", source, re.M)}
    assert made - {"HammingIndex"} == {kind.name for kind in KINDS.values()}
    for kind in KINDS.values():
        assert kind.load().__name__ == kind.name


@pytest.mark.parametrize("kind", SAVABLE)
def test_an_index_of_documents_is_that_of_their_signatures(folder, kind):
    report = done("index", "build", "in.jsonl", "-o", "index", "--kind", kind, *METHODS[kind])
    assert (report["documents"], report["rows"], report["without_features"], report["kind"]) == (21, 20, 1, kind)
    done("sign", "in.jsonl", "-o", "signed", *METHODS[kind])
    assert done("index", "build", "signed", "-o", "same", "--kind", kind)["digest"] == report["digest"]
    assert files_in("same") == files_in("index")
    loaded, signed = sosie.load_index("index"), sosie.load_signatures("signed")
    assert type(loaded).__name__ == KINDS[kind].name and loaded.ids.equals(signed.ids)
    if not isinstance(signed, Keys):
        assert np.array_equal(loaded.signatures.words, signed.words)
    assert sosie.load_text_index("index").signer.digest == report["digest"] == loaded.digest


def test_the_parameters_of_a_kind_reach_it(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--kind", "blocks", "--radius", 2, "--blocks", 4, "--bits", 70)
    said = done("index", "info", "index")
    assert said["parameters"] == {"radius": 2, "blocks": 4, "header": 2} and said["bits"] == 70
    assert (said["kind"], said["class"], said["rows"], said["removed"], said["version"]) == (
        "blocks",
        "BlockIndex",
        20,
        0,
        1,
    )
    assert said["spec"] == sosie.Simhash(bits=70).to_dict() and said["passages"] is None
    others = ("manifest.json", ".sosie")
    files = {name: data for name, data in files_in("index").items() if "/" not in name and name not in others}
    assert said["bytes"]["index"] == sum(map(len, files.values()))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--tables", 3], "--tables is for an index of the kind multi: name it, as in --kind multi"),
        (["--kind", "flat", "--radius", 3], "--radius is for an index of the kind blocks, not flat"),
        (["--kind", "flat", "--queries", "single"], "--queries is for --kind auto"),
        (["--method", "minhash", "--queries", "single"], "--queries is for --kind auto"),
        (["--kind", "blocks", "--slice-width", 3], "--slice-width is for an index of the kind slices, not blocks"),
        (["--kind", "keys"], "minhash"),
        (["--kind", "flat", "--method", "minhash"], "--b"),
        (["--kind", "blocks", "--radius", -1], "radius"),
        (["--bits", 0], "bits"),
        (["--minima", 3], "--minima does not belong to --method simhash"),
        (["--words", 3], "--passages"),
        (["--passages", "--words", 3, "--overlap", 3], "share fewer than all"),
        (["--text-column", "body"], "body"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(folder, options, named):
    before = names(folder)
    code, said = refused("index", "build", "in.jsonl", "-o", "index", *options)
    assert code == 2 and named in said
    assert names(folder) == before


def test_signatures_are_taken_as_they_are(folder):
    run("sign", "in.jsonl", "-o", "signed", "--bits", 70)
    for option in (["--bits", 70], ["--keep-texts"], ["--passages"], ["--width", 2], ["--id-column", "id"]):
        code, said = refused("index", "build", "signed", "-o", "index", *option)
        assert code == 2 and option[0] in said and "signed holds signatures" in said
    code, said = refused("index", "build", "signed", "in.jsonl", "-o", "index")
    assert code == 2 and "not both" in said
    assert not Path("index").exists()


def test_bad_documents_stop_a_build_or_are_listed(folder):
    with open("in.jsonl", "a") as file:
        file.write('{"id": "d3", "text": "again"}\n')
    code, said = refused("index", "build", "in.jsonl", "-o", "index")
    assert code == 1 and "duplicate id 'd3'" in said and not Path("index").exists()
    assert done("index", "build", "in.jsonl", "-o", "index", "--on-error", "skip")["rejected"] == 1
    (line,) = Path("index/rejected.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["line"] == 22 and sosie.load_index("index").ids.to_pylist() == list(TEXTS)


def test_no_documents_make_an_index_that_can_grow(folder):
    Path("none.jsonl").write_text("")
    assert done("index", "build", "none.jsonl", "-o", "index")["rows"] == 0
    assert done("search", "index", "--text", "irgendein Text")["matches"] == 0
    assert done("index", "add", "index", "more.jsonl")["rows"] == 3
    assert done("search", "index", "more.jsonl", "-k", 1)["matches"] == 3


def test_a_fitted_signer_is_kept(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--weighting", "tf-idf", "--bits", 256)
    done("index", "add", "index", "more.jsonl")
    signer = sosie.load_signer("index/signer")
    assert signer.frequencies.documents == 21
    expected = signer.sign(list(MORE.values())).words
    assert np.array_equal(sosie.load_index("index").signatures.words[20:], expected)
    done("index", "build", "in.jsonl", "-o", "alike", "--signer", "index/signer")
    assert sosie.load_index("alike").digest == signer.digest


# Add and remove


@pytest.mark.parametrize("kind", SAVABLE)
@pytest.mark.parametrize("texts", [[], ["--keep-texts"]])
def test_adding_and_removing_is_building(folder, kind, texts):
    write_jsonl("all.jsonl", {**TEXTS, **MORE})
    build = ["--kind", kind, *METHODS[kind], *texts]
    done("index", "build", "in.jsonl", "-o", "index", *build)
    done("index", "build", "all.jsonl", "-o", "whole", *build)
    report = done("index", "add", "index", "more.jsonl")
    assert (report["added"], report["rows"]) == (3, 23)
    assert answers("index", TEXTS.values()) == answers("whole", TEXTS.values())
    assert done("index", "remove", "index", "d0", "m1") == {"removed": 2, "rows": 21}
    Path("gone.txt").write_text("d0\r\n\nm1\n")
    assert done("index", "remove", "whole", "--ids", "gone.txt") == {"removed": 2, "rows": 21}
    assert answers("index", TEXTS.values()) == answers("whole", TEXTS.values())
    assert not {"d0", "m1"} & {name for name, _ in answers("index", TEXTS.values())}
    assert done("index", "info", "index")["removed"] == 2 and done("index", "verify", "index")["rows"] == 21
    write_jsonl("again.jsonl", {"d0": TEXTS["d0"]})
    assert done("index", "add", "index", "again.jsonl")["rows"] == 22
    assert answers("index", [TEXTS["d0"]])[0] == ("d0", 0)


def test_the_texts_of_removed_documents_are_gone(folder):
    write_jsonl("secret.jsonl", {"s": "a secret never to be told"})
    done("index", "build", "in.jsonl", "secret.jsonl", "-o", "index", "--keep-texts")
    assert b"secret" in Path("index/texts/text_bytes").read_bytes()
    done("index", "remove", "index", "s")
    assert b"secret" not in Path("index/texts/text_bytes").read_bytes()
    assert load_text_index("index").texts.text(7) == TEXTS["d7"]


def test_integers_are_ids_even_if_they_count_up(folder):
    write_jsonl("numbers.jsonl", dict(enumerate(TEXTS.values())))
    write_jsonl("zero.jsonl", {0: MORE["m0"]})
    done("index", "build", "numbers.jsonl", "-o", "index")
    code, said = refused("index", "add", "index", "zero.jsonl")
    assert code == 1 and "the id 0 is in the index already" in said
    done("index", "remove", "index", "0")
    done("index", "add", "index", "zero.jsonl")
    assert (0, 0) in answers("index", [MORE["m0"]]) and done("index", "info", "index")["rows"] == 20
    code, said = refused("index", "remove", "index", "x")
    assert code == 1 and "integers" in said


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["add", "index", "in.jsonl"], 1, "index: the id 'd0' is in the index already"),
        (["add", "index", "missing.jsonl"], 2, "missing.jsonl"),
        (["add", "index", "other"], 1, "128 bits do not fit"),
        (["add", "index", "keys"], 1, "holds signatures, and these are keys"),
        (["add", "index", "another"], 1, "sign both the same way"),
        (["add", "index", "same"], 1, "index: the id 'd0' is in the index already"),
        (["add", "nowhere", "more.jsonl"], 1, "nowhere"),
        (["add", "other", "more.jsonl"], 1, "'signatures', not 'index'"),
        (["remove", "index", "d0", "nobody"], 1, "index: no row has the id 'nobody'"),
        (["remove", "index", "d0", "d0"], 2, "twice"),
        (["remove", "index"], 2, "ID"),
        (["remove", "index", "--ids", "missing.txt"], 2, "missing.txt"),
        (["info", "nowhere"], 1, "nowhere"),
        (["verify", "other"], 1, "'signatures', not 'index'"),
    ],
)
def test_an_index_stays_as_it_was_when_a_change_is_refused(folder, arguments, code, named):
    done("index", "build", "in.jsonl", "-o", "index", "--for", "duplicates")
    for name, options in (("same", []), ("other", ["--bits", 128]), ("another", ["--seed", 1])):
        done("sign", "in.jsonl", "-o", name, *options)
    done("sign", "in.jsonl", "-o", "keys", "--method", "minhash")
    before, beside = files_in("index"), names(folder)
    found, said = refused("index", *arguments)
    assert found == code and named in said
    assert files_in("index") == before and names(folder) == beside


def test_an_index_with_texts_or_passages_takes_documents_only(folder):
    done("sign", "more.jsonl", "-o", "signed")
    for options, named in ((["--keep-texts"], "keeps the texts"), (["--passages"], "passages")):
        done("index", "build", "in.jsonl", "-o", "index", "--overwrite", "--for", "duplicates", *options)
        code, said = refused("index", "add", "index", "signed")
        assert code == 1 and named in said


def test_an_index_without_a_signer_takes_signatures_only(folder):
    spec = sosie.Simhash()
    sosie.FlatIndex(spec.fit().sign(list(TEXTS.values()), ids=list(TEXTS))).save("index")
    code, said = refused("index", "add", "index", "more.jsonl")
    assert code == 2 and "give signatures" in said
    done("sign", "more.jsonl", "-o", "signed")
    assert done("index", "add", "index", "signed")["rows"] == 23
    assert done("index", "info", "index")["spec"] is None


def test_inputs_inside_the_index_are_not_lost(folder):
    done("index", "build", "in.jsonl", "-o", "index")
    os.rename("more.jsonl", "index/more.jsonl")
    code, said = refused("index", "add", "index", "index/more.jsonl")
    assert code == 2 and "holds inputs" in said and Path("index/more.jsonl").exists()


def test_whoever_has_the_old_index_open_goes_on_with_it(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--keep-texts")
    before = load_text_index("index")
    done("index", "add", "index", "more.jsonl")
    done("index", "remove", "index", "d0")
    queries = before.sign(list(TEXTS.values()))
    assert len(before) == 20 and before.search(queries, 1).distances.tolist() == [0] * 20
    assert [before.texts.text(row) for row in range(20)] == list(TEXTS.values())


def test_one_process_at_a_time_changes_an_index(folder, monkeypatch):
    done("index", "build", "in.jsonl", "-o", "index")
    monkeypatch.setattr("sosie.storage.claim.WAIT", 0.1)
    with claimed(Path("index")):
        code, said = refused("index", "add", "index", "more.jsonl")
        assert code == 1 and "another process is changing this index" in said
        code, said = refused("index", "build", "more.jsonl", "-o", "index", "--overwrite")
        assert code == 1 and "another process is changing this directory" in said
    assert done("index", "add", "index", "more.jsonl")["rows"] == 23


KILLED = """
import os, signal, sys
from sosie.cli import main
from sosie.storage.output import OutputDirectory

def commit(self):
    if self.final.name == "index":
        os.kill(os.getpid(), signal.SIGKILL)
    written(self)

written, OutputDirectory._commit = OutputDirectory._commit, commit
sys.argv = ["sosie", "index", "add", "index", "more.jsonl"]
main()
"""


def test_a_change_that_is_killed_leaves_the_old_index(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--keep-texts")
    before = files_in("index")
    killed = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, timeout=300)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert files_in("index") == before and len(names(folder)) == 4
    assert done("index", "add", "index", "more.jsonl")["rows"] == 23
    assert names(folder) == ["in.jsonl", "index", "more.jsonl"]


def test_a_change_that_fails_leaves_the_old_index(folder, monkeypatch):
    done("index", "build", "in.jsonl", "-o", "index", "--keep-texts")
    before = files_in("index")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(search.texts.Texts, "save", full)
    code, said = refused("index", "add", "index", "more.jsonl")
    assert code == 1 and "No space left" in said
    assert files_in("index") == before and names(folder) == ["in.jsonl", "index", "more.jsonl"]


# Info and verify


def test_verify_names_every_damaged_file(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--passages", "--keep-texts", "--weighting", "tf-idf")
    report = done("index", "verify", "index")
    assert report["checked"] == ["index", "signer", "texts", "passages"]
    code, out, _ = run("index", "verify", "index")
    assert code == 0 and "everything is as it was written" in out
    for name, content in files_in("index").items():
        path = Path("index") / name
        if path.name == ".sosie":  # no part of the index
            continue
        flipped = content[:-2] + bytes([content[-2] ^ 1]) + content[-1:] if content else b"x"
        for damaged in (content[:-2], flipped, content + b"\0"):
            if damaged == content:
                continue
            path.write_bytes(damaged)
            code, said = refused("index", "verify", "index")
            assert code == 1 and str(path) in said, (name, said)
        path.write_bytes(content)
    assert done("index", "verify", "index") == report


def test_parts_that_do_not_belong_together_are_named(folder):
    cut = ("--passages", "--words", 10, "--overlap", 5)
    done("index", "build", "in.jsonl", "-o", "index", "--for", "duplicates", "--keep-texts", *cut)
    done("index", "build", "more.jsonl", "-o", "other", "--keep-texts", "--passages", "--bits", 32)
    for part in ("signer", "texts", "passages"):
        os.rename(f"index/{part}", "aside")
        os.rename(f"other/{part}", f"index/{part}")
        code, said = refused("index", "verify", "index")
        assert code == 1 and f"index/{part}: does not fit the index" in said
        os.rename(f"index/{part}", f"other/{part}")
        os.rename("aside", f"index/{part}")
    done("index", "verify", "index")


def test_a_newer_format_is_named(folder):
    done("index", "build", "in.jsonl", "-o", "index")
    rewritten(Path("index"), lambda manifest: manifest.update(version=2))
    for command in (["index", "info"], ["index", "verify"], ["search", "--text", "x"]):
        code, said = refused(*command, "index")
        assert code == 1 and "newer than 1. Update Sosie." in said


def test_a_manifest_that_says_nothing_is_named(folder):
    done("index", "build", "in.jsonl", "-o", "index")
    rewritten(Path("index"), lambda manifest: manifest.update(parameters=None))
    for command in ("info", "verify"):
        code, said = refused("index", command, "index")
        assert code == 1 and "is not an index of this version" in said


def test_info_is_for_people_too(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--passages", "--words", 10, "--overlap", 5)
    code, out, _ = run("index", "info", "index")
    assert code == 0 and "words (WordIndex, format 1)" in out and "of 10 words, of which neighbours share 5" in out
    assert re.search("width: 2$", out, re.M) and re.search("method: words$", out, re.M)
    done("index", "build", "in.jsonl", "-o", "index", "--overwrite", "--for", "duplicates")
    code, out, _ = run("index", "info", "index")
    assert code == 0 and "flat (FlatIndex, format 1)" in out and "bits: 64" in out
    assert run("index", "info", "index", "--quiet") == (0, "", "")


# What it is for


@pytest.mark.parametrize(
    ("options", "kind", "method", "width", "bits"),
    [
        ([], "words", "words", 2, None),
        (["--for", "search"], "words", "words", 2, None),
        (["--for", "search", "--width", 1], "words", "words", 1, None),
        (["--for", "passages"], "words", "words", 2, None),
        (["--for", "duplicates"], "flat", "simhash", 3, 64),
        (["--for", "duplicates", "--bits", 128, "--kind", "blocks"], "blocks", "simhash", 3, 128),
        (["--for", "duplicates", "--method", "words"], "words", "words", 2, None),
        (["--kind", "auto", "--bits", 64], "flat", "simhash", 3, 64),
        (["--kind", "auto"], "words", "words", 2, None),
        (["--for", "search", "--method", "simhash"], "flat", "simhash", 1, 1024),
        (["--for", "search", "--bits", 256], "flat", "simhash", 1, 256),
        (["--bits", 256], "flat", "simhash", 3, 256),
        (["--kind", "words"], "words", "words", 2, None),
        (["--method", "minhash"], "keys", "minhash", 3, None),
        (["--unit", "char"], "words", "words", 4, None),
    ],
)
def test_a_task_chooses_and_options_override(folder, options, kind, method, width, bits):
    done("index", "build", "in.jsonl", "-o", "index", *options)
    said = done("index", "info", "index")
    assert (said["kind"], said["spec"]["method"], said["spec"]["shingles"]["width"]) == (kind, method, width)
    assert said.get("bits") == bits
    assert said["passages"] == ({"words": 100, "overlap": 50} if "passages" in options else None)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--kind", "words", "--bits", 64], "--bits is for signatures"),
        (["--kind", "words", "--queries", "batch"], "--queries is for signatures"),
        (["--method", "words", "--parameter", "density=3"], "--parameter is for signatures"),
        (["--method", "words", "--kind", "flat"], "--kind is for signatures"),
        (["--kind", "words", "--method", "simhash"], "makes no words"),
        (["--for", "search", "--overlap", 3], "--overlap is for passages"),
    ],
)
def test_options_that_contradict_each_other(folder, options, named):
    code, said = refused("index", "build", "in.jsonl", "-o", "index", *options)
    assert code == 2 and named in said and not Path("index").exists()


def test_words_are_added_and_removed(folder):
    done("index", "build", "in.jsonl", "-o", "index", "--keep-texts")
    done("index", "add", "index", "more.jsonl")
    done("index", "remove", "index", "d3", "m1")
    write_jsonl("all.jsonl", {**TEXTS, **MORE})
    done("index", "build", "all.jsonl", "-o", "same", "--keep-texts")
    done("index", "remove", "same", "d3", "m1")
    texts = [*TEXTS.values(), *MORE.values()]
    assert answers("index", texts) == answers("same", texts)
    assert done("index", "verify", "index")["rows"] == 21


def test_the_help_has_what_most_people_need_first(folder):
    code, out, _ = run("index", "build", "--help")
    first, *others = out.split("Options:")[1].split("\n\n")
    assert code == 0 and first.count("\n  -") <= 8
    assert "--for" in first and "--output" in first and "--bits" not in first
    assert [part.splitlines()[0] for part in others][:2] == ["Reading:", "Passages:"]
    for option in ("--bits", "--kind", "--threads", "--config", "--html"):
        assert sum(f"  {option} " in part for part in others) == 1


# Calibrate


def test_the_kind_that_is_chosen_is_said(folder):
    report = done("index", "build", "in.jsonl", "-o", "index", "--bits", 64, "--radius", 3, "--queries", "batch")
    plan, outcome = report["plan"], report["outcome"]
    assert report["kind"] == plan["kind"] == outcome["method"] and plan["asked"] == {"k": None, "radius": 3}
    assert list(plan["query_seconds"]) == ["batch"] and plan["recall"] == 1 and plan["bytes"]["heap"] > 0
    assert {kind for kind, _, _ in plan["considered"]["batch"]} >= {"flat", "blocks"}
    assert outcome["predicted_seconds"] > 0 and outcome["seconds"] >= 0
    _, said, _ = run("index", "build", "in.jsonl", "-o", "again", "--for", "duplicates")
    assert "Chosen: flat of " in said and "exact" in said
    assert "plan" not in done("index", "build", "in.jsonl", "-o", "named", "--kind", "flat")


def test_a_probe_index_is_calibrated(folder):
    texts = {f"n{i}": " ".join(f"w{(i // 2 * 31 + j * j) % 997}" for j in range(60)) for i in range(600)}
    write_jsonl("many.jsonl", {name: f"{text} {int(name[1:]) % 2}" for name, text in texts.items()})
    done("index", "build", "many.jsonl", "-o", "index", "--kind", "probes", "--probes", 0)
    asked = ["index", "calibrate", "index", "many.jsonl", "--radius", 8, "--recall", 0.9, "--exclude-self", "--flips"]
    report = done(*asked)
    said = done("index", "info", "index")["parameters"]
    assert said["calibration"]["probes"] == said["probes"] == report["probes"] > 0 and said["flip_step"] > 0
    found = done("search", "index", "many.jsonl", "--radius", 8, "--exclude-self")
    assert found["recall"] == report["recall"] >= 0.8
    done("index", "build", "many.jsonl", "-o", "flat", "--for", "duplicates")
    truth = done("search", "flat", "many.jsonl", "--radius", 8, "--exclude-self")["matches"]
    assert abs(found["matches"] / truth - report["recall"]) < 0.1
    more = done("search", "index", "many.jsonl", "--radius", 8, "--exclude-self", "--recall", 0.99)
    asked, known = more["outcome"], report["recall"]
    assert asked["asked"] == 0.99 <= asked["predicted"]
    assert known >= 0.99 or asked["parameters"]["probes"] > said["probes"]
    assert more["matches"] >= found["matches"]
    done("sign", "many.jsonl", "-o", "signed", "--volatility")
    assert done("index", "calibrate", "index", "signed", "--radius", 8, "--first", "--exclude-self")["first"]
    code, said = refused("index", "calibrate", "flat", "many.jsonl", "--radius", 3)
    assert code == 2 and "of the kind flat" in said
