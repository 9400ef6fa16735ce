"""Record batches to their places: a file or a stream as the input is, with its schema, metadata and compression."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from sosie.documents.feather.read import layout_of, open_batches, read_whole_batches
from sosie.documents.share import ANNOTATED, COPIED, Share
from sosie.documents.tables.choose import choose_rows, widen_rows, wider_schema


def split_feather(share: Share, advance: Callable[[int], None]) -> int:
    """Write the rows of one input to their places; return how many it had."""
    source = share.source
    layout = layout_of(source)
    with open_batches(source, layout) as reader:
        schema = reader.schema
    make = pa.ipc.new_stream if layout.is_stream else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=layout.compression)
    done = 0
    with contextlib.ExitStack() as stack:

        def create(path: Path, columns: Any) -> Any:
            return stack.enter_context(make(stack.enter_context(pa.OSFile(str(path), "wb")), columns, options=options))

        wider = wider_schema(schema, share)
        copies = None if share.copies is None else create(share.copies, schema)
        annotated = None if share.annotated is None else create(share.annotated, wider)
        for batch in read_whole_batches(source, layout):
            place = share.places(done, batch.num_rows)
            if copies is not None:
                for part in choose_rows(batch, place == COPIED):
                    if part.num_rows:
                        copies.write_batch(part)
            if annotated is not None:
                for part in widen_rows(batch, place == ANNOTATED, share.columns(done, place), wider):
                    if part.num_rows:
                        annotated.write_batch(part)
            done += batch.num_rows
            advance(batch.num_rows)
    source.check_unchanged()
    return done
