"""Translation memories (TMX 1.1 to 1.4): units with a text in each of several languages, of which two are chosen.

Files are read as they come, element by element, and nothing is fetched. One that declares entities is refused: a short
one could expand without end, and no program writes translation memories so. What stands in `bpt`, `ept`, `it`, `ph` and
`ut` is markup of the translated document and becomes a space, apart from a `sub` inside; of other elements the text is
kept. https://www.gala-global.org/tmx-14b
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.parsers import expat

from sosie.crosslingual.parallel.segment import ONE_LANGUAGE, Gathered
from sosie.documents.blocks import BLOCK_BYTES, foreign_encoding, read_chunks
from sosie.documents.input import Input
from sosie.errors import DataError, SosieError

SUFFIXES = (".tmx",)
_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})
_ANY = "*all*"  # what a header says if any language is translated
_SHOWN = 8  # languages that a message names


def read_tmx(place: Input, gathered: Gathered, languages: tuple[str, str] | None = None) -> None:
    """Gather the units of a translation memory in two languages; of several variants in one of them, the first.

    A language is meant with its regions: `de` is also `de-DE`. Without `languages`, the source is the one that the file
    says is translated, else its first, and the target is the other one, if there is one other alone.
    """
    place = _recoded(place)
    memory = _Memory(place, gathered, languages)
    parser = expat.ParserCreate("utf-8" if place.encoding else None)
    parser.buffer_text = True
    parser.StartElementHandler = memory.start
    parser.EndElementHandler = memory.end
    parser.CharacterDataHandler = memory.text
    parser.SkippedEntityHandler = memory.skipped
    parser.EntityDeclHandler = memory.declared
    try:
        for chunk, _ in read_chunks(place, BLOCK_BYTES):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except SosieError:
        raise
    except expat.ExpatError as error:
        raise DataError(f"{place.path}: is not XML ({error}). Mend the file: xmllint tells more.") from error
    except (LookupError, ValueError, TypeError) as error:
        raise DataError(
            f"{place.path}: is in an encoding that cannot be read ({error}). Convert it to UTF-8, and say so in its "
            "first line."
        ) from error
    memory.check_found()


class _Memory:
    """A translation memory while it is read: the unit, the variant and the text that are open."""

    def __init__(self, place: Input, gathered: Gathered, languages: tuple[str, str] | None) -> None:
        self._place = place
        self._gathered = gathered
        self._before = len(gathered.segments)
        self._languages = languages
        self._source = ""  # the language that is translated, as the header says
        self._target = ""  # the other one, as the first unit has it
        self._seen: dict[str, None] = {}
        self._begun = False
        self._unit: list[tuple[str, str]] | None = None
        self._unit_source = ""
        self._language = ""
        self._inside: list[str] | None = None  # the elements that are open in a `seg`
        self._parts: list[str] = []
        self._held = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Open an element."""
        if not self._begun and name != "tmx":
            raise DataError(
                f"{self._place.path}: is no translation memory: it begins with <{name[:40]}>, not <tmx>. Leave it out."
            )
        self._begun = True
        if self._inside is not None:
            self._inside.append(name)
            if name in _CODES:
                self._parts.append(" ")
        elif name == "header":
            self._source = language(attributes.get("srclang", ""))
        elif name == "tu":
            self._unit, self._unit_source = [], language(attributes.get("srclang", ""))
        elif name == "tuv":
            self._language = language(attributes.get("xml:lang") or attributes.get("lang") or "")
        elif name == "seg" and self._unit is not None:
            self._inside, self._parts, self._held = [], [], 0

    def end(self, name: str) -> None:
        """Close an element: with a `seg` there is a text, with a unit all of its texts."""
        if self._inside:
            self._inside.pop()
        elif self._inside is not None:
            if self._unit is not None:
                self._unit.append((self._language, "".join(self._parts)))
            self._inside = None
        elif name == "tu" and self._unit is not None:
            self._choose(self._unit)
            self._unit = None

    def text(self, text: str) -> None:
        """Take some text, if it is that of a segment."""
        if self._inside is None or _is_code(self._inside):
            return
        self._held += len(text)
        if self._held > self._place.max_record:
            raise DataError(f"{self._place.path}: a segment is {self._place.too_long}. Cut it into shorter ones.")
        self._parts.append(text)

    def skipped(self, name: str, is_parameter: bool) -> None:
        """Take a space for an entity of a document type that is not fetched."""
        self.text(" ")

    def declared(self, name: str, *_: Any) -> None:
        """Refuse entities."""
        raise DataError(
            f"{self._place.path}: declares the entity {name[:40]!r}, and entities can expand without end. Write the "
            "file without them, or leave it out."
        )

    def _choose(self, unit: list[tuple[str, str]]) -> None:
        """Gather the two texts of a unit."""
        for language, _ in unit:
            self._seen.setdefault(language)
        source, target = self._languages or self._found(unit)
        texts = [next((text for tag, text in unit if _is_of(tag, wanted)), None) for wanted in (source, target)]
        if texts[0] is None or texts[1] is None:
            self._gathered.leave(ONE_LANGUAGE)
        else:
            self._gathered.add(texts[0], texts[1])

    def _found(self, unit: list[tuple[str, str]]) -> tuple[str, str]:
        """Return the languages as the file has them; raise if there are more than two."""
        stated = next((each for each in (self._unit_source, self._source) if each not in ("", _ANY)), None)
        if stated is None:
            stated = self._source = unit[0][0] if unit else ""
        # Texts may say less of their region than the header does.
        source = min((tag for tag, _ in unit if _is_of(stated, tag)), key=len, default=stated)
        for tag, _ in unit:
            if not _is_of(tag, source):
                self._target = self._target or tag
                if not (_is_of(tag, self._target) or _main(tag) == _main(self._target)):
                    raise DataError(
                        f"{self._place.path}: has texts in more than two languages ({', '.join(_some(self._seen))}). "
                        f"Say which: languages=({source!r}, {self._target!r})."
                    )
        return source, next((tag for tag, _ in unit if not _is_of(tag, source)), "")

    def check_found(self) -> None:
        """Raise if units are there and none has both languages: another one was meant."""
        if self._languages and self._seen and len(self._gathered.segments) == self._before:
            wanted = " and ".join(self._languages)
            raise DataError(
                f"{self._place.path}: no unit has a text in both {wanted}; there are {', '.join(_some(self._seen))}. "
                "Say others with languages=."
            )


