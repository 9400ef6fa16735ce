"""Java, which Spark runs on: found where it usually is, and asked for its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from sosie.errors import UsageError

OLDEST = 17  # that Spark 4 runs on
_HOMES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)
_REMEDY = "install it (Debian: apt-get install openjdk-17-jre-headless), or say where it is: JAVA_HOME=/path/to/java"


def find_java(environment: Mapping[str, str] = os.environ, homes: tuple[str, ...] = _HOMES) -> str:
    """Return the home of a Java that is new enough: JAVA_HOME if it is set, else on the path, else in the usual places.

    One that JAVA_HOME names and that is too old is refused, since Spark would take it.
    """
    said = environment.get("JAVA_HOME")
    if said:
        version = java_version(said)
        if version is None:
            raise UsageError(f"JAVA_HOME is {said}, and there is no Java: {_REMEDY}")
        if version < OLDEST:
            raise UsageError(f"JAVA_HOME is {said}, a Java {version}, and Spark needs {OLDEST} or newer: {_REMEDY}")
        return said
    older = []
    for home in _places(environment, homes):
        version = java_version(home)
        if version is not None and version >= OLDEST:
            return home
        older += [] if version is None else [f"{version} in {home}"]
    found = f"found only Java {' and '.join(older)}" if older else "found none"
    raise UsageError(f"Spark needs Java {OLDEST} or newer, {found}: {_REMEDY}")


def java_version(home: str) -> int | None:
    """Return the version of the Java in a directory, 8 for what calls itself 1.8; None where there is none."""
    try:
        said = subprocess.run(
            [str(Path(home) / "bin" / "java"), "-version"], capture_output=True, text=True, errors="replace", timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return None if match is None or said.returncode else int(match[1])


def _places(environment: Mapping[str, str], homes: tuple[str, ...]) -> Iterator[str]:
    """Yield directories that may be homes of a Java, each once."""
    seen = set()
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    places = [] if on_path is None else [Path(on_path).resolve().parent.parent]
    for pattern in homes:
        place = Path(pattern).expanduser()
        places += sorted(Path(place.anchor).glob(str(place.relative_to(place.anchor))))
    for place in places:
        if (home := place.resolve()) not in seen and (home / "bin" / "java").exists():
            seen.add(home)
            yield str(home)
