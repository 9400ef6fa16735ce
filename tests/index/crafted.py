"""Indexes whose files were made up, with right checksums: run by test_crafted.py through tests/trials.py."""

import copy
import dataclasses
import json
import shutil
import zlib

import numpy as np
from tests.index.kinds import EVERY

import sosie
from sosie.index.flips import FlipModel
from sosie.index.probe_search import Calibration
from sosie.search.text_index import TextIndex
from sosie.storage.manifest import MANIFEST, _checksum
from sosie.types import Signatures

NUMBERS = (-1, 0, 1, 2, 3, 7, 63, 64, 65, 511, 512, 2**16, 2**31, 2**32, 2**40, 2**53, 2**62, -(2**63), 10**30)
OTHERS = (None, True, 1.5, 1e308, float("nan"), float("inf"), "x", "64", "", [], {}, [1, 2], [[1]], {"count": 3})
DTYPES = ("|b1", "|u1", "|i1", "<u2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
TEXTS = [f"a text of number {i} about {'roses tulips lilies asters daisies'.split()[i % 5]} again" for i in range(40)]


def make_indexes(folder):
    """Save an index of every kind, with and without ids, of several runs, one row of which was removed."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**63, 1300, dtype=np.uint64)
    values[1:1300:3] = values[0:1299:3] ^ np.uint64(5)
    for name, kind in EVERY.items():
        for ids in (False, True):
            named = [f"i{row}" for row in range(len(values))] if ids else None
            index = kind.index(values[:1200], named and named[:1200])
            index.add(kind.rows(values[1200:], named and named[1200:]))
            index.remove(["i3"] if ids else [3])
            index.save(folder / f"{name}{'-ids' * ids}")
    sums = rng.normal(size=(60, 70)).astype(np.float32)
    words = np.packbits(sums > 0, axis=1, bitorder="little")
    wide = Signatures(np.pad(words, ((0, 0), (0, 7))).view(np.uint64), 70, volatility=sums)
    for name, made in {
        "flips": lambda: sosie.ProbeIndex(wide, Calibration(5, 0.9, 30, 3), [0, 69, 7, 8], FlipModel.of(wide)),
        "wide": lambda: sosie.MultiIndex(wide, tables=5),
        "wide-blocks": lambda: sosie.BlockIndex(wide, 2, 5, 3),
        "wide-slices": lambda: sosie.SliceIndex(wide, 5, sosie.SliceSearch(2, 20, "certain")),
        "wide-flat": lambda: sosie.FlatIndex(wide),
        "few": lambda: sosie.KeyIndex(sosie.Keys(rng.integers(0, 5, (50, 3), dtype=np.uint64))),
    }.items():
        made().save(folder / name)
    for task in ("search", "duplicates", "passages"):
        index = TextIndex.of(TEXTS, [f"t{i}" for i in range(len(TEXTS))], task=task, keep_texts=True, threads=1)
        index.remove(["t3"])
        index.save(folder / f"texts-{task}")


def attempt(folder, rng):
    """Change an index, write it with right checksums, load it, search it, change it and save it."""
    bases = folder / "bases"
    if not bases.exists():
        bases.mkdir()
        make_indexes(bases)
    base = rng.choice(sorted(bases.iterdir()))
    target, parts = folder / "crafted", [each for each in sorted(base.rglob(MANIFEST))]
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target)
    chosen = rng.choice(parts).parent.relative_to(base)
    craft(target / chosen, rng)
    are_texts = base.name.startswith("texts-")
    try:
        index = sosie.load_text_index(target) if are_texts else sosie.load_index(target)
    except sosie.StorageError as error:
        assert str(target) in str(error), "an error that does not say where"
        raise
    return use_texts(index, folder) if are_texts else use(index, folder)


def use(index, folder):
    """Ask an index for whatever it has."""
    repr(index)
    if hasattr(index, "candidates"):
        held = index.keys
        asked = sosie.Keys(held.values[:5], None)
        index.candidates(asked, threads=1)
        index.candidates(sosie.Keys(held.values[:70] ^ np.uint64(1)), exclude_self=True, threads=1)
    elif hasattr(index, "bags"):
        held = index.bags
        asked = sosie.Bags(held.features.take(np.arange(min(5, len(held)))))
        index.search(asked, 3, threads=1)
    else:
        held = index.signatures
        asked = sosie.Signatures(held.words[:5], held.bits)
        far = sosie.Signatures(held.words[:70][::-1] ^ np.uint64(1), held.bits)
        volatile = sosie.Signatures(asked.words, held.bits, volatility=np.ones((len(asked), held.bits), np.float32))
        for queries in (asked, far, volatile):
            index.search(queries, 3, threads=1)
            index.within(queries, min(3, held.bits), threads=1)
            index.within(queries, min(9, held.bits), first=True, threads=1)
            index.any_within(queries, min(4, held.bits), threads=1)
    added = type(asked)(*(vars(asked)[name] for name in list(vars(asked))[: 1 if hasattr(index, "candidates") else 2]))
    try:
        index.add(added if index.row_ids.numbered or hasattr(index, "bags") else _named(added))
        index.remove(index.row_ids.present[:1])
    except sosie.SosieError:
        pass
    shutil.rmtree(folder / "saved", ignore_errors=True)
    index.save(folder / "saved")
    return "opened"


def use_texts(index, folder):
    """Ask an index of texts for whatever it has."""
    repr(index)
    index.search(TEXTS[:2], 3, threads=1)
    index.search(index.sign(TEXTS[:2], ["t0", "x"], threads=1), 3, exclude_self=True, threads=1)
    for row in range(0, len(index.index.row_ids), 7):
        index.texts and index.texts.text(row)
    index.similarity([0, 1])
    index.margin([0, 1])
    try:
        index.add(index.sign(["a text that is new"], ["new"], threads=1))
        index.remove(["t1"])
    except sosie.SosieError:
        pass
    shutil.rmtree(folder / "saved", ignore_errors=True)
    index.save(folder / "saved")
    return "opened"


def _named(rows):
    made = [field.name for field in dataclasses.fields(rows) if field.name not in ("ids", "numbered", "space")]
    fields = {name: getattr(rows, name) for name in made}
    return type(rows)(**fields, ids=[f"new{i}" for i in range(len(rows))])


def craft(folder, rng):
    """Change values of an artefact, their types and shapes, and what its manifest says, with right checksums."""
    manifest, arrays = read(folder)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if not arrays or rng.random() < 0.35:
            _change_manifest(manifest, rng)
        else:
            _change_array(arrays, rng)
    write(folder, manifest, arrays)


def read(folder):
    """Return the manifest of an artefact and its arrays."""
    manifest = json.loads((folder / MANIFEST).read_text())
    arrays = {
        name: np.fromfile(folder / name, entry["dtype"]).reshape(entry["shape"])
        for name, entry in manifest["files"].items()
    }
    return manifest, arrays


def write(folder, manifest, arrays):
    """Write arrays and a manifest, with right checksums."""
    files = {}
    for name, array in arrays.items():
        content = np.ascontiguousarray(array).tobytes()
        (folder / name).write_bytes(content)
        files[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "bytes": len(content)}
        files[name]["crc32"] = zlib.crc32(content)
    manifest = {**{name: value for name, value in manifest.items() if name != "crc32"}, "files": files}
    (folder / MANIFEST).write_text(json.dumps({**manifest, "crc32": _checksum(manifest)}))


def _change_manifest(manifest, rng):
    kept = ("format", "version", "kind", "files", "crc32")
    holder = {name: value for name, value in manifest.items() if name not in kept}
    places = [(holder, name) for name in holder]
    for inner in places:  # grows: what is inside of what is inside
        value = inner[0][inner[1]]
        places += [(value, key) for key in (value if isinstance(value, dict) else range(_length(value)))]
    where, key = rng.choice(places)
    other = rng.choice(NUMBERS) if rng.random() < 0.6 else copy.deepcopy(rng.choice(OTHERS))
    where[key] = rng.choice(list(sosie.index.registry.CLASSES)) if key == "class" and rng.random() < 0.7 else other
    manifest.update(holder)


def _length(value):
    return len(value) if isinstance(value, list) else 0


def _change_array(arrays, rng):
    name = rng.choice(sorted(arrays))
    array, how = arrays[name], rng.random()
    if how < 0.6 and array.size:
        flat = array.reshape(-1)
        for _ in range(rng.choice((1, 1, 2, 5))):
            at = rng.randrange(flat.size)
            flat[at] = _value(flat, at, rng)
    elif how < 0.7 and array.size:
        flat = array.reshape(-1)
        others = np.zeros_like(array), flat[::-1].reshape(array.shape), np.full_like(array, flat[-1])
        arrays[name] = rng.choice(others)
    elif how < 0.8:
        more = rng.randrange(3)
        arrays[name] = array[: len(array) - more] if rng.random() < 0.5 else np.concatenate([array, array[:more]])
    elif how < 0.85:
        arrays[name] = rng.choice((array.reshape(-1), array[None], array.T, array[:0], array.reshape(-1, 1)))
    elif how < 0.93:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(rng.choice(DTYPES))
    elif how < 0.96:
        arrays[name] = np.empty((rng.choice((0, 3, 2**39)), 0), array.dtype)
    else:
        del arrays[name]


def _value(flat, at, rng):
    if flat.dtype.kind == "f":
        return rng.choice((np.nan, np.inf, -1, 0, 1e30))
    if flat.dtype.kind == "b":
        return not flat[at]
    limits, here = np.iinfo(flat.dtype), int(flat[at])
    near = here + 1, here - 1, int(flat[rng.randrange(flat.size)]), here ^ (1 << rng.randrange(8 * flat.itemsize - 1))
    value = rng.choice((0, 1, limits.max, limits.min, limits.max - 1, rng.randrange(2000), 1 << 20, *near))
    return max(limits.min, min(limits.max, value))
