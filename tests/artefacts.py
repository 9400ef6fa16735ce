"""Saved artefacts, as tests look at them and damage them."""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def is_mapped(array: Any) -> bool:
    """Whether an array is a view of a mapped file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap.mmap)


def rewritten(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest and make its checksum right again."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    change(manifest)
    manifest.pop("crc32")
    plain = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    path.write_text(json.dumps({**manifest, "crc32": zlib.crc32(plain.encode())}), "utf-8")


def damages(path: Path) -> list[Callable[[], Any]]:
    """What may happen to a file: a bit flips, or it is gone."""
    content = path.read_bytes()
    return [lambda: path.write_bytes(content[:-1] + bytes([content[-1] ^ 1])), path.unlink]
