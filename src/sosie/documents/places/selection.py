"""Which files of folders are read, and how: the format where the suffix does not say it, and patterns of names."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from sosie.documents.input import MAX_EXPANSION
from sosie.errors import UsageError
from sosie.shown import counted

_log = logging.getLogger("sosie")
_NAMED = 3  # folders that a message names


@dataclass(frozen=True)
class FileOptions:
    """How files are found and read.

    `format` is that of all files, whatever their suffix. `include` and `exclude` are patterns of paths inside folders:
    one without a slash is compared with the name of the file and of every folder on the way, one with a slash with the
    path from the folder on, where `**` stands for any number of folders. Whatever is in a folder that matches, matches.
    `texts` are the columns that will be read, by which files that are no documents are told. With `strict`, what leads
    nowhere is refused: a pattern without a file, an option that no input heeds.
    """

    format: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    max_expansion: int = MAX_EXPANSION
    texts: tuple[str, ...] = ("text",)
    strict: bool = True


@dataclass(eq=False)
class Selection:
    """The patterns of one listing, and which of them have led to a file that can be read.

    `passed_over` are folders that are not listed, whatever the patterns, because Sosie wrote them.

    >>> chosen = Selection(["*.py", "docs/**"], ["tests"])
    >>> [chosen.admits(name) for name in ("a/b.py", "docs/a/b.md", "tests/a.py", "c.md", "docs.md")]
    [True, True, False, False, False]
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    used: set[str] = field(default_factory=set)
    unknown: dict[str, str] = field(default_factory=dict)
    is_asked: bool = False
    strict: bool = True
    passed_over: list[str] = field(default_factory=list)

    def admits(self, name: str) -> bool:
        """Whether a path inside a folder is wanted."""
        self.is_asked = True
        if any(_pattern(glob).match(name) for glob in self.exclude):
            return False
        return not self.include or any(_pattern(glob).match(name) for glob in self.include)

    def excludes(self, folder: str) -> bool:
        """Whether nothing below a folder is wanted."""
        return any(_pattern(glob).match(folder) for glob in self.exclude)

    def note(self, name: str, is_known: bool) -> None:
        """Remember which patterns led to a file, and whether its kind is known."""
        for glob in self.include:
            if _pattern(glob).match(name):
                if is_known:
                    self.used.add(glob)
                else:
                    self.unknown.setdefault(glob, name)

    def check(self) -> None:
        """Raise if a pattern was of no use: there were no folders, or it led to no file that can be read."""
        if not self.strict:
            return
        if (self.include or self.exclude) and not self.is_asked:
            raise UsageError(
                "--include and --exclude choose among the files of folders and globs, and there is none among the "
                "inputs. Leave them out, or name a folder."
            )
        for glob in self.include:
            if glob in self.used:
                continue
            if glob in self.unknown:
                raise UsageError(
                    f"--include {glob!r}: leads only to files of unknown kinds, such as {self.unknown[glob]}. Say what "
                    "they are: --format text reads each file as one document."
                )
            raise UsageError(f"--include {glob!r}: matches no file. It is compared with paths inside the folders.")

    def tell(self) -> None:
        """Say which folders were passed over."""
        if self.passed_over:
            self.passed_over.sort()
            shown = ", ".join(self.passed_over[:_NAMED])
            more = f" and {len(self.passed_over) - _NAMED:,} more" if len(self.passed_over) > _NAMED else ""
            held = f"{counted(len(self.passed_over), 'folder')} that Sosie wrote"
            _log.warning("%s passed over: %s%s. To read what is in one, name it.", held, shown, more)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """Return a pattern for the paths that a glob stands for, and for all below them."""
    body = glob.strip("/")
    if not body:
        raise UsageError(f"{glob!r}: is no pattern. Write one as in '*.py' or 'docs/**'.")
    start = "" if "/" in glob.rstrip("/") else "(?:.*/)?"
    return re.compile(f"{start}{_translated(body)}(?:/.*)?\\Z", re.DOTALL)


_TOKEN = re.compile(r"\*\*/|/\*\*\Z|\*\*|\*|\?|\[!?\]?[^\]]*\]", re.DOTALL)
_MEANING = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _translated(glob: str) -> str:
    parts, done = [], 0
    for token in _TOKEN.finditer(glob):
        parts.append(re.escape(glob[done : token.start()]))
        text, done = token[0], token.end()
        parts.append(_MEANING.get(text) or _characters(text))
    return "".join([*parts, re.escape(glob[done:])])


def _characters(text: str) -> str:
    inside = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    negated = inside.startswith("!")
    inside = inside.removeprefix("!")
    inside = "\\]" + inside[1:] if inside.startswith("]") else inside
    return f"[^/{inside}]" if negated else f"[{'' if not inside.startswith('^') else chr(92)}{inside}]"
