"""The public names, and what importing them costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import sosie

HEAVY = {"numpy", "numba", "llvmlite", "pyarrow", "scipy", "click", "rich"}


def imported_by(code: str) -> set[str]:
    """The top-level modules that are loaded after running code in a fresh interpreter."""
    report = (
        f"import sys\n{code}\nprint('\\n'.join({{name.partition('.')[0] for name in sys.modules}}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stderr.split())


def test_importing_the_package_loads_the_standard_library_only():
    # What an interpreter loads by itself (.pth files of the environment) does not count.
    loaded = imported_by("import sosie") - imported_by("pass")
    assert loaded - set(sys.stdlib_module_names) == {"sosie"}


def test_the_help_loads_neither_numba_nor_arrow():
    code = "sys.argv = ['sosie', '--help']\nfrom sosie.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass"
    loaded = imported_by(code)
    assert "click" in loaded and loaded & HEAVY == {"click"}


def test_the_package_runs_as_a_module():
    asked = [sys.executable, "-m", "sosie", "--version"]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == f"sosie, version {sosie.__version__}"
    wrong = subprocess.run([*asked[:3], "no-such-command"], capture_output=True, text=True, timeout=120)
    assert wrong.returncode == 2 and "Usage: sosie" in wrong.stderr


def test_packages_for_stems_are_loaded_only_where_they_are_used():
    assert not imported_by("import sosie; sosie.Shingles().extract(['a b c'])") & {"Stemmer", "stopwordsiso"}
    assert "Stemmer" in imported_by("import sosie; sosie.Shingles(stem='en')")


def test_sparse_matrices_are_loaded_only_where_an_embedding_is_fitted():
    code = "import sosie; from sosie.signatures.registry import METHODS; spec = sosie.SvdEmbedding(dimensions=1)"
    imported_by(f"{code}; assert 'scipy.sparse' not in sys.modules")
    imported_by(f"{code}; spec.fit(['a b']); assert 'scipy.sparse' in sys.modules")


@pytest.mark.parametrize("name", sosie.__all__)
def test_every_public_name_resolves(name):
    value = getattr(sosie, name)
    assert name == "__version__" or value.__name__ == name
    assert name in dir(sosie)


def test_the_names_for_type_checkers_are_those_of_the_table():
    tree = ast.parse(Path(sosie.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    typed = {alias.asname: statement.module for statement in block.body for alias in statement.names}
    assert typed == sosie._homes()
    assert all(alias.name == alias.asname for statement in block.body for alias in statement.names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Sketch"):
        sosie.Sketch  # noqa: B018


def test_errors_are_one_family():
    for name in ("UsageError", "DataError", "StorageError", "MismatchError"):
        assert issubclass(getattr(sosie, name), sosie.SosieError)
    assert issubclass(sosie.UsageError, ValueError) and issubclass(sosie.MismatchError, ValueError)
