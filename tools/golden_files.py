"""Write one small artefact of every kind as this version saves it, and what opening it gives: `tests/golden/files`.

usage: python tools/golden_files.py [KIND...]          writes tests/golden/files/NAME, which must not exist

A version that changes a format runs this once, for the kinds of artefacts (folders: index, signer, signatures,
text-index, store, dictionary, dedup, join) that it changes; the folders of earlier ones stay, and
tests/test_old_files.py opens all of them. Nothing here is made again to make a test pass: what was written is a
promise.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sosie

NAME = f"{sosie.__version__}-dictionary"  # the folder to write: the version, and what is new in its files
FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden" / "files"
WORDS = "amber birch cedar delta ember flint grove hazel ivory jade kelp larch maple north ochre pearl quartz".split()


def texts(count: int) -> list[str]:
    """Return texts that are the same everywhere; each shares most of its words with the one before."""
    return [" ".join(WORDS[(i // 2 * 5 + j * j + j * (i % 2 and j > 9)) % 17] for j in range(14)) for i in range(count)]


def rows(count: int) -> sosie.Signatures:
    """Return signatures of 64 bits in small clusters, with string ids."""
    numbers = np.arange(count, dtype=np.uint64)
    words = (numbers // np.uint64(4) * np.uint64(0x9E3779B97F4A7C15)) ^ (np.uint64(1) << (numbers * np.uint64(7)) % 64)
    return sosie.Signatures(words, ids=[f"row {i}" for i in range(count)])


def grown(make: Callable[[sosie.Signatures], Any], count: int) -> Any:
    """Return an index whose rows came in two parts, and of which some were removed."""
    signatures, first = rows(count), count - count // 8
    index = make(signatures.take(np.arange(first)))
    index.add(signatures.take(np.arange(first, count)))
    index.remove(["row 2", f"row {count - 1}"])
    return index


def calibrated() -> Any:
    """Return a probe index with a model of flips, and a number of probes that was chosen."""
    signatures = rows(40)
    sums = (np.arange(40 * 64, dtype=np.float32).reshape(40, 64) * 7 % 11 + 1) / 16
    sums[:] *= np.where(np.unpackbits(signatures.words.view(np.uint8).reshape(40, 8), axis=1, bitorder="little"), 1, -1)
    sample = sosie.Signatures(signatures.words, ids=signatures.ids, volatility=sums)
    model = sosie.FlipModel.of(sample)
    effort = grown(lambda first: sosie.ProbeIndex(first, header=5, flips=model), 40).calibrate(sample, 2, 0.9)
    return grown(lambda first: sosie.ProbeIndex(first, effort, header=5, flips=model), 40)


def grown_words() -> Any:
    """Return an index of words whose rows came in two parts, and of which some were removed."""
    names, every = [f"row {i}" for i in range(24)], texts(24)
    index = sosie.WordIndex(sosie.Phrases().bags(every[:20], ids=names[:20]))
    index.add(sosie.Phrases().bags(every[20:], ids=names[20:]))
    index.remove(["row 2", "row 23"])
    return index


def indexes() -> dict[str, Any]:
    """Return an index of every class; keys and numbered rows as well."""
    keys = sosie.Minhash(minima=8, rows=2).fit().keys(texts(24), ids=list(range(100, 124)))
    return {
        "flat": grown(sosie.FlatIndex, 40),
        "flat-numbered": sosie.FlatIndex(sosie.Signatures(rows(20).words)),
        "blocks": grown(lambda first: sosie.BlockIndex(first, radius=2), 40),
        "blocks-tables": grown(lambda first: sosie.BlockIndex(first, radius=1), 1100),
        "multi": grown(sosie.MultiIndex, 1100),
        "probes": grown(sosie.ProbeIndex, 40),
        "probes-flips": calibrated(),
        "slices": grown(lambda first: sosie.SliceIndex(first, width=5), 40),
        "keys": sosie.KeyIndex(keys),
        "words": grown_words(),
    }


def specs() -> dict[str, Any]:
    """Return a spec of every method."""
    single = sosie.Shingles(width=1)
    return {
        "simhash": sosie.Simhash(weighting="tf-idf"),
        "simhash-stop-words": sosie.Simhash(shingles=sosie.Shingles(width=2, stop_words="english", stem="english")),
        "minhash": sosie.Minhash(),
        "projection": sosie.RandomProjection(bits=100, shingles=single),
        "topsig": sosie.TopSig(bits=128, shingles=single),
        "p-stable": sosie.PStable(shingles=single),
        "fuzzy-fingerprint": sosie.FuzzyFingerprint(),
        "svd": sosie.SvdEmbedding(dimensions=4, shingles=single),
        "threshold": sosie.ThresholdEmbedding(dimensions=4, shingles=single),
    }


def found(index: Any) -> dict[str, Any]:
    """Return what an index finds for some of its own rows."""
    if isinstance(index, sosie.KeyIndex):
        queries = sosie.Minhash(minima=8, rows=2).fit().keys(texts(6))
        results = {"candidates": index.candidates(queries)}
    elif isinstance(index, sosie.WordIndex):
        results = {"search": index.search(sosie.Phrases().bags(texts(6)), 3)}
    else:
        queries = rows(12).take(np.array([0, 2, 3, 11]))
        results = {"search": index.search(queries, 3), "within": index.within(queries, 2)}
    return {
        name: {"offsets": m.offsets.tolist(), "ids": m.ids.to_pylist(), "distances": m.distances.tolist()}
        for name, m in results.items()
    }


def stores(folder: Path) -> dict[str, Any]:
    """Write a store of texts with their signer and one of numbers, each of two runs; return what they find."""
    signer, expected = sosie.Simhash().fit(), {}
    for name in ("texts", "numbered"):
        store = sosie.SignatureStore(folder / "store" / name, signer=signer if name == "texts" else None)
        for begin, end in ((0, 9), (9, 12), (12, 13)):
            ids = [f"d{i}" for i in range(begin, end)]
            store.append(signer.sign(texts(13)[begin:end], ids=ids if name == "texts" else None))
        expected[f"store/{name}"] = matched(store)
    return expected


def dictionaries(folder: Path) -> dict[str, Any]:
    """Write a dictionary of one table and one of both directions, with weights; return what they translate."""
    expected, source, target = {}, "haus haus strasse 東京".split(), "house home street tokyo".split()
    plain = sosie.Dictionary.from_pairs(source, target, [3, 1, 1, 1])
    both = sosie.Dictionary.from_pairs(source, target, [3, 1, 1, 0], [1, 1, 1, 1])
    for name, made in (("table", plain), ("weighted", both.with_weights((0.5, 0.375, 0.125)))):
        made.save(folder / "dictionary" / name)
        expected[f"dictionary/{name}"] = translated(made)
    return expected


def translated(made: Any) -> dict[str, Any]:
    """Return all that a dictionary says."""
    words = {"forward": made.source.to_pylist(), "backward": made.target.to_pylist()}
    found = {
        way: {word: [list(each) for each in made.translations(word, way == "backward")] for word in listed}
        for way, listed in words.items()
    }
    return {**found, "digest": made.digest, "weights": made.weights and list(made.weights)}


def matched(store: Any) -> dict[str, Any]:
    """Return what a store finds for some texts."""
    queries = sosie.Simhash().fit().sign(texts(5), volatility=True)
    found = {"blocks": store.match(queries, 20), "probes": store.match(queries, 20, probes=3)}
    listed = {name: [m.offsets.tolist(), m.ids.to_pylist(), m.distances.tolist()] for name, m in found.items()}
    return {"rows": len(store), **listed}


def signed(signer: Any) -> list[Any]:
    """Return what a signer makes of some texts."""
    if "signatures" in signer.spec.makes:
        return list(signer.sign(texts(5)).words.tolist())
    return list(signer.keys(texts(5)).values.tolist())


def run(*arguments: str, cwd: Path) -> str:
    """Run a command of the command line; return what it prints."""
    command = [Path(sys.executable).parent / "sosie", *arguments]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def shown(index: str, folder: Path) -> list[dict[str, Any]]:
    """Return the matches that a search of an index of texts shows, as far as every version shows them."""
    lines = run("search", index, "--text", texts(4)[3], "-k", "3", "--format", "jsonl", cwd=folder).splitlines()
    return [{name: value for name, value in json.loads(line).items() if name != "margin"} for line in lines]


def write(folder: Path) -> None:
    """Write everything, and what each gives when it is opened."""
    expected: dict[str, Any] = {}
    for name, index in indexes().items():
        index.save(folder / "index" / name)
        expected[f"index/{name}"] = {"rows": len(index), "found": found(index)}
    for name, spec in specs().items():
        signer = spec.fit(texts(30)) if spec.needs_texts else spec.fit()
        signer.save(folder / "signer" / name)
        expected[f"signer/{name}"] = {"digest": signer.digest, "signed": signed(signer)}
    expected |= stores(folder)
    expected |= dictionaries(folder)
    lines = [json.dumps({"id": f"d{i}", "text": text}) for i, text in enumerate([*texts(16), "?"])]
    (folder / "docs.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    run("sign", "docs.jsonl", "-o", "signatures/words", "--volatility", "--features", "--quiet", cwd=folder)
    run("sign", "docs.jsonl", "-o", "signatures/keys", "--method", "minhash", "--quiet", cwd=folder)
    words = sosie.load_signatures(folder / "signatures" / "words")
    keys = sosie.load_signatures(folder / "signatures" / "keys")
    expected["signatures/words"] = {"words": words.words.tolist(), "ids": words.ids.to_pylist()}
    expected["signatures/keys"] = {"values": keys.values.tolist(), "ids": keys.ids.to_pylist()}
    task = ("--for", "duplicates")
    run("index", "build", "docs.jsonl", "-o", "text-index/texts", "--keep-texts", "--quiet", *task, cwd=folder)
    run("index", "build", "docs.jsonl", "-o", "text-index/words", "--keep-texts", "--quiet", cwd=folder)
    passages = ("--passages", "--words", "6", "--kind", "blocks", "--quiet")
    run("index", "build", "docs.jsonl", "-o", "text-index/passages", *passages, cwd=folder)
    for name in ("texts", "passages", "words"):
        expected[f"text-index/{name}"] = shown(f"text-index/{name}", folder)
    run("dedup", "docs.jsonl", "-o", "dedup", "--threshold", "0.5", "--width", "1", "--quiet", cwd=folder)
    run("join", "docs.jsonl", "-o", "join", "--threshold", "0.5", "--width", "1", "--quiet", cwd=folder)
    (folder / "dedup" / "report.html").unlink()  # for people: no program opens it again
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


def keep(folder: Path, kinds: list[str]) -> None:
    """Remove all but some kinds, and the documents that they are made of."""
    for path in folder.iterdir():
        if path.is_dir() and path.name not in kinds:
            shutil.rmtree(path)
    file = folder / "expected.json"
    expected = {name: said for name, said in json.loads(file.read_text("utf-8")).items() if (folder / name).exists()}
    file.write_text(json.dumps(expected, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    here = FOLDER / NAME
    here.mkdir(parents=True)
    write(here)
    if sys.argv[1:]:
        keep(here, sys.argv[1:])
