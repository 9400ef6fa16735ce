"""Messages of gettext catalogues as segments: plural forms, and the marks of keys that are no part of a word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sosie.crosslingual.parallel.segment import UNTRANSLATED, Gathered
from sosie.documents.dialect import checked_encoding
from sosie.errors import DataError, UsageError

LABEL = 60  # characters that the label of a menu or button has at most; longer texts are sentences, without such marks
_CHARSET = re.compile(r"charset=([\w.:+-]+)")
# Behind labels that are not written in Latin letters the key stands by itself, in brackets that may be wide.
_APART = re.compile(r"\s?[(\uff08][_&][A-Za-z0-9][)\uff09]")
_MARK = re.compile(r"(?<![_&])([_&])(?=[^\W\d_])(?!\w+;)")


@dataclass(frozen=True)
class Message:
    """One message: what the program says, of several things perhaps in another form, and the forms in the language."""

    text: str
    plural: str | None
    forms: list[str]

    def gather(self, gathered: Gathered) -> None:
        """Gather the text with its first form and the plural with all others, each without the marks of keys.

        Languages that have one form alone say it of several things: there it is the translation of the plural.
        """
        if not any(map(str.strip, self.forms)):
            gathered.leave(UNTRANSLATED)
            return
        for number, form in enumerate(self.forms):
            more = self.plural is not None and (number > 0 or len(self.forms) == 1)
            text = self.plural if more and self.plural is not None else self.text
            if form.strip():
                gathered.add(*without_marks(text, form))
            else:
                gathered.leave(UNTRANSLATED)


def without_marks(source: str, target: str) -> tuple[str, str]:
    """Return two labels without the mark of the key that chooses them: a single `_` or `&` before a letter.

    To Sosie `_File` is another word than `File`, and `E&xit` is two. So a mark where a word begins is taken away. One
    inside a word may also be that of a name, as in `file_name` or `AT&T`: it goes only where both sides have one, as
    labels do, and not between capitals. What is longer than a label is left as it is.

    >>> without_marks("Save _As...", "Speichern _unter..."), without_marks("E&xit", "&Beenden")
    (('Save As...', 'Speichern unter...'), ('Exit', 'Beenden'))
    >>> without_marks("the file_name", "der Dateiname"), without_marks("_File", "파일(_F)")
    (('the file_name', 'der Dateiname'), ('File', '파일'))
    """
    ours, theirs = _marked(source), _marked(target)
    both = ours == theirs
    return _unmarked(source, ours, both), _unmarked(target, theirs, both)


def _marked(label: str) -> str | None:
    """Return the mark of a label, None if it has none or several."""
    if len(label) > LABEL or label.count("_") + label.count("&") != 1:
        return None
    if found := _APART.search(label):
        return "_" if "_" in found[0] else "&"
    if not (mark := _MARK.search(label)):
        return None
    before, after = label[: mark.start()][-1:], label[mark.end()]
    return None if before.isupper() and after.isupper() else mark[1]


def _unmarked(label: str, mark: str | None, both: bool) -> str:
    if mark is None:
        return label
    if found := _APART.search(label):
        return label[: found.start()] + label[found.end() :]
    begins = not label[: label.index(mark)][-1:].isalnum()
    return label.replace(mark, "") if begins or both else label


def charset_of(header: str, path: str) -> str:
    """Return the encoding that the header of a catalogue names, UTF-8 if it names none; raise if it cannot be read."""
    named = _CHARSET.search(header)
    if named is None or named[1] == "CHARSET":  # as templates have it
        return "utf-8"
    try:
        encoding = checked_encoding(named[1]) or "utf-8"
        plain = "msgid".encode(encoding) == b"msgid"
    except UsageError:
        plain = False
    if not plain:
        raise DataError(
            f"{path}: its header says charset={named[1]}, which cannot be read. Convert the file, header "
            "and all: msgconv -t UTF-8."
        )
    return encoding
