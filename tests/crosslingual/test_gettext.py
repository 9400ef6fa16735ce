"""Catalogues of gettext: PO as a tiny writer writes it, MO of both byte orders, and all that may be wrong with them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crosslingual.catalogues import HEADER, MAGIC, Entry, mo, po, quoted

from sosie.crosslingual.parallel.message import without_marks
from sosie.crosslingual.parallel.text import read_parallel
from sosie.errors import DataError, SosieError

ENTRIES = [
    Entry("Hello\nworld", ("Hallo\nWelt",)),
    Entry('a "quote" \\ and\ta tab', ("ein „Zitat“",)),
    Entry("May", ("Mai",), context="month"),
    Entry("May", ("Darf",), context="verb"),
    Entry("%d file", ("%d Datei", "%d Dateien"), plural="%d files"),
]
PAIRS = [
    ("Hello\nworld", "Hallo\nWelt"),
    ('a "quote" \\ and\ta tab', "ein „Zitat“"),
    ("May", "Mai"),
    ("May", "Darf"),
    ("%d file", "%d Datei"),
    ("%d files", "%d Dateien"),
]


def read(tmp_path, content, suffix="po", **options):
    path = tmp_path / f"x.{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_parallel(path, **options)


@pytest.mark.parametrize(("suffix", "write"), [("po", po), ("mo", mo), ("gmo", mo)])
def test_messages_and_plural_forms(tmp_path, suffix, write):
    text = read(tmp_path, write(ENTRIES), suffix)
    assert text.segments == PAIRS and text.read == 6 and not text.left_out
    assert read(tmp_path, write(ENTRIES), suffix, swap=True).segments == [(b, a) for a, b in PAIRS]


@pytest.mark.parametrize(("suffix", "write"), [("po", po), ("mo", mo)])
@pytest.mark.parametrize("charset", ["ISO-8859-1", "KOI8-R", "Shift_JIS", "GB18030"])
def test_charset_of_the_header(tmp_path, suffix, write, charset):
    word = {"ISO-8859-1": "Größe", "KOI8-R": "размер", "Shift_JIS": "表示ソ", "GB18030": "大小"}[charset]
    assert read(tmp_path, write([Entry("size", (word,))], charset), suffix).segments == [("size", word)]


@pytest.mark.parametrize(("suffix", "write"), [("po", po), ("mo", mo)])
@pytest.mark.parametrize("charset", ["UTF-16", "UTF-7", "wrong", "rot13", "zlib"])
def test_charsets_that_cannot_be_read(tmp_path, suffix, write, charset):
    with pytest.raises(DataError, match=rf"x\.{suffix}: its header says charset={charset}"):
        read(tmp_path, write([Entry("a", ("b",))]).replace(b"UTF-8", charset.encode()).ljust(400, b"\n"), suffix)


@pytest.mark.parametrize("head", ['msgid "charset=koi8-r"\nmsgstr "x"\n', 'msgid ""\n"charset=koi8-r"\nmsgstr "x"\n'])
def test_other_messages_may_speak_of_charsets(tmp_path, head):
    more = 'msgctxt "charset=koi8-r"\nmsgid "charset=koi8-r"\nmsgstr "charset=koi8-r"\n'
    pair = ("charset=koi8-r", "x"), ("charset=koi8-r", "charset=koi8-r"), ("size", "Größe")
    assert read(tmp_path, head + more + 'msgid "size"\nmsgstr "Größe"\n').segments == [*pair]
    assert read(tmp_path, more + 'msgid "size"\nmsgstr "Größe"\n').segments == [*pair[1:]]


def test_what_is_not_finished_is_left_out(tmp_path):
    entries = [
        Entry("one", ("eins",)),
        Entry("two", ("zwei",), fuzzy=True),
        Entry("three", ("",)),
        Entry("four", ("vier", ""), plural="fours"),
        Entry("five", ("", ""), plural="fives"),
    ]
    old = b'\n#~ msgctxt "c"\n#~ msgid ""\n#~ "old"\n#~ msgid_plural "olds"\n#~ msgstr[0] "alt"\n'
    old += b'\n#~| msgid "x"\n#~ msgid "y"\n#~ msgstr "z"\n'
    text = read(tmp_path, po(entries) + old)
    assert text.segments == [("one", "eins"), ("four", "vier")]
    assert text.left_out == {"fuzzy": 1, "untranslated": 3, "obsolete": 2} and text.read == 8


def test_a_flag_is_that_of_one_entry(tmp_path):
    lines = '#, fuzzy\nmsgid "a"\nmsgstr "b"\nmsgid "c"\nmsgstr "d"\n'
    lines += '# not fuzzy, this\n#, no-fuzzy\nmsgid "e"\nmsgstr "f"\n'
    assert read(tmp_path, lines).segments == [("c", "d"), ("e", "f")]


def test_entries_need_no_blank_lines(tmp_path):
    lines = 'msgid "a"\nmsgstr "b"\nmsgctxt "c"\nmsgid "d"\nmsgstr "e"\nmsgid "f"\nmsgstr "g"\n'
    assert read(tmp_path, lines).segments == [("a", "b"), ("d", "e"), ("f", "g")]
    empty = read(tmp_path, lines.replace('"d"', '""'))  # with a context it is no header
    assert empty.segments == [("a", "b"), ("f", "g")] and empty.left_out == {"one side is empty": 1}


def test_templates_have_no_translations(tmp_path):
    with pytest.raises(DataError, match=r"x\.pot: no pair of texts and translations \(untranslated: 1\)"):
        read(tmp_path, po([Entry("a", ("",))]).replace(b"UTF-8", b"CHARSET"), "pot")


@pytest.mark.parametrize(("suffix", "write"), [("po", po), ("mo", mo)])
def test_forms_of_other_languages(tmp_path, suffix, write):
    one = Entry("%d file", ("파일 %d개",), plural="%d files")
    assert read(tmp_path, write([one]), suffix).segments == [("%d files", "파일 %d개")]
    three = Entry("%d file", ("%d plik", "%d pliki", "%d plików"), plural="%d files")
    assert read(tmp_path, write([three]), suffix).segments == [
        ("%d file", "%d plik"),
        ("%d files", "%d pliki"),
        ("%d files", "%d plików"),
    ]


def test_escapes_and_layouts_of_po(tmp_path):
    lines = r'''
  msgid  "a" "b"
  "\x41\x42\103\n\"\\\q"
msgstr	"\303\244\xc3\xb6"  
domain "other"
msgid"c"
msgstr"d"'''
    assert read(tmp_path, lines.replace("\n", "\r\n")).segments == [('abABC\n"\\q', "äö"), ("c", "d")]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('msgid "a"\nmsgstr "b\n', "line 2: is no line of a PO file"),
        ('msgid "a"\nmsgstr "b\\"\n', "line 2: is no line"),
        ('msgid "a" x\nmsgstr "b"\n', "line 1: is no line"),
        ('msgid_ "a"\n', "line 1: is no line"),
        ("<html>", "line 1: is no line"),
        ('"a"\n', "line 1: a string that belongs to no"),
        ('msgid "a"\nmsgstr "b"\n\n"c"\n', "line 4: a string that belongs to no"),
        ('msgstr "b"\n', "line 1: msgstr without a msgid"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', "line 3: a second msgstr"),
        ('\nmsgid "a"\n', "line 2: an entry without a msgstr"),
        ('msgid "a"\nmsgid "b"\nmsgstr "c"\n', "line 1: an entry without a msgstr"),
        ('msgctxt "a"\n', "line 1: an entry without a msgid"),
        ('msgid "a"\nmsgstr "\\377"\n', "line 2: is not UTF-8"),
        ('msgid "a"\nmsgstr "\\0"\n', "line 2: has a NUL byte"),
        (b'msgid "a"\nmsgstr "\xff"\n', "line 2: is not UTF-8"),
    ],
)
def test_what_is_wrong_in_po_is_named(tmp_path, lines, said):
    with pytest.raises(DataError, match=rf"x\.po, {said}"):
        read(tmp_path, lines)


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\n\t\r\a"\\_&'), max_size=80)
entries = st.builds(
    Entry,
    texts,
    st.lists(texts, min_size=1, max_size=4).map(tuple),
    st.none() | texts,
    st.none() | texts,
    st.booleans(),
)


def expected(some, keeps_fuzzy=False):
    """Return the pairs that entries are, in plain words of the brief."""
    pairs = []
    for entry in some:
        if (entry.fuzzy and not keeps_fuzzy) or (not entry.text and entry.context is None):
            continue
        forms = entry.forms if entry.plural is not None else entry.forms[:1]
        for number, form in enumerate(forms):
            single = entry.plural is None or (number == 0 and len(forms) > 1)
            pair = without_marks(entry.text if single else entry.plural, form)
            pairs += [pair] if all(map(str.strip, pair)) else []
    return pairs


@given(st.lists(entries, max_size=8))
def test_po_says_what_was_written(tmp_path_factory, some):
    sure = Entry("sure", ("sicher",))
    text = read(tmp_path_factory.mktemp("po"), po([*some, sure]))
    assert text.segments == [*expected(some), ("sure", "sicher")]
    assert text.read == len(text.segments) + sum(text.left_out.values())


@given(st.lists(entries.filter(lambda entry: entry.text and entry.text != "\x04"), max_size=8), st.sampled_from("<>"))
def test_mo_says_what_was_written(tmp_path_factory, some, order):
    sure = Entry("sure", ("sicher",))
    some = [entry if entry.plural is not None else entry._replace(forms=entry.forms[:1]) for entry in some]
    text = read(tmp_path_factory.mktemp("mo"), mo([*some, sure], order=order), "mo")
    assert text.segments == [*expected(some, keeps_fuzzy=True), ("sure", "sicher")]


def test_mo_without_a_header_is_utf_8(tmp_path):
    assert read(tmp_path, mo([Entry("a", ("ä",))], header=False), "mo").segments == [("a", "ä")]
    with pytest.raises(DataError, match=r"x\.mo: message 0 is not UTF-8"):
        read(tmp_path, mo([Entry("a", ("ä",))], header=False).replace("ä".encode(), b"\xe4\xe4"), "mo")


@pytest.mark.parametrize("at", [8, 12, 16, 28, 32, 36, 44, 52])
@pytest.mark.parametrize("number", [2**32 - 1, 2**31, 2**20])
def test_places_beyond_the_end_of_mo(tmp_path, at, number):
    whole = bytearray(mo([Entry("a", ("b",))]))
    struct.pack_into("<I", whole, at, number)
    with pytest.raises(DataError, match=r"x\.mo: is not a whole \.mo file: .* is beyond its end"):
        read(tmp_path, bytes(whole), "mo")


def test_mo_files_that_are_none(tmp_path):
    whole = mo([Entry("a", ("b",))])
    for size in range(len(whole)):
        with pytest.raises(DataError, match=r"x\.mo"):
            read(tmp_path, whole[:size] if size < len(whole) - 1 else b"", "mo")
    with pytest.raises(DataError, match="magic number"):
        read(tmp_path, b"\xde\x12\x04\x96" + whole[4:], "mo")
    with pytest.raises(DataError, match="its revision is 2"):
        read(tmp_path, whole[:4] + struct.pack("<I", 2 << 16) + whole[8:], "mo")
    with pytest.raises(DataError, match="no pair at all"):
        read(tmp_path, struct.pack("<7I", MAGIC, 0, 0, 28, 28, 0, 28), "mo")


def test_mo_strings_that_share_their_bytes_do_not_fill_the_memory(tmp_path):
    count, size = 1000, 100_000
    spans = [size, 28 + 16 * count] * 2 * count
    head = (MAGIC, 0, count, 28, 28 + 8 * count, 0, 0)
    with pytest.raises(DataError, match="many times as long as the file"):
        read(tmp_path, struct.pack(f"<{7 + len(spans)}I", *head, *spans) + b"x" * size, "mo")


@given(st.binary(max_size=300))
def test_any_bytes_after_the_beginning(tmp_path_factory, data):
    for suffix, head in (("mo", struct.pack("<I", MAGIC)), ("po", b'msgid "a"\nmsgstr "b"\n')):
        try:
            read(tmp_path_factory.mktemp("bytes"), head + data, suffix)
        except SosieError as error:
            assert "x." in str(error)


@pytest.mark.parametrize(
    ("source", "target", "ours", "theirs"),
    [
        ("_File", "_Datei", "File", "Datei"),
        ("Cu_t", "Auss_chneiden", "Cut", "Ausschneiden"),
        ("Save &As", "Speichern unter", "Save As", "Speichern unter"),
        ("Open", "打开(&O)...", "Open", "打开..."),
        ("&Open", "開く（&O）", "Open", "開く"),
        ("the file_name", "der Dateiname", "the file_name", "der Dateiname"),
        ("AT&T", "AT&T", "AT&T", "AT&T"),
        ("R & D", "F & E", "R & D", "F & E"),
        ("a &amp; b", "a &lt; b", "a &amp; b", "a &lt; b"),
        ("__init__", "_a _b", "__init__", "_a _b"),
        ("_1", "&2", "_1", "&2"),
        ("_" + "x" * 60, "_" + "x" * 59, "_" + "x" * 60, "x" * 59),
    ],
)
def test_marks_of_keys(source, target, ours, theirs):
    assert without_marks(source, target) == (ours, theirs)
    assert without_marks(target, source) == (theirs, ours)


def test_the_writer_writes_a_header():
    assert quoted(HEADER.format("UTF-8")).encode() in po([])
