"""A small Spark session for tests: one for each process, in it a JVM that is ended with it."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sosie.spark.java import find_java

SRC = Path(__file__).resolve().parents[2] / "src"
PARTITIONS = 3
LEAN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # half the CPU of a short session

CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": LEAN,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executorEnv.PYTHONPATH": str(SRC),
    "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def started(master: str, folder: Path, conf: Mapping[str, str] | None = None) -> Iterator[Any]:
    """Yield a session on a master whose files lie in a folder; it and its JVM have ended when the block has."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    environment = {"JAVA_HOME": find_java(), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    places = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    try:
        builder = SparkSession.builder.master(master).appName("sosie-tests")
        session = builder.config(map={**CONF, **places, **(conf or {})}).getOrCreate()
        try:
            yield session
        finally:
            session.stop()
            _end(SparkContext)
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _end(context: Any) -> None:
    """End the JVM behind all sessions of this process, and forget it, so that another may be started."""
    gateway = context._gateway
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gateway.shutdown()
        if gateway.proc.stdin is not None:
            gateway.proc.stdin.close()  # the JVM ends when nobody is there any more
        try:
            gateway.proc.wait(20)
        except Exception:
            gateway.proc.kill()
            gateway.proc.wait()
        context._gateway = context._jvm = None
