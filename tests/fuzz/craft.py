"""Artefacts made wrong: damaged, so that a checksum tells; or crafted, with checksums that are right."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.artefacts import rewritten
from tests.fuzz.mutate import mutated, mutated_json
from tests.fuzz.target import Case

MANIFEST = "manifest.json"


def damaged(random: Random, seed: Path, folder: Path, files: str = "**/*") -> Case:
    """Copy an artefact and change the bytes of one of its files, or cut it."""
    path = folder / seed.name
    shutil.copytree(seed, path)
    file = random.choice(sorted(each for each in path.glob(files) if each.is_file()))
    whole = file.read_bytes()
    if random.random() < 0.6 and whole:
        changed = bytearray(whole)
        changed[random.randrange(len(whole))] ^= 1 << random.randrange(8)
        file.write_bytes(changed)
    else:
        file.write_bytes(mutated(random, whole, [whole[::-1]], [b"\0", b"{", b"}", b'"', b"null"]))
    return Case(path)


def crafted(random: Random, seed: Path, others: list[Path], folder: Path) -> Case:
    """Copy an artefact, change arrays, the manifest or a part of it, and make all checksums right."""
    path = folder / seed.name
    shutil.copytree(seed, path)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        place = random.choice(sorted(manifest.parent for manifest in path.rglob(MANIFEST)))
        way = random.random()
        if way < 0.6 and len(list(place.iterdir())) > 1:
            _craft_array(random, place)
        elif way < 0.9:
            _craft_manifest(random, place)
        else:
            _exchange(random, path, random.choice(others))
    return Case(path, crafted=True)


def _craft_array(random: Random, place: Path) -> None:
    listed = _listed(place)
    if not listed:
        return
    name = random.choice(sorted(listed))
    entry = listed[name]
    try:
        array, sides = np.frombuffer((place / name).read_bytes(), entry["dtype"]).copy(), [*entry["shape"]]
        rest = int(np.prod(sides[1:])) or 1
    except (KeyError, OSError, TypeError, ValueError):
        return  # an earlier change has made it something else
    array = _changed(random, array)
    (place / name).write_bytes(array.tobytes())

    def said(manifest: dict[str, Any]) -> None:
        whole = array.size % rest == 0
        shape = [array.size // rest, *sides[1:]] if sides and whole else [array.size]
        crc = zlib.crc32(array.tobytes())
        manifest["files"][name] = {"dtype": array.dtype.str, "shape": shape, "bytes": array.nbytes, "crc32": crc}

    rewritten(place, said)


def _changed(random: Random, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array with other numbers, at the bounds of what there may be, or with more or fewer of them."""
    size, way = array.size, random.random()
    if not size or way < 0.1:
        return np.append(array, np.zeros(random.choice((1, 8)), array.dtype))
    if way < 0.2:
        return array[: random.randrange(size)]
    if way < 0.25:
        return array.astype(random.choice(["|u1", "<u4", "<i8", "<u8", "<f8", "<i4"]))
    if way < 0.35:
        return np.array(random.sample(array.tolist(), size), array.dtype)
    if array.dtype.kind == "b":
        return ~array
    limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(array.dtype)
    for _ in range(random.choice((1, 1, 2, 16))):
        at, other = random.randrange(size), array[random.randrange(size)].item()
        values = [
            limits.min,
            limits.max,
            0,
            1,
            size,
            size + 1,
            size - 1,
            other,
            other + 1,
            other - 1,
            2**31,
            2**32 - 1,
            2**62,
        ]
        if array.dtype.kind == "f":
            values += [float("nan"), float("inf"), -1.0]
        value = random.choice(values)
        array[at] = value if limits.min <= value <= limits.max or value != value else limits.max
    return array


def _craft_manifest(random: Random, place: Path) -> None:
    """Change what the manifest says; mostly not its list of files, which is checked against them."""

    def change(manifest: dict[str, Any]) -> None:
        names = [name for name in manifest if name not in ("format", "version", "kind", "crc32")]
        name = random.choice([name for name in names if name != "files" or random.random() < 0.1] or names)
        if random.random() < 0.1:
            del manifest[name]
        else:
            manifest[name] = mutated_json(random, manifest[name])

    rewritten(place, change)


def _exchange(random: Random, path: Path, other: Path) -> None:
    """Replace a file, or a part, by that of another artefact."""
    names = sorted({each.name for each in path.iterdir()} & {each.name for each in other.iterdir()})
    name = random.choice(names)
    if (other / name).is_dir():
        shutil.rmtree(path / name)
        shutil.copytree(other / name, path / name)
        return
    shutil.copyfile(other / name, path / name)
    entry = _listed(other).get(name)
    if entry and _listed(path):
        rewritten(path, lambda manifest: manifest["files"].update({name: entry}))


def _listed(place: Path) -> dict[str, Any]:
    """Return the files that a manifest lists, as far as it still does."""
    files = json.loads((place / MANIFEST).read_text("utf-8")).get("files")
    return {name: entry for name, entry in files.items() if isinstance(entry, dict)} if isinstance(files, dict) else {}
