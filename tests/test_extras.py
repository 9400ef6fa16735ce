"""What scripts import is declared: `make bench` and `make experiment` work with their own extras alone."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DISTRIBUTION = {
    "Stemmer": "pystemmer",
    "faiss": "faiss-cpu",
    "llvmlite": "numba",
    "py4j": "pyspark",
    "thot": "sil-thot",
}
OWN = {"sosie", "benchmarks", "experiments"}


def names(requirements):
    """Return the distributions that requirements name, those of their extras of Sosie included."""
    found = set()
    for requirement in requirements:
        name, extras = re.fullmatch(r"([\w-]+)(?:\[([\w,]+)\])?.*", requirement).groups()
        if name == PROJECT["name"]:
            for extra in extras.split(","):
                found |= names(PROJECT["optional-dependencies"][extra])
        else:
            found.add(name.lower())
    return found


def imported(folder):
    """Return the packages that the files of a folder import, anywhere in them."""
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add((node.module or "").partition(".")[0])
    return found - OWN - sys.stdlib_module_names


@pytest.mark.parametrize(("folder", "extra"), [("benchmarks", "bench"), ("experiments", "experiments")])
def test_every_import_of_a_script_is_declared(folder, extra):
    declared = names(PROJECT["dependencies"]) | names(PROJECT["optional-dependencies"][extra])
    needed = {DISTRIBUTION.get(name, name).lower() for name in imported(ROOT / folder)}
    assert needed <= declared


def test_every_import_of_the_package_is_declared():
    every = names(PROJECT["dependencies"]).union(*map(names, PROJECT["optional-dependencies"].values()))
    assert {DISTRIBUTION.get(name, name).lower() for name in imported(ROOT / "src")} <= every
