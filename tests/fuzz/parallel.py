"""Parallel text as targets: catalogues of gettext, translation memories and lines with tabs; pairs or a named error."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

from tests.crosslingual.catalogues import Entry, mo, po, tmx
from tests.fuzz.formats import Files
from tests.fuzz.mutate import mutated
from tests.fuzz.target import ACCEPTED, Case

from sosie.crosslingual.paragraphs import aligned_paragraphs
from sosie.crosslingual.parallel.text import ParallelText, read_parallel

ENTRIES = [
    Entry("Save _As...", ("Speichern _unter...",)),
    Entry("Hello\nworld", ("Hallo\nWelt",), context="greeting"),
    Entry("%d file", ("%d Datei", "%d Dateien"), plural="%d files"),
    Entry('a "quote" \\', ("ein „Zitat“",), fuzzy=True),
    Entry("open", ("",)),
]
UNITS = [[("de-DE", "Ein Haus & mehr"), ("en-US", "A house & more")], [("de", "Baum"), ("en", "tree"), ("en", "wood")]]
_MEMORY = tmx(UNITS).replace("mehr", "<hi>me</hi><bpt i='1'>x<sub>y</sub></bpt>hr<ph/>")
_OLD = b'#~ msgid "old"\n#~ msgstr "alt"\n'
_PO_TOKENS = (
    *(
        b"msgid ",
        b"msgstr ",
        b"msgid_plural ",
        b"msgstr[1] ",
        b"msgstr[999] ",
        b"msgctxt ",
        b"domain ",
        b'""',
        b'"',
        b"\\",
    ),
    *(b"\\x", b"\\377", b"\\303\\244", b"#, fuzzy\n", b"#~ ", b"#| ", b"\n\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf"),
    *(
        b"charset=",
        b"charset=utf-16",
        b"charset=utf-7",
        b"charset=zlib",
        b"charset=gb18030",
        b'"a"\n',
        b'msgid "k%d"\n',
    ),
)
_MO_TOKENS = (
    b"\0",
    b"\x04",
    b"\xff" * 4,
    b"\0" * 8,
    b"\xde\x12\x04\x95",
    b"\x95\x04\x12\xde",
    b"charset=utf-16",
    b"\xc3",
)
_TMX_TOKENS = (
    *(
        b"<tu>",
        b"</tu>",
        b"<tuv>",
        b"<seg>",
        b"</seg>",
        b"</tuv>",
        b"<tmx>",
        b"<header srclang='*all*'/>",
        b"<bpt>",
        b"<sub>",
    ),
    *(
        b"<tuv xml:lang='l%d'><seg>x</seg></tuv>",
        b"xml:lang=''",
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?x",
        b"&",
        b"&#0;",
    ),
    *(
        b"<!DOCTYPE tmx [<!ENTITY a 'b'>]>",
        b"<!DOCTYPE tmx SYSTEM 'x'>",
        b"&a;",
        b"<!ELEMENT tmx ((((a))))>",
        b"\xff\xfe",
        b"\0",
    ),
    *(
        b"encoding='utf-16'",
        b"encoding='idna'",
        b"encoding='undefined'",
        b"encoding='cp932'",
        b"\xff",
        b"<a b='%d'>",
        b" ",
    ),
)
_TSV = "source\ttarget\nHaus\thouse\tx\r\nGröße\tsize\n".encode()

PARALLEL_FILES = {
    "po": Files(".po", (po(ENTRIES), po(ENTRIES, "cp1252") + _OLD, po(ENTRIES[:1]) + _OLD), _PO_TOKENS),
    "mo": Files(".mo", (mo(ENTRIES), mo(ENTRIES, order=">"), mo(ENTRIES[:2], header=False)), _MO_TOKENS),
    "mo-gz": Files(".mo.gz", (mo(ENTRIES),), _MO_TOKENS, lambda data: gzip.compress(data, 1, mtime=0)),
    "tmx": Files(".tmx", (_MEMORY.encode(), _MEMORY.encode("utf-16"), tmx(UNITS, None, "lang").encode()), _TMX_TOKENS),
    "parallel-tsv": Files(".tsv", (_TSV,), (b"\t", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe")),
}


class ParallelFiles:
    """One kind of files."""

    def __init__(self, files: Files) -> None:
        self.files = files

    def prepare(self, folder: Path) -> None:
        """Read every seed; long texts are cut by kernels, which are there then."""
        for number, seed in enumerate(self.files.seeds):
            path = folder / f"{number}{self.files.suffix}"
            path.write_bytes(seed if self.files.pack is None else self.files.pack(seed))
            assert added_up(read_parallel(path)).segments
        assert not aligned_paragraphs("wörter " * 151, "words " * 151)

    def write(self, random: Random, folder: Path) -> Case:
        """Write a file that is wrong, or packed rightly with wrong content."""
        path, files = folder / f"text{self.files.suffix}", self.files
        content = mutated(random, random.choice(files.seeds), files.seeds, files.tokens)
        path.write_bytes(content if files.pack is None else files.pack(content))
        return Case(path)

    def judge(self, case: Case, random: Random) -> str:
        """Read it, and cut what it says into paragraphs."""
        languages = ("de", "en") if self.files.suffix == ".tmx" and random.random() < 0.5 else None
        text = added_up(read_parallel(case.path, languages=languages, swap=random.random() < 0.5))
        for segment in text.segments[:20]:
            for part in aligned_paragraphs(*segment, ratio=random.choice((None, 1.0, 0.4))):
                assert part.source.strip() and part.target.strip()
        return ACCEPTED


def added_up(text: ParallelText) -> ParallelText:
    """Return what was read; every pair is a segment of two texts or was left out."""
    assert text.read == len(text.segments) + sum(text.left_out.values()), "pairs are lost"
    for segment in text.segments:
        assert all(side.strip() and side.encode() for side in segment)
    return text
