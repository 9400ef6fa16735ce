"""What a search found, as a table of ids; and the texts behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sosie.documents.source import Source
from sosie.errors import DataError, UsageError
from sosie.search.entries import Entries
from sosie.search.excerpts import find_excerpt, whole_excerpt
from sosie.search.text_index import TextIndex
from sosie.search.windows import Windows, documents_of
from sosie.types import Matches


def match_table(index: TextIndex, queries: Entries, matches: Matches) -> Any:
    """Return matches as query, id, rank (from 1) and how similar they are: truly, or by an estimate and its margin.

    An estimate comes with the distance that it is made of; a distance of rows whose signer is unknown comes alone.
    Passages also say where they are in which document: document, start, end.
    """
    sizes = np.diff(matches.offsets)
    ranks = np.arange(len(matches.rows)) - np.repeat(matches.offsets[:-1], sizes) + 1
    columns = {
        "query": queries.signed.ids.take(pa.array(np.repeat(np.arange(len(matches)), sizes))),
        "id": matches.ids,
        "rank": pa.array(ranks, pa.int64()),
    }
    if matches.similarities is not None:
        columns["similarity"] = pa.array(matches.similarities.round(4), pa.float64())
    else:
        columns["distance"] = pa.array(matches.distances, pa.int32())
        if (similarity := index.similarity(matches.distances)) is not None:
            columns["estimated_similarity"] = pa.array(similarity, pa.float64())
            columns["margin"] = pa.array(index.margin(matches.distances), pa.float64())
    if index.places is not None:
        columns["document"] = documents_of(matches.ids)
        columns |= {
            "start": pa.array(index.places.starts[matches.rows]),
            "end": pa.array(index.places.ends[matches.rows]),
        }
    return pa.table(columns)


def with_passages(
    table: Any,
    index: TextIndex,
    queries: Entries,
    matches: Matches,
    windows: Windows,
    documents: Source | None = None,
) -> Any:
    """Return the table with the passage of each match that is most like its query, where it is, and what it shares.

    `shared` are spans of characters of the passage. Texts are those that the index keeps, or of the documents.
    """
    if queries.texts is None:
        raise UsageError("passages are compared with the texts of the queries: give texts or documents, not signatures")
    ids = matches.ids if index.places is None else documents_of(matches.ids)
    held = None if documents is None else _texts_by_id(documents, ids)
    shingles, excerpts = index.shingles, []
    asked = np.repeat(np.arange(len(matches)), np.diff(matches.offsets))
    for query, row, name in zip(asked.tolist(), matches.rows.tolist(), ids.to_pylist(), strict=True):
        text, question = _text(index, row, None if held is None else held[str(name)]), queries.texts.text(query)
        if index.places is None:
            excerpts.append(find_excerpt(question, text, shingles, windows))
        else:
            excerpts.append(whole_excerpt(question, text, int(index.places.starts[row]), shingles))
    added = {
        "passage": pa.array([each.text for each in excerpts], pa.large_string()),
        "start": pa.array([each.start for each in excerpts], pa.int64()),
        "end": pa.array([each.end for each in excerpts], pa.int64()),
        "shared": pa.array([each.shared for each in excerpts], pa.list_(pa.list_(pa.int64()))),
    }
    return pa.table({**{name: table[name] for name in table.column_names if name not in added}, **added})


def _text(index: TextIndex, row: int, document: str | None) -> str:
    """Return the text of a row, kept with the index or out of its document."""
    if document is None:
        if index.texts is None:
            raise UsageError("the index keeps no texts: build it with --keep-texts, or give --documents")
        return index.texts.text(row)
    return document if index.places is None else document[index.places.starts[row] : index.places.ends[row]]


def _texts_by_id(documents: Source, ids: Any) -> dict[str, str]:
    """Read the texts of some documents by their ids; one that is not there raises."""
    reading = documents.batches()
    wanted = ids.cast(pa.large_string()).unique()
    texts: dict[str, str] = {}
    for batch in reading:
        names = reading.ids.take(batch.rows).cast(pa.large_string())
        here = pc.is_in(names, wanted)
        texts.update(zip(names.filter(here).to_pylist(), batch.texts.filter(here).to_pylist(), strict=True))
    missing = [name for name in wanted.to_pylist() if name not in texts]
    if missing:
        raise DataError(f"--documents: {len(missing)} of the matches are not there, as {missing[0]!r}. Give all files.")
    return texts
