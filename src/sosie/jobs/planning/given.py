"""What a plan is given: signatures, or documents."""

from __future__ import annotations

import os
from typing import Any

from sosie.documents.memory.listed import Paths
from sosie.documents.source import Source, as_source
from sosie.errors import UsageError
from sosie.jobs.inputs import are_signatures
from sosie.signatures.files import load_signatures
from sosie.types import Keys, Signatures


def take(given: Any) -> Signatures | Source:
    """Return signatures, or those that were saved in a directory, as they are; whatever else as a source of documents.

    >>> import numpy as np
    >>> take(Signatures(np.arange(3, dtype=np.uint64))).bits, type(take(["a rose", "a nose"])).__name__
    (64, 'Source')
    """
    paths = list(given) if isinstance(given, Paths) else [given] if isinstance(given, str | os.PathLike) else []
    if paths and are_signatures(paths):
        given = load_signatures(paths[0])
    if isinstance(given, Keys):
        raise UsageError("a plan is of documents or of signatures; keys are joined in one way alone")
    return given if isinstance(given, Signatures) else as_source(given)
