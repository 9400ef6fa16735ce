"""The session that the tests share is there, and Python works in it."""

import numpy as np
import pyarrow as pa


def test_a_function_of_arrow_batches_runs_where_the_data_is(spark):
    def doubled(batches):
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array(np.asarray(batch.column(0)) * 2)], ["twice"])

    frame = spark.createDataFrame(pa.table({"row": np.arange(1000)}))
    assert sorted(frame.mapInArrow(doubled, "twice long").toArrow()["twice"].to_pylist()) == list(range(0, 2000, 2))


def test_executors_have_the_package(spark):
    def named(batches):
        from sosie.kernels.sets.cluster import components

        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([components.__module__] * len(batch))], ["module"])

    frame = spark.range(2, numPartitions=2).mapInArrow(named, "module string")
    assert set(frame.toArrow()["module"].to_pylist()) == {"sosie.kernels.sets.cluster"}
