import pytest

from sosie.errors import UsageError
from sosie.storage.size import parse_size, show_size


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 10**9), ("4 gb", 4 * 10**9), ("4GiB", 4 << 30), ("4G", 4 << 30), ("0.5M", 1 << 19), ("77", 77)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "4XB", "4 G B", "0", "nan", "1e9"])
def test_what_is_no_size(text):
    with pytest.raises(UsageError, match="is not a size"):
        parse_size(text)


def test_sizes_for_people():
    assert show_size(4 * 10**9) == "4.0 GB" and show_size(1500) == "0.0 MB"