def _recoded(place: Input) -> Input:
    """Return a file that is UTF-16 by its mark, as many translation memories are, so that it is read as UTF-8."""
    for head, _ in read_chunks(replace(place, encoding="iso8859-1"), 64):
        encoding = foreign_encoding(head.decode("utf-8").encode("latin-1"))
        return replace(place, encoding=encoding.lower()) if encoding else place
    return place


def _is_code(inside: list[str]) -> bool:
    """Whether what stands inside these elements is markup and no text."""
    return next((name in _CODES for name in reversed(inside) if name in _CODES or name == "sub"), False)


def language(tag: str) -> str:
    r"""Return a language as it is compared.

    >>> language("de_DE"), language("EN-us")
    ('de-de', 'en-us')
    """
    return tag.strip().lower().replace("_", "-")


def _is_of(tag: str, wanted: str) -> bool:
    """Whether a language is the wanted one, perhaps of a region.

    >>> _is_of("de-de", "de"), _is_of("de", "de-de"), _is_of("deu", "de")
    (True, False, False)
    """
    return tag == wanted or tag.startswith(wanted + "-")


def _main(tag: str) -> str:
    return tag.partition("-")[0]


def _some(seen: Mapping[str, None]) -> list[str]:
    named = [tag[:20] or "none" for tag, _ in zip(seen, range(_SHOWN), strict=False)]
    return [*named, "..."] if len(seen) > _SHOWN else named
