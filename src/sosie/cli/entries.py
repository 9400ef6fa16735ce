"""Documents or saved signatures: what the commands about indexes take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sosie.cli.options import is_given
from sosie.errors import MismatchError, UsageError
from sosie.search.entries import Entries
from sosie.search.windows import Windows
from sosie.signatures.files import load_signatures
from sosie.storage.manifest import MANIFEST


def is_saved(inputs: tuple[str, ...]) -> bool:
    """Whether the inputs are a directory that `sosie sign` wrote, and not documents; both together are refused."""
    saved = [os.path.exists(os.path.join(path, MANIFEST)) for path in inputs]
    if any(saved) and len(inputs) > 1:
        raise UsageError(f"{inputs[saved.index(True)]}: give one directory of signatures, or documents, and not both")
    return any(saved)


def saved_entries(path: str, options: dict[str, Any], own: tuple[str, ...]) -> Entries:
    """Return saved signatures or keys; options that say how documents are read or signed are refused."""
    given = [name for name in options if name not in own and is_given(name)]
    if given:
        named = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{named}: for documents; {path} holds signatures, which are taken as they are")
    return Entries(load_signatures(path))


def windows_of(options: dict[str, Any], words: int) -> Windows:
    """Return how texts are cut into passages: of so many words, which neighbours share by half, if nothing is said."""
    length = words if options["words"] is None else options["words"]
    return Windows(length, length // 2 if options["overlap"] is None else options["overlap"])


@contextmanager
def naming_index(directory: str) -> Iterator[None]:
    """Let what does not fit an index say which index that is."""
    try:
        yield
    except MismatchError as error:
        raise MismatchError(f"{directory}: {error}") from error
