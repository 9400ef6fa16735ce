"""Sign a stream of documents: one batch at a time, so that only the signatures stay in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.types import Keys, Signatures


def sign_documents(
    reading: Reading,
    spec: Simhash | Minhash,
    *,
    keys: bool = False,
    volatility: bool = False,
    log: RejectLog | None = None,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Signatures | Keys:
    """Sign every document; ids are those of the documents, `unsigned` lists document numbers without features."""
    signer: Any = spec.fit()
    options: dict[str, Any] = {"volatility": True} if volatility else {}
    parts, unsigned, signed_rows = [], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for batch in reading:
        part = (signer.keys if keys else signer.sign)(batch.texts, threads=threads, **options)
        parts.append(part)
        unsigned.append(batch.rows[part.unsigned])
        signed_rows.append(np.delete(batch.rows, part.unsigned))
        if log is not None:
            log.add(batch.rejects)
        advance(len(batch) + len(batch.rejects))
    if not parts:
        parts = [(signer.keys if keys else signer.sign)([], **options)]
    ids = reading.ids.take(np.concatenate(signed_rows))
    missing = np.concatenate(unsigned)
    if keys:
        return Keys(np.concatenate([part.values for part in parts]), ids, spec.digest, missing)
    kept = np.concatenate([part.volatility for part in parts]) if volatility else None
    words = np.concatenate([part.words for part in parts])
    return Signatures(words, parts[0].bits, ids, spec.digest, missing, kept)
