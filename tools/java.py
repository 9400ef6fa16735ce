"""Find the Java that the tests of Spark need, or install it where root and apt are there; else say so."""

import os
import shutil
import subprocess
import sys

from sosie.errors import UsageError
from sosie.spark.java import find_java

PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless", "default-jre-headless")


def install() -> bool:
    """Install the first of the packages that this system has; return whether one is there now."""
    if os.environ.get("JAVA_HOME") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for update in (False, True):  # the lists of packages may be there and fresh enough
        if update:
            subprocess.run(["apt-get", "update", "-qq"], env=environment, **quiet)
        for package in PACKAGES:
            done = subprocess.run(["apt-get", "install", "-y", "-qq", package], env=environment, **quiet)
            if done.returncode == 0:
                return True
    return False


def main() -> int:
    """Return 0 if there is a Java, or the tests can be skipped without one; 1 where CI is set."""
    try:
        find_java()
    except UsageError as error:
        try:
            if not install():
                raise error
            find_java()
        except UsageError as still:
            print(f"{still}. Without it, the tests of Spark are skipped; where CI is set, they fail.", file=sys.stderr)
            return int("CI" in os.environ)
    return 0


if __name__ == "__main__":
    sys.exit(main())
