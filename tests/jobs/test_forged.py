"""Texts that were made to have the hashes of others: they delete nothing, and nothing is deleted because of them.

FORGED and FORGED_TOO were found by undoing the last steps of XXH64: of three words, eight bytes follow from the hash
and from all others, and these are changed until the eight are letters or digits.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.jobs.killed import contents

from sosie import Deduplicator, Output, Reference, Shingles, Simhash, Source, dedup
from sosie.jobs import stages
from sosie.matches.sets import crowded
from sosie.signatures.files import save_signatures

VICTIM = "No document may be deleted because another one was made to look like it."
FORGED = (
    "rs18bf38il5pj3 joxtda514t3lq2 9d4b8ekw03jet3 i0a704k0ymz1qc ofpodkkx2qpp2k kj530jngx27ukq rklmlp65gc9x1b"
    " x8qj5mnl77ns7a wmpnzbb7meusr1 9ycwa4u6d2fr8y nzyvbq9nqk6und t69c6hoij2425r okhjw2ltbzjpm3 abjwumhm9ms05d"
)
FORGED_TOO = (
    "4jdko3qdmv309g 5bujhxlujf0pyy ip0j3lql2buxfx tztqp1xa4r78ul wtyddzq781m7qs fdj04lmlt0d9qd e5ebxumrbafsd2"
    " 7hv05573aceihn 76mj8mnjbol3b5 yhh5i2pfw48sjk kjjimnt9r53t6k e0gg0qo6xu6wbj auweeuxk9r1x23 j433g3g9yfv4qk"
)
BARE = "?!"
FORGED_BARE = "3dgig25ubdlpwr jfy0beqo5sppxv 55af7gncf72jox kbahaumj0y1xz3 tezd6omqhvl7sb enn4d8ejej5syo"
TEXTS = [VICTIM, FORGED, VICTIM.upper(), FORGED_TOO, FORGED, "something else, which is like none of these", FORGED_TOO]
WAYS: list[dict[str, Any]] = [
    {"method": "exact"},
    {"method": "exact", "similarity": "cosine"},
    {"method": "exact", "similarity": "containment"},
    {"method": "exact", "similarity": "cosine", "weighting": "tf"},
    {"method": "exact", "similarity": "cosine", "weighting": "tf-idf"},
    {"method": "minhash"},
    {"method": "minhash", "similarity": "cosine"},
    {"method": "simhash"},
    {"method": "simhash", "similarity": "cosine", "weighting": "tf"},
]


def rows(texts: list[str], prefix: str = "d") -> Any:
    return pa.table({"id": [f"{prefix}{i}" for i in range(len(texts))], "text": texts})


def gone(result: Any) -> dict[str, str]:
    return {row["id"]: row["duplicate_of"] for row in result.dropped.to_pylist()}


def store(directory: Path, text: str) -> None:
    """Write what `sosie sign --features` does for one text."""
    spec = Simhash()
    save_signatures(directory, spec.fit().sign([text]), spec, features=Shingles().extract([text]))


def test_the_hashes_are_the_same_and_no_word_is() -> None:
    victim, *forged = (Shingles().extract([text]).hashes.tolist() for text in (VICTIM, FORGED, FORGED_TOO))
    assert len(victim) == 12 and forged == [victim, victim]
    assert not set(VICTIM.lower().split()) & {*FORGED.split(), *FORGED_TOO.split()}
    digest = np.frombuffer(blake2b(BARE.encode(), digest_size=32).digest(), "<u8")
    assert Shingles().extract([FORGED_BARE]).hashes.tolist() == sorted(digest.tolist())


@pytest.mark.parametrize("clusters", ["anchored", "transitive"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way.values()))
def test_only_what_has_the_same_words_goes(way: dict[str, Any], clusters: Any) -> None:
    for keep, threshold, goes in (
        ("first", 0.8, {"d2": "d0", "d4": "d1", "d6": "d3"}),
        ("longest", 1, {"d2": "d0", "d4": "d1", "d6": "d3"}),
    ):
        result = dedup(rows(TEXTS), threshold, clusters=clusters, keep=keep, **way)
        assert gone(result) == goes
        assert set(result.dropped["similarity"].to_pylist()) == {1.0}
        pairs = {(row["a"], row["b"]) for row in result.pairs.to_pylist()}
        assert pairs == {("d0", "d2"), ("d1", "d4"), ("d3", "d6")}
        assert result.report["counters"]["collisions"] == 3  # of three groups with one another
        assert any("same hashes but not the same words" in said for said in result.report.warnings)
        assert result.report["counters"]["identical_documents"] == 3


def test_nothing_is_said_where_nothing_collides() -> None:
    report = dedup(rows([VICTIM, VICTIM, FORGED]), keep="longest").report
    assert report["counters"]["collisions"] == 1
    report = dedup(rows([VICTIM, VICTIM, f"{VICTIM} Twice."])).report
    assert "collisions" not in report["counters"] and report.warnings == ()


def test_a_forged_text_does_not_connect_others() -> None:
    """By hashes, d0 is like d1 and d1 like d2, which holds all of it; by words nothing is."""
    texts = [VICTIM, FORGED, f"{FORGED} and two more words"]
    result = dedup(rows(texts), 0.7, clusters="transitive")
    assert gone(result) == {"d2": "d1"}


def test_a_text_with_both_words_for_a_hash_has_neither_in_common_with_others() -> None:
    both = f"{VICTIM} {FORGED}"
    result = dedup(rows([both, VICTIM, both, FORGED]), 0.5, similarity="containment")
    assert gone(result) == {"d2": "d0"}


def test_a_text_without_words_is_not_deleted_by_one_with_the_words_of_its_digest() -> None:
    assert gone(dedup(rows([FORGED_BARE, BARE, BARE]))) == {"d2": "d1"}


@pytest.mark.parametrize("clusters", ["anchored", "transitive"])
@pytest.mark.parametrize("most", [10**6, 100])
def test_in_a_crowd(clusters: Any, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many share each feature that they are in dense lists; with more pairs than may be listed, not all are."""
    monkeypatch.setattr(crowded, "listed_at_most", lambda rows: most)
    texts = [f"{text} {i}" for i in range(120) for text in (VICTIM, FORGED)]
    result = dedup(rows(texts), clusters=clusters)
    assert (result.report["counters"]["bounded_lists"] > 0) == (most == 100)
    assert result.report["counters"]["collisions"] > 0
    assert result.report.counts.kept == 2
    assert {int(a[1:]) % 2 == int(b[1:]) % 2 for a, b in gone(result).items()} == {True}


