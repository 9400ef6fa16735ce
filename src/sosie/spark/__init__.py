"""THE SAME ON A CLUSTER? The verbs on Spark: DataFrames in, DataFrames out, pair for pair what one machine finds."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sosie.spark import engine

if TYPE_CHECKING:
    from sosie.spark.joining import Joined as Joined
    from sosie.spark.joining import join as join
    from sosie.spark.joining import verify as verify
    from sosie.spark.package import ship as ship
    from sosie.spark.signing import sign as sign
    from sosie.spark.tagged import Tagged as Tagged
    from sosie.spark.tagged import dedup as dedup

_HOMES = {
    "Joined": "sosie.spark.joining",
    "Tagged": "sosie.spark.tagged",
    "dedup": "sosie.spark.tagged",
    "join": "sosie.spark.joining",
    "ship": "sosie.spark.package",
    "sign": "sosie.spark.signing",
    "verify": "sosie.spark.joining",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a verb when it is first used: only then PySpark is needed."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sosie.spark' has no attribute {name!r}")
    engine.load()
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
