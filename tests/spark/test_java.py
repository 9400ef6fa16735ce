"""Java is found where it is, or it is said what is missing."""

import os
from pathlib import Path

import pytest

from sosie.errors import UsageError
from sosie.spark.java import find_java, java_version


def made(home: Path, version: str) -> str:
    """Make the home of something that says it is a Java of some version."""
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    return str(home.resolve())


@pytest.mark.parametrize(("said", "version"), [("17.0.15", 17), ("1.8.0_392", 8), ("25", 25), ("21-ea", 21)])
def test_versions_as_they_are_said(tmp_path, said, version):
    assert java_version(made(tmp_path / "java", said)) == version


def test_what_is_no_java_has_no_version(tmp_path):
    assert java_version(str(tmp_path)) is None
    broken = Path(made(tmp_path / "broken", "17"))
    (broken / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    assert java_version(str(broken)) is None


def test_the_first_that_is_new_enough(tmp_path):
    older, newer = made(tmp_path / "jvm" / "8", "1.8.0_392"), made(tmp_path / "jvm" / "21", "21.0.2")
    everywhere = (str(tmp_path / "jvm" / "*"),)
    assert find_java({"PATH": f"{older}/bin{os.pathsep}{tmp_path}"}, everywhere) == newer
    assert find_java({"PATH": f"{newer}/bin"}, ()) == newer
    assert find_java({"JAVA_HOME": newer, "PATH": f"{older}/bin"}, ()) == newer


def test_what_is_missing_is_said(tmp_path):
    older = made(tmp_path / "8", "1.8.0_392")
    with pytest.raises(UsageError, match=r"needs Java 17 or newer, found none: install it"):
        find_java({}, ())
    with pytest.raises(UsageError, match=rf"found only Java 8 in {older}"):
        find_java({"PATH": f"{older}/bin"}, ())
    with pytest.raises(UsageError, match=rf"JAVA_HOME is {older}, a Java 8, and Spark needs 17"):
        find_java({"JAVA_HOME": older}, (str(tmp_path / "*"),))
    with pytest.raises(UsageError, match=r"JAVA_HOME is /nowhere, and there is no Java"):
        find_java({"JAVA_HOME": "/nowhere"}, ())
