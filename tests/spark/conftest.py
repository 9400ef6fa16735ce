"""What tests on Spark share: one session for each process, and no Java is said clearly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.spark.session import started

from sosie.errors import UsageError
from sosie.spark.java import find_java

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves sockets to the garbage collector; these warnings are not ours."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(scope="session")
def java() -> str:
    """The home of the Java that Spark runs on; without one the tests are skipped, and fail where CI is set."""
    try:
        return find_java()
    except UsageError as error:
        if "CI" in os.environ:
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def spark(java: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session that all tests of a process share: two cores, and three partitions after a shuffle."""
    with started("local[2]", tmp_path_factory.mktemp("spark")) as session:
        yield session
