"""PySpark itself: loaded when it is needed, its version checked, and what it says turned into errors with names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sosie import errors
from sosie.errors import SosieError, StorageError, UsageError
from sosie.spark.travelling import BEGIN, END

OLDEST = 4  # of PySpark
INSTALL = "Run: pip install 'sosie[spark]'"
_SAID = re.compile(rf"{re.escape(BEGIN)}(\w+): (.*?){re.escape(END)}", re.DOTALL)
_LOST = (
    "Connection refused",
    "Failed to connect",
    "All masters are unresponsive",
    "SparkContext was shut down",
    "UNAVAILABLE",
)


def load() -> Any:
    """Return the module `pyspark.sql`; say what to install where it is missing or too old."""
    try:
        import pyspark
        import pyspark.sql
    except ImportError as error:
        raise UsageError(f"sosie.spark needs the package pyspark ({error}). {INSTALL}") from error
    if int(pyspark.__version__.split(".")[0]) < OLDEST:
        raise UsageError(f"sosie.spark needs pyspark {OLDEST} or newer, and {pyspark.__version__} is here. {INSTALL}")
    return pyspark.sql


def check_frame(frame: Any) -> None:
    """Refuse what is no DataFrame of Spark."""
    if not isinstance(frame, load().DataFrame):
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise UsageError(
            f"sosie.spark takes a DataFrame of Spark, got {kind}: make one with spark.createDataFrame or spark.read, or"
            " use sosie.dedup, which takes all that is in memory"
        )


@contextmanager
def named(scratch: str = "") -> Iterator[None]:
    """Turn what Spark raises, with a page of Java, into what a task has raised, or an error that says what to do."""
    load()
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except SosieError:
        raise
    except (PySparkException, Py4JError, ConnectionError) as error:
        known = _known(_text(error), scratch)
        if known is None:
            raise
        raise known from error


def _text(error: Exception) -> str:
    """Return what an error says; some of PySpark's fail to say anything once their session is gone."""
    try:
        return str(error)
    except Exception:
        return repr(error.__cause__ or type(error))


def _known(said: str, scratch: str) -> SosieError | None:
    """Return the error that is behind what Spark says, if it is one of those that people can cure."""
    found = _SAID.search(said)
    if found is not None:
        kind = getattr(errors, found[1], errors.SosieError)
        return kind(found[2])
    if "No space left on device" in said or "Disk quota exceeded" in said:
        place = f"the folder of the stages ({scratch}) has no more room" if scratch else "there is no more room"
        return StorageError(
            f"a disk is full: {place}, or the local folder of an executor (spark.local.dir) has none. Make room, or"
            " name another folder: scratch= (--scratch)"
        )
    if "FILE_NOT_EXIST" in said and scratch and scratch in said:
        return StorageError(f"{scratch}: a file that an earlier stage wrote is gone. Start again.")
    lost = next((each for each in _LOST if each in said), None)
    if lost is not None:
        return UsageError(f"the Spark session is gone, or its master cannot be reached ({lost}): start it again")
    return None
