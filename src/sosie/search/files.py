"""Indexes of texts as files: the index as it saves itself, and beside it its signer, texts and places."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sosie.errors import MismatchError, StorageError
from sosie.features.phrases import load_phrases
from sosie.index.files import KIND, load_index
from sosie.index.registry import KINDS
from sosie.index.words import WordIndex
from sosie.search.text_index import PARTS, PASSAGES, SIGNER, TEXTS, TextIndex
from sosie.search.texts import Texts
from sosie.search.windows import Places
from sosie.signatures.files import load_signer
from sosie.storage.manifest import read_artefact, read_manifest
from sosie.storage.output import OutputDirectory
from sosie.storage.working import lock_directory


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
    folder = Path(directory)
    index = load_index(folder)
    rows = len(index.row_ids)
    load: Any = load_phrases if isinstance(index, WordIndex) else load_signer
    signer = load(folder / SIGNER) if (folder / SIGNER).exists() else None
    kept = Texts.load(folder / TEXTS, rows) if texts and (folder / TEXTS).exists() else None
    places = Places.load(folder / PASSAGES, rows) if (folder / PASSAGES).exists() else None
    try:
        return TextIndex(index, signer, kept, places)
    except MismatchError as error:
        raise StorageError(f"{folder / SIGNER}: does not fit the index ({error}). Build it again.") from error


@contextmanager
def changing(
    directory: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]] = ()
) -> Iterator[tuple[TextIndex, OutputDirectory]]:
    """Yield an index and where it is written to when it was changed; it takes the place of the old one at the end.

    Whoever has the old one open goes on with it. One process at a time may change an index; `inputs` may not lie in it.
    """
    folder = Path(directory)
    read_manifest(folder, KIND)
    try:
        lock = lock_directory(folder)
    except (BlockingIOError, FileNotFoundError) as error:
        raise StorageError(f"{folder}: another process is changing this index. Try again when it is done.") from error
    try:
        index = load_text_index(folder)
        with OutputDirectory(folder, overwrite=True, inputs=inputs) as output:
            yield index, output
            index.write(output)
    finally:
        if lock is not None:
            os.close(lock)


def describe_index(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the manifests say of an index and the sizes of its parts; its arrays are not read."""
    folder = Path(directory)
    try:
        return _described(folder)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StorageError(f"{folder}: is not an index of this version ({error!r}). Build it again.") from error


def _described(folder: Path) -> dict[str, Any]:
    manifest = read_manifest(folder, KIND)
    removed = read_artefact(folder, KIND, ("removed",))[1]["removed"]
    parameters = dict(manifest["parameters"])
    parts = {part: read_manifest(folder / part, part) for part in PARTS if (folder / part).exists()}
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
