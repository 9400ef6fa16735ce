"""Artefacts as targets: damaged ones give a named error or the same answer, crafted ones anything but a crash."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.fuzz.craft import crafted, damaged
from tests.fuzz.engine import ROOT
from tests.fuzz.formats import ROSE
from tests.fuzz.target import ACCEPTED, SAME, Case

import sosie
from sosie.crosslingual.table import export_tsv
from sosie.jobs.index import IndexBuilder, verify_index
from sosie.jobs.sign import Signing
from sosie.search.entries import Form
from sosie.search.files import describe_index
from sosie.search.windows import Windows
from sosie.signatures.files import load_features
from sosie.storage.output import Output


def _golden() -> Any:
    found = importlib.util.spec_from_file_location("golden_files", ROOT / "tools" / "golden_files.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


GOLDEN = _golden()
QUERIES = [ROSE, *GOLDEN.texts(3)]


class Artefacts:
    """Artefacts that are opened in one way: `make` writes them, `answer` opens one, `change` goes on with it."""

    def __init__(
        self,
        make: Callable[[Path], None],
        answer: Callable[[Path], Any],
        change: Callable[[Path], None] = lambda path: None,
    ) -> None:
        self.make, self.answer, self.change = make, answer, change

    def prepare(self, folder: Path) -> None:
        """Write the artefacts and keep what each answers."""
        self.make(folder)
        self.seeds = sorted(path.parent for path in folder.glob("*/manifest.json"))
        self.right = {seed.name: self.answer(seed) for seed in self.seeds}
        for seed in self.seeds:
            self.change(seed)

    def write(self, random: Random, folder: Path) -> Case:
        """Write a wrong artefact; every fourth has wrong checksums, too."""
        seed = random.choice(self.seeds)
        return damaged(random, seed, folder) if random.random() < 0.25 else crafted(random, seed, self.seeds, folder)

    def judge(self, case: Case, random: Random) -> str:
        """Open an artefact and ask it; what has a wrong checksum and opens is the same."""
        same = self.answer(case.path) == self.right[case.path.name]
        assert same or case.crafted, "another answer, and no checksum told"
        if case.crafted:
            self.change(case.path)
        return SAME if same else ACCEPTED


def index_target(kind: str) -> Artefacts:
    """Return an index of one kind, as it saves itself."""
    return Artefacts(lambda folder: GOLDEN.indexes()[kind].save(folder / kind), _found, _changed_index)


def _found(path: Path) -> Any:
    index = sosie.load_index(path)
    found = GOLDEN.found(index)
    held = index.keys if isinstance(index, sosie.KeyIndex) else getattr(index, "bags", None) or index.signatures
    if isinstance(index, sosie.KeyIndex):
        own = index.candidates(held, threads=1)
    else:
        own = index.search(held, 3, threads=1)
    assert len(own.rows) == own.offsets[-1] == len(own.ids) and len(own.offsets) == len(held) + 1
    if len(own.rows):
        assert 0 <= own.rows.min() and own.rows.max() < len(index.row_ids), "a row that is not there"
    return found, own.rows.tolist(), own.distances.tolist(), own.ids.to_pylist(), len(index)


def _changed_index(path: Path) -> None:
    """Remove a row, add two, and save: what was opened is gone on with."""
    index = sosie.load_index(path)
    if len(index):
        index.remove(index.ids[:1].to_pylist())
    if isinstance(index, sosie.KeyIndex):
        index.add(sosie.Minhash(minima=8, rows=2).fit().keys(GOLDEN.texts(2), ids=[-1, -2]))
    elif isinstance(index, sosie.WordIndex):
        index.add(sosie.Phrases().bags(GOLDEN.texts(2), ids=["new 1", "new 2"]))
    else:
        words = np.arange(2, dtype=np.uint64)
        index.add(sosie.Signatures(words, ids=None if index.row_ids.numbered else ["new 1", "new 2"]))
    _saved_again(index, path)


def _saved_again(index: Any, path: Path) -> None:
    again = path.parent / "again"
    shutil.rmtree(again, ignore_errors=True)
    index.save(again)


def text_indexes() -> Artefacts:
    """Return indexes of texts, which have parts beside them."""

    def make(folder: Path) -> None:
        documents = sosie.Source.from_texts(GOLDEN.texts(16), ids=[f"d{i}" for i in range(16)])
        forms = {
            "words": (sosie.Phrases(), Form(words=True, texts=True), "auto"),
            "texts": (sosie.Simhash(weighting="tf-idf"), Form(texts=True), "flat"),
            "passages": (sosie.Simhash(), Form(windows=Windows(6, 3)), "blocks"),
        }
        for name, (reader, form, kind) in forms.items():
            builder = IndexBuilder(kind=kind, form=form)
            builder.from_documents(documents, reader, Output(folder / name), threads=1)

    def answer(path: Path) -> Any:
        index, described = sosie.load_text_index(path), describe_index(path)
        found = index.search(QUERIES, 3, threads=1)
        texts = None if index.texts is None else [index.texts.text(row) for row in found.rows.tolist()]
        return described, verify_index(path), found.ids.to_pylist(), found.distances.tolist(), texts

    def change(path: Path) -> None:
        index = sosie.load_text_index(path)
        index.remove(["d1"])
        if index.places is None:
            index.add(index.sign(GOLDEN.texts(2), ids=["new 1", "new 2"], threads=1))
        _saved_again(index, path)

    return Artefacts(make, answer, change)


def signers() -> Artefacts:
    """Return a signer of every method."""

    def make(folder: Path) -> None:
        for name, spec in GOLDEN.specs().items():
            (spec.fit(GOLDEN.texts(30)) if spec.needs_texts else spec.fit()).save(folder / name)

    def answer(path: Path) -> Any:
        signer = sosie.load_signer(path)
        return signer.digest, GOLDEN.signed(signer)

    return Artefacts(make, answer)


def signatures() -> Artefacts:
    """Return signatures with all that may be kept with them, and keys."""

    def make(folder: Path) -> None:
        texts = sosie.Source.from_texts(GOLDEN.texts(16), ids=[f"d{i}" for i in range(16)])
        simhash, minhash = sosie.Simhash(weighting="tf-idf"), sosie.Minhash(minima=8, rows=2)
        Signing(signer=simhash, volatility=True, features=True).run(texts, Output(folder / "words"), threads=1)
        Signing(signer=minhash, keys=True, features=True).run(texts, Output(folder / "keys"), threads=1)

    def answer(path: Path) -> Any:
        signed, signer = sosie.load_signatures(path), sosie.load_signer(path)
        radius = None if isinstance(signed, sosie.Keys) else 3
        pairs = sosie.join(signed, radius=radius, threads=1)
        assert len(pairs.a) == 0 or max(pairs.a.max(), pairs.b.max()) < len(signed)
        features, ids, _ = load_features(path)
        rows = signed.values if isinstance(signed, sosie.Keys) else signed.words
        return (
            pairs.a.tolist(),
            pairs.b.tolist(),
            rows.tolist(),
            ids.to_pylist(),
            features.hashes.tolist(),
            signer.digest,
        )

    def change(path: Path) -> None:
        """Hold documents against the features, join them, and build an index of the signatures."""
        features = load_features(path)[0]
        sosie.verify(sosie.join(features, threshold=0.5, threads=1), features, threshold=0.5, threads=1)
        result = sosie.dedup(GOLDEN.texts(6), against=path, threads=1)
        json.dumps(result.report.to_dict() if hasattr(result.report, "to_dict") else dict(result.report))
        out = path.parent / "built"
        shutil.rmtree(out, ignore_errors=True)
        IndexBuilder().from_signatures(path, Output(out))

    return Artefacts(make, answer, change)


def dictionaries() -> Artefacts:
    """Return dictionaries, with weights and without."""

    def answer(path: Path) -> Any:
        made = sosie.load_dictionary(path)
        assert made.reversed().reversed().digest == made.digest
        return GOLDEN.translated(made), made.spec, made.segments, list(export_tsv(made))

    def change(path: Path) -> None:
        _saved_again(sosie.load_dictionary(path).with_weights((1.0, 0.5, 0.25)), path)

    return Artefacts(lambda folder: GOLDEN.dictionaries(folder) and _raised(folder / "dictionary"), answer, change)


def _raised(folder: Path) -> None:
    """Let what is in a folder lie beside it."""
    for path in folder.iterdir():
        path.rename(folder.parent / path.name)
