"""Indexes of texts as files: the index as it saves itself, and beside it its signer, texts and places."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sosie.errors import MismatchError, StorageError
from sosie.features.phrases import load_phrases
from sosie.index.files import KIND, check_parts, load_index
from sosie.index.registry import KINDS
from sosie.index.words import WordIndex
from sosie.search.text_index import PARTS, PASSAGES, SIGNER, TEXTS, TextIndex
from sosie.search.texts import Texts
from sosie.search.windows import Places
from sosie.signatures.files import load_signer
from sosie.storage.claim import claimed
from sosie.storage.durable import naming
from sosie.storage.folder import Folder, read_folder
from sosie.storage.manifest import read_artefact, read_manifest
from sosie.storage.output import OutputDirectory
from sosie.storage.replace import restore


def load_text_index(directory: str | os.PathLike[str], *, texts: bool = True) -> TextIndex:
    """Open an index that `sosie index` wrote, or any saved one: checked, then mapped; without `texts` they are not.

    >>> import tempfile
    >>> import numpy as np
    >>> from sosie.index.flat import FlatIndex
    >>> from sosie.types import Signatures
    >>> folder = tempfile.mkdtemp()
    >>> FlatIndex(Signatures(np.array([5, 6], np.uint64))).save(folder)
    >>> len(load_text_index(folder)), load_text_index(folder).has_signer
    (2, False)
    """
    return read_folder(directory, lambda folder: _load(folder, texts))


def _load(folder: Folder, texts: bool) -> TextIndex:
    index = load_index(folder)
    rows = len(index.row_ids)
    load: Any = load_phrases if isinstance(index, WordIndex) else load_signer
    parts = _parts(folder, read_manifest(folder, KIND))
    signer = kept = places = None
    if SIGNER in parts:
        with folder.inside(SIGNER) as part:
            signer = load(part)
    if texts and TEXTS in parts:
        with folder.inside(TEXTS) as part:
            kept = Texts.load(part, rows)
    if PASSAGES in parts:
        with folder.inside(PASSAGES) as part:
            places = Places.load(part, rows)
    try:
        return TextIndex(index, signer, kept, places)
    except MismatchError as error:
        raise StorageError(f"{folder.path / SIGNER}: does not fit the index ({error}). Build it again.") from error


def _parts(folder: Folder, manifest: dict[str, Any]) -> list[str]:
    """Return the folders beside the files of an index: those that its manifest names, and no others."""
    found = [part for part in PARTS if folder.holds(part)]
    named = manifest.get("parts")
    if named is None:  # of a version that did not name them
        if len(found) < len(PARTS) and folder.is_replaced:
            raise StorageError(f"{folder}: is being removed, because another took its place. Open it again.")
        return found
    for part in found:
        if part not in named:
            raise StorageError(f"{folder.path / part}: does not fit the index, which has none. Remove it.")
    return [part for part in PARTS if part in named]


@contextmanager
def changing(
    directory: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> Iterator[tuple[TextIndex, OutputDirectory]]:
    """Yield an index and where it is written to when it was changed; it takes the place of the old one at the end.

    Whoever has the old one open goes on with it. One process at a time may change an index; `inputs` may not lie in it.
    """
    folder = Path(os.path.realpath(directory))
    with ExitStack() as stack:
        with naming(folder):
            restore(folder)
            read_manifest(directory, KIND)
            claim = stack.enter_context(claimed(folder, "index"))
        index = load_text_index(directory)
        with OutputDirectory(folder, overwrite=True, inputs=inputs, claim=claim) as output:
            yield index, output
            index.write(output)


def describe_index(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the manifests say of an index and the sizes of its parts; its arrays are not read."""
    try:
        return read_folder(directory, _described)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{directory}: is not an index of this version ({error!r}). Build it again.") from error


def _described(folder: Folder) -> dict[str, Any]:
    manifest = read_manifest(folder, KIND)
    check_parts(folder, manifest.get("parts"))
    removed = read_artefact(folder, KIND, ("removed",))[1]["removed"]
    parameters = dict(manifest["parameters"])
    parts = {}
    for name in _parts(folder, manifest):
        with folder.inside(name) as part:
            parts[name] = read_manifest(part, name)
    kind = next((name for name, kind in KINDS.items() if kind.name == manifest["class"]), None)
    said = {"kind": kind, "class": manifest["class"], "version": manifest["version"]}
    said |= {"rows": manifest["rows"] - len(removed), "removed": len(removed), "ids": manifest["id_type"] or "numbers"}
    said |= {name: parameters.pop(name) for name in ("bits", "tables") if name in parameters}
    said |= {"parameters": {name: value for name, value in parameters.items() if name != "runs"}}
    said |= {"digest": manifest["digest"], "spec": parts[SIGNER]["spec"] if SIGNER in parts else None}
    passages = parts.get(PASSAGES)
    said["passages"] = passages and {name: passages[name] for name in ("words", "overlap")}
    listed = {"index": manifest, **parts}
    said["bytes"] = {name: sum(file["bytes"] for file in each["files"].values()) for name, each in listed.items()}
    return said
