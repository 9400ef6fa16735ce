"""Writing documents with decisions made up by a test."""

import numpy as np
import pyarrow as pa

from sosie.documents import DROPPED, KEPT, REJECTED, Decisions, write_documents


def reasons(reading, twins, similarity):
    """Return the columns that dropped documents get: the id of their twin, and the similarity."""

    def columns(rows):
        return pa.table({"duplicate_of": reading.ids.take(twins[rows]), "similarity": similarity[rows]})

    return columns


def all_kept(reading):
    """Return decisions that drop nothing."""
    count = reading.documents
    return Decisions(np.zeros(count, np.uint8), reasons(reading, np.zeros(count, np.int64), np.zeros(count)))


def write(source, dropped, out, **options):
    """Drop the documents `dropped` (number -> twin) and write the rest."""
    reading = source.batches()
    rejects = [reject.row for batch in reading for reject in batch.rejects]
    states = np.full(reading.documents, KEPT)
    states[rejects] = REJECTED
    twins, similarity = np.zeros(reading.documents, np.int64), np.zeros(reading.documents)
    for row, twin in dropped.items():
        states[row], twins[row], similarity[row] = DROPPED, twin, 0.5 + row / 64
    return write_documents(reading, Decisions(states, reasons(reading, twins, similarity)), out, **options)
