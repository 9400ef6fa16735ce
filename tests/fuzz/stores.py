"""Stores of signatures as a target: their runs lie in folders of their own, whose checksums the store knows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.artefacts import rewritten
from tests.fuzz.artefacts import GOLDEN, Artefacts
from tests.fuzz.target import Case

import sosie


class Stores(Artefacts):
    """Stores of several runs: numbered, with numbers or texts as ids, and with their signer."""

    def __init__(self) -> None:
        super().__init__(_make, _answer, _change)

    def write(self, random: Random, folder: Path) -> Case:
        """Write a wrong store; where checksums are right, so are those of its runs, mostly."""
        case = super().write(random, folder)
        if case.crafted and random.random() < 0.9:
            _right(case.path)
        return case


def _make(folder: Path) -> None:
    signer = sosie.Simhash().fit()
    for name, ids in {
        "numbered": lambda i: None,
        "numbers": lambda i: [7 * i, 7 * i + 1, -i - 1],
        "texts": lambda i: [f"a {i}", f"é {i}", f"{i}" * 3],
    }.items():
        store = sosie.SignatureStore(folder / name, signer=signer if name == "texts" else None)
        for i, size in enumerate((3, 3, 3, 3, 1, 1)):
            given = ids(i)
            texts = GOLDEN.texts(20)[2 * i :][:size]
            made = signer.sign(texts, ids=None if given is None else given[:size])
            store.append(made)


def _answer(path: Path) -> Any:
    store = sosie.SignatureStore(path)
    asked = sosie.Signatures(np.resize(sosie.Simhash().fit().sign(GOLDEN.texts(9)).words, (9, -(-store.bits // 64))))
    if store.bits % 64:
        asked.words[:, -1] &= np.uint64((1 << store.bits % 64) - 1)
    asked = sosie.Signatures(asked.words, store.bits)
    answers: list[Any] = [len(store), store.bits, None if store.signer is None else store.signer.digest]
    for how in ({}, {"first": True}, {"probes": 9}, {"probes": 2**30, "first": True}):
        found = store.match(asked, min(6, store.bits), threads=1, **how)
        assert len(found.rows) == found.offsets[-1] == len(found.ids)
        assert len(found.rows) == 0 or 0 <= found.rows.min() <= found.rows.max() < len(store), "a row that is not there"
        answers.append([found.rows.tolist(), found.distances.tolist(), found.ids.to_pylist()])
    return answers


def _change(path: Path) -> None:
    """Append to a copy, which merges runs: what was opened is gone on with."""
    again = path.parent / "again"
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(path, again)
    store = sosie.SignatureStore(again)
    words = np.zeros((9, -(-store.bits // 64)), np.uint64)
    kind = json.loads((again / "manifest.json").read_text("utf-8"))["id_type"]
    ids = [f"new {i}" if kind == "string" else 10**6 + i for i in range(9)]
    store.append(sosie.Signatures(words, store.bits, ids=ids))
    assert len(sosie.SignatureStore(again)) == len(store)


def _right(path: Path) -> None:
    """Let the store know the checksums that its runs and its signer have now."""

    def crc(name: Any) -> Any:
        try:
            return json.loads((path / str(name) / "manifest.json").read_text("utf-8"))["crc32"]
        except (OSError, ValueError, KeyError):
            return 0

    def change(manifest: dict[str, Any]) -> None:
        runs = manifest.get("runs")
        for entry in runs if isinstance(runs, list) else []:
            if isinstance(entry, dict) and "crc32" in entry:
                entry["crc32"] = crc(entry.get("name"))
        if isinstance(manifest.get("signer"), int):
            manifest["signer"] = crc("signer")

    rewritten(path, change)
