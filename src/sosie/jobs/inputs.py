"""What inputs are: documents, or signatures that were saved; whatever else Sosie wrote is refused by name."""

from __future__ import annotations

import os
from collections.abc import Sequence

from sosie.errors import UsageError
from sosie.signatures.files import KIND as SIGNATURES
from sosie.storage.manifest import artefact_kind

StrPath = str | os.PathLike[str]

_OTHERS = {
    "index": "an index: `sosie search` asks it",
    "store": "a store: `sosie batch` matches new documents with it",
    "signer": "a signer: `sosie sign --signer` signs documents with it",
}


def is_signatures(path: StrPath) -> bool:
    """Whether a path is a directory of signatures or keys, and not documents; another artefact of Sosie's is refused.

    A folder of documents may have a `manifest.json` of its own.
    """
    kind = artefact_kind(path)
    if kind in (None, SIGNATURES):
        return kind is not None
    what = _OTHERS.get(str(kind), f"what Sosie calls {kind!r}")
    raise UsageError(f"{path}: holds {what}. Give documents, or a directory of signatures that `sosie sign` wrote.")


def are_signatures(paths: Sequence[StrPath]) -> bool:
    """Whether inputs are one directory of signatures, and not documents; both together are refused."""
    saved = [is_signatures(path) for path in paths]
    if any(saved) and len(paths) > 1:
        raise UsageError(f"{paths[saved.index(True)]}: give one directory of signatures, or documents, and not both")
    return any(saved)
