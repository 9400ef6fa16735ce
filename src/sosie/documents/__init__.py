"""WHERE DO TEXTS COME FROM, AND GO? Read, number, check, reject, write: in order, in bounded memory."""

from sosie.documents.batch import Batch, Reject
from sosie.documents.ids import DocumentIds
from sosie.documents.order import Order
from sosie.documents.reading import Reading
from sosie.documents.rejects import RejectLog
from sosie.documents.source import Source
from sosie.documents.write import DROPPED, KEPT, REJECTED, Decisions, Written, write_documents

__all__ = [
    "DROPPED",
    "KEPT",
    "REJECTED",
    "Batch",
    "Decisions",
    "DocumentIds",
    "Order",
    "Reading",
    "Reject",
    "RejectLog",
    "Source",
    "Written",
    "write_documents",
]
