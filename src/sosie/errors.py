"""What can go wrong, by name.

Every message says what was wrong, where (file, line, column, id) and what to do about it.
The command line turns a `UsageError` into exit code 2 and any other `SosieError` into exit code 1.
"""


class SosieError(Exception):
    """The base of every error that Sosie raises on purpose."""


class UsageError(SosieError, ValueError):
    """The caller asked for something impossible: an unknown option value, a missing column, an unusable directory."""


class DataError(SosieError):
    """A document cannot be used: broken JSON, a wrong type, invalid UTF-8, a duplicate id."""


class StorageError(SosieError):
    """A stored artefact is damaged, incomplete or of another format."""


class MismatchError(SosieError, ValueError):
    """Two artefacts do not belong together: other widths, other specs, known ids."""
