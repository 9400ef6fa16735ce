"""Writing documents with decisions made up by a test."""

import numpy as np

from sosie.documents import DROPPED, KEPT, REJECTED, Decisions, write_documents


def write(source, dropped, out):
    """Drop the documents `dropped` (number -> twin) and write the rest."""
    reading = source.batches()
    rejects = [reject.row for batch in reading for reject in batch.rejects]
    states = np.full(reading.documents, KEPT)
    states[rejects] = REJECTED
    twins, similarity = np.zeros(reading.documents, np.int64), np.zeros(reading.documents)
    for row, twin in dropped.items():
        states[row], twins[row], similarity[row] = DROPPED, twin, 0.5 + row / 64
    return write_documents(reading, Decisions(states, twins, similarity), out)
