"""The verb `sign` on Spark: documents of a DataFrame become signatures or keys, where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sosie.documents.columns import joined_columns
from sosie.errors import UsageError
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.spark.documents import ID, TEXT, choose
from sosie.spark.travelling import Batches
from sosie.spark.work import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WORDS, KEYS = "words", "keys"  # the columns
SAID = "sosie"  # where the metadata of such a column says what it is


def sign(
    documents: DataFrame,
    method: Spec | Signer,
    *,
    keys: bool | None = None,
    text_column: str | Sequence[str] = "text",
    id_column: str | None = None,
) -> DataFrame:
    """Return the ids of documents with their signatures, in a column `words`, or with their `keys`.

    `method` is a spec, or a signer where the method needs statistics of a collection. Both columns are arrays of 64-bit
    integers with a sign, of the same bits as `Signatures.words` and `Keys.values`; null where a document has no
    features. `keys` are what a method makes that makes no signatures. The column says by which signer it was made.
    """
    chosen = choose(documents, text_column, id_column)
    signer = signer_of(method)
    makes = signer.spec.makes
    wanted = keys if keys is not None else "signatures" not in makes
    if ("keys" if wanted else "signatures") not in makes:
        raise UsageError(f"{signer.spec.method} makes {makes[0]}: leave keys out, or take another method")
    name = KEYS if wanted else WORDS
    kind = "string" if dict(documents.select(chosen.id).dtypes).popitem()[1] == "string" else "bigint"
    schema = f"id {kind}, {name} array<bigint>"
    made = run(chosen.of(documents), sign_texts, schema, signer, wanted, len(chosen.text))
    said = {"digest": signer.digest, "space": signer.space}
    if not wanted:
        said["bits"] = signer._bits
    return made.withMetadata(name, {SAID: said})


def signer_of(method: Any) -> Any:
    """Return a signer; a spec that needs statistics is refused."""
    if isinstance(method, Signer):
        return method
    if not isinstance(method, Spec):
        raise UsageError(f"sign takes a spec, as sosie.Simhash(bits=64), or a signer; got {type(method).__name__}")
    if method.needs_texts:
        raise UsageError(
            f"{method.method} needs statistics of a collection: fit it to some documents on one machine, as in"
            " spec.fit(texts), and give the signer"
        )
    return method.fit()


def sign_texts(batches: Batches, signer: Any, keys: bool, texts: int) -> Batches:
    """Sign the documents of a partition."""
    for batch in batches:
        column = joined_columns([batch.column(f"{TEXT}{place}") for place in range(texts)])
        signed = signer.rows(column.fill_null(""), keys=keys, threads=1)
        null = column.is_null().to_numpy(zero_copy_only=False)
        place, none = np.zeros(batch.num_rows, np.int64), np.ones(batch.num_rows, np.bool_)
        place[signed.documents], none[signed.documents] = np.arange(len(signed.documents)), False
        width = signed.rows.shape[1]
        values = pa.FixedSizeListArray.from_arrays(pa.array(signed.rows.reshape(-1).view(np.int64)), width)
        rows = values.cast(pa.list_(pa.int64())).take(pa.array(place, mask=none | null))
        ids = batch.column(ID)
        ids = ids.cast(pa.int64()) if pa.types.is_integer(ids.type) else ids
        yield pa.RecordBatch.from_arrays([ids, rows], ["id", KEYS if keys else WORDS])
