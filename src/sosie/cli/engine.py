"""The options that say what runs a job: this process, or Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sosie.cli.options import is_given
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.report.deduplication import Deduplication
from sosie.report.timing import Progress
from sosie.storage.output import Output

if TYPE_CHECKING:
    from sosie.spark.session import Engine

F = TypeVar("F", bound=Callable[..., Any])
_OF_SPARK = ("master", "scratch", "partitions", "spark_setting", "installed")


def engine_options(function: F) -> F:
    """Add what runs the job, and where."""
    for option in reversed(
        (
            click.option(
                "--engine",
                type=click.Choice(["process", "spark"]),
                default="process",
                show_default=True,
                help="What does the work: this process, or a cluster. The result is the same.",
            ),
            click.option(
                "--master",
                metavar="URL",
                default="local[*]",
                show_default=True,
                help="Spark: its master, as spark://host:7077, yarn, k8s://... or sc://host of Spark Connect.",
            ),
            click.option(
                "--scratch",
                metavar="FOLDER|URL",
                help="Spark: where stages are written, which all executors reach. [default: beside the output]",
            ),
            click.option("--partitions", type=click.IntRange(min=1), help="Spark: how many after a shuffle."),
            click.option(
                "--spark-setting",
                multiple=True,
                metavar="NAME=VALUE",
                help="Spark: a setting of the session, as spark.executor.memory=4g; can be repeated.",
            ),
            click.option("--installed", is_flag=True, help="Spark: the executors have Sosie: do not send it."),
        )
    ):
        function = option(function)
    return function


def engine_of(options: dict[str, Any]) -> Engine | None:
    """Return where a job runs by the options of a command, which are taken out; None for this process."""
    name = options.pop("engine")
    given = {each: options.pop(each) for each in _OF_SPARK}
    if name != "spark":
        for each in filter(is_given, _OF_SPARK):
            raise UsageError(f"--{each.replace('_', '-')} is for Spark: add --engine spark, or leave it out.")
        return None
    from sosie.spark.session import Engine

    settings = {}
    for setting in given["spark_setting"]:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--spark-setting {setting}: write NAME=VALUE, as in spark.executor.memory=4g.")
        settings[key.strip()] = value.strip()
    return Engine(given["master"], given["scratch"], given["partitions"], settings, send=not given["installed"])


def refuse_given(*names: str) -> None:
    """Refuse options that say nothing to Spark."""
    for name in filter(is_given, names):
        raise UsageError(f"--{name.replace('_', '-')}: is not for --engine spark. Leave one of the two out.")


def run_on(
    engine: Engine,
    source: Source,
    output: Output | None,
    threads: int | None,
    progress: Progress | None,
    **parameters: Any,
) -> Deduplication:
    """De-duplicate on Spark, which is loaded only here."""
    from sosie.spark.deduplicator import SparkDeduplicator

    job = SparkDeduplicator(**parameters)
    return job.run(source, engine=engine, output=output, threads=threads, progress=progress)
