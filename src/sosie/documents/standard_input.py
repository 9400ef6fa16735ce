"""Standard input, kept in a temporary file, because inputs are read twice."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from typing import Any

from sosie.documents.formats import SUFFIXES
from sosie.documents.input import Entry
from sosie.errors import UsageError
from sosie.storage.durable import naming

ARGUMENT = "-"
LABEL = "stdin"  # in ids and names of files
STANDARD = "standard input"  # in messages
_CHUNK = 1 << 20
_SUFFIX = {kind: suffix for suffix, kind in reversed(SUFFIXES.items())}
# One file for each stream: what was read once cannot be read again.
_spooled: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


def spool_standard_input(kind: str) -> Entry:
    """Copy standard input to a temporary file, to be read as this kind; it is removed when the process ends."""
    stream = sys.stdin
    if stream is None or stream.closed:
        raise UsageError(f"{STANDARD}: there is none. Name a file instead of -, or pipe something in.")
    if not hasattr(stream, "buffer"):
        raise UsageError(f"{STANDARD}: is text, not bytes. Replace sys.stdin by a stream that has a buffer.")
    path = _spooled.get(stream)
    if path is None:
        path = _spooled[stream] = _copy(stream)
    status = os.stat(path)
    return Entry(path, f"{LABEL}{_SUFFIX[kind]}", ARGUMENT, kind, None, status.st_size, status.st_mtime_ns, None, True)


def _copy(stream: Any) -> str:
    with naming(tempfile.gettempdir()):
        descriptor, path = tempfile.mkstemp("", "sosie-stdin-")
    weakref.finalize(stream, _remove, path)
    try:
        with open(descriptor, "wb") as file, naming(path):
            shutil.copyfileobj(stream.buffer, file, _CHUNK)
    except BaseException:
        _remove(path)
        raise
    return path


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
