"""A path that exists is that file, whatever letters are in its name; only others are patterns."""

from pathlib import Path

import pytest

from sosie.documents.inputs import list_inputs
from sosie.documents.places.selection import FileOptions
from sosie.errors import UsageError

NAMES = ["*.txt", "a[1].txt", "b?.txt", "[x].txt", "a1.txt", "bb.txt", "d[1]/*.txt", "d[1]/plain.txt", "d1/other.txt"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)


def names(*arguments: str, **options) -> list[str]:
    return [name for place in list_inputs(arguments, FileOptions(**options)) for name in place.files.names]


@pytest.mark.parametrize("name", ["*.txt", "a[1].txt", "b?.txt", "[x].txt"])
def test_a_name_with_signs_of_patterns(name):
    assert names(name) == [name] == names(str(Path(name).absolute()))


def test_a_folder_with_signs_of_patterns():
    assert names("d[1]") == ["*.txt", "plain.txt"]
    assert names("d[1]/*.txt") == ["*.txt"]
    assert names("d[1]/*") == ["*.txt", "plain.txt"] == names("d[1]/**")
    assert names("d[1]/p*", include=["plain*"]) == ["plain.txt"]
    with pytest.raises(UsageError, match=r"^d\[1\]/none\.txt: no such file"):
        names("d[1]/none.txt")


def test_others_are_patterns():
    assert names("b*.txt") == ["b?.txt", "bb.txt"] and names("[ab]*.txt") == ["a1.txt", "a[1].txt", "b?.txt", "bb.txt"]
    with pytest.raises(UsageError, match=r"^\[: matches no file"):
        names("[")
