"""What can go wrong, by name.

Every message says what was wrong, where (file, line, column, id) and what to do about it.
The command line turns a `UsageError` into exit code 2 and any other `SosieError` into exit code 1.
"""

from __future__ import annotations

from typing import Any

from sosie.shown import printable


class SosieError(Exception):
    r"""The base of every error that Sosie raises on purpose.

    Messages hold names and values from files: what could be a command to a terminal is written as an escape.

    >>> print(SosieError("a\x1b[2J.csv: is empty."))
    a\x1b[2J.csv: is empty.
    """

    def __init__(self, *said: Any) -> None:
        super().__init__(*(printable(each) if isinstance(each, str) else each for each in said))


class UsageError(SosieError, ValueError):
    """The caller asked for something impossible: an unknown option value, a missing column, an unusable directory."""


class DataError(SosieError):
    """A document cannot be used: broken JSON, a wrong type, invalid UTF-8, a duplicate id."""


class StorageError(SosieError):
    """A stored artefact is damaged, incomplete or of another format."""


class MismatchError(SosieError, ValueError):
    """Two artefacts do not belong together: other widths, other specs, known ids."""
