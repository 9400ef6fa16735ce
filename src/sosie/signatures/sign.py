"""Sign a stream of documents: one batch at a time, so that only the signatures stay in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sosie.documents.batch import Batches
from sosie.documents.rejects import RejectLog
from sosie.signatures.keeper import FeatureKeeper, TextKeeper
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.signatures.statistics import UnknownVocabularyError
from sosie.types import Keys, Signatures


def sign_documents(
    reading: Batches,
    signer: Spec | Signer | FeatureKeeper | TextKeeper,
    *,
    keys: bool = False,
    volatility: bool = False,
    log: RejectLog | None = None,
    threads: int | None = None,
    advance: Callable[[int], None] = lambda count: None,
) -> Signatures | Keys:
    """Sign every document; ids are those of the documents, `unsigned` lists document numbers without features.

    Documents of which none shares a word with the statistics of the signer are refused, however they are batched.
    """
    ready: Any = signer.fit() if isinstance(signer, Spec) else signer
    make = ready.keys if keys else ready.sign
    options: dict[str, Any] = {"volatility": True} if volatility else {}
    parts, unsigned, signed_rows = [], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    known, unknown = False, None
    for batch in reading:
        try:
            part = make(batch.texts, threads=threads, **options)
            known |= len(part) > 0
        except UnknownVocabularyError as error:
            part = error.signed
            unknown = error
        parts.append(part)
        unsigned.append(batch.rows[part.unsigned])
        signed_rows.append(np.delete(batch.rows, part.unsigned))
        if log is not None:
            log.add(batch.rejects)
        advance(len(batch) + len(batch.rejects))
    if unknown and not known:
        raise unknown
    if not parts:
        parts = [make([], **options)]
    ids = reading.ids.take(np.concatenate(signed_rows))
    missing = np.concatenate(unsigned)
    if keys:
        return Keys(np.concatenate([part.values for part in parts]), ids, ready.digest, missing)
    kept = np.concatenate([part.volatility for part in parts]) if volatility else None
    words = np.concatenate([part.words for part in parts])
    return Signatures(words, parts[0].bits, ids, ready.digest, missing, kept)