@pytest.mark.parametrize("only", [False, True])
def test_against_texts(only: bool) -> None:
    new = rows([VICTIM, f"{VICTIM} Or not.", FORGED_TOO])
    result = dedup(new, against=Reference(rows([FORGED, "another"], "r"), only=only), threshold=0.8)
    assert gone(result) == ({} if only else {"d1": "d0"})
    result = dedup(new, against=Reference(rows([VICTIM, FORGED_TOO], "r"), only=only), threshold=0.8)
    assert gone(result) == {"d0": "r0", "d1": "r0", "d2": "r1"}
    assert result.report["counters"]["collisions"] > 0


def test_against_stored_features_it_is_said_that_hashes_decide(tmp_path: Path) -> None:
    store(tmp_path / "old", FORGED)
    result = dedup(rows([VICTIM, VICTIM, "a b c d", FORGED_TOO]), against=tmp_path / "old")
    assert gone(result) == {"d0": "0", "d1": "0", "d3": "0"}
    assert any("hashes without their words" in said for said in result.report.warnings)
    result = dedup(rows([f"{VICTIM} x y", f"{FORGED_TOO} z"]), 0.9, against=tmp_path / "old")
    assert gone(result) == {"d1": "0"}


def test_among_documents_words_decide_whatever_the_reference_is(tmp_path: Path) -> None:
    store(tmp_path / "old", "nothing like it")
    result = dedup(rows(TEXTS), against=tmp_path / "old")
    assert gone(result) == {"d2": "d0", "d4": "d1", "d6": "d3"}


@pytest.mark.parametrize("against", [False, True])
def test_every_run_writes_the_same_and_one_that_goes_on_does_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, against: bool
) -> None:
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "new.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "old.jsonl").write_text(json.dumps({"id": "r", "text": FORGED}), "utf-8")
    given = {"against": Source(tmp_path / "old.jsonl")} if against else {}
    job, source = Deduplicator(keep="longest"), Source(tmp_path / "new.jsonl")
    outputs = [Output(tmp_path / name, resume=True) for name in "abc"]
    for output in outputs[:2]:
        job.run(source, output=output, **given)

    def fails(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stages, "match", fails)
        with pytest.raises(KeyboardInterrupt):
            job.run(source, output=outputs[2], **given)
    with monkeypatch.context() as patched:
        patched.setattr(stages, "collect", fails)  # it goes on from what was read, with tags under a key that is gone
        result = job.run(source, output=outputs[2], **given)
    goes = {"d1": "r", "d2": "d0", "d4": "r", "d6": "d3"} if against else {"d2": "d0", "d4": "d1", "d6": "d3"}
    assert gone(result) == goes
    first, *others = (contents(tmp_path / name) for name in "abc")
    assert others == [first, first]


def test_what_was_read_without_tags_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate(TEXTS)]
    (tmp_path / "new.jsonl").write_text("\n".join(lines), "utf-8")
    job, source, output = Deduplicator(), Source(tmp_path / "new.jsonl"), Output(tmp_path / "out", resume=True)
    save = stages.save_collection

    def without_tags(checkpoints: Any, reading: Any, collection: Any) -> None:
        save(checkpoints, reading, replace(collection, features=replace(collection.features, tags=None)))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stages, "save_collection", without_tags)
        with pytest.raises(KeyboardInterrupt):
            job.run(source, output=output)
    assert gone(job.run(source, output=output)) == {"d2": "d0", "d4": "d1", "d6": "d3"}
