"""Translation memories: which languages are chosen, what of a segment is text, and files that mean harm."""

import gzip
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crosslingual.catalogues import tmx

from sosie.crosslingual.parallel.text import read_parallel
from sosie.errors import DataError, SosieError, UsageError

UNITS = [[("de-DE", "Haus"), ("en-US", "house")], [("en", "tree"), ("de", "Baum")]]
THREE = [[("de", "Haus"), ("en-GB", "house"), ("fr", "maison"), ("en-US", "home")], [("de", "Baum"), ("fr", "arbre")]]


def read(tmp_path, content, name="x.tmx", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_parallel(path, **options)


def segment(inside):
    return tmx([[("de", "@"), ("en", "x")]]).replace("@", inside)


@pytest.mark.parametrize("attribute", ["xml:lang", "lang"])
def test_the_header_says_what_is_translated(tmp_path, attribute):
    pairs = [("Haus", "house"), ("Baum", "tree")]
    assert read(tmp_path, tmx(UNITS, "de", attribute)).segments == pairs
    assert read(tmp_path, tmx(UNITS, "DE_de", attribute)).segments == pairs
    assert read(tmp_path, tmx(UNITS, "EN", attribute)).segments == [pair[::-1] for pair in pairs]
    assert read(tmp_path, tmx(UNITS, "EN", attribute), swap=True).segments == pairs


@pytest.mark.parametrize("srclang", ["*all*", None, ""])
def test_without_a_word_of_the_header_the_first_is_the_source(tmp_path, srclang):
    assert read(tmp_path, tmx([UNITS[0], UNITS[0]], srclang)).segments == [("Haus", "house")] * 2


def test_a_unit_may_say_another_source(tmp_path):
    whole = tmx(UNITS).replace("<tu>", '<tu srclang="en">', 1)
    with pytest.raises(DataError, match="more than two languages"):
        read(tmp_path, whole)
    assert read(tmp_path, tmx(UNITS[:1]).replace("<tu>", '<tu srclang="en">')).segments == [("house", "Haus")]


def test_languages_are_chosen(tmp_path):
    whole = tmx(THREE)
    text = read(tmp_path, whole, languages=("de", "en"))
    assert text.segments == [("Haus", "house")] and text.left_out == {"not in both languages": 1} and text.read == 2
    assert read(tmp_path, whole, languages=("EN-us", "fr")).segments == [("home", "maison")]
    assert read(tmp_path, whole, languages=("fr", "de")).segments == [("maison", "Haus"), ("arbre", "Baum")]


def test_more_languages_have_to_be_chosen(tmp_path):
    with pytest.raises(DataError, match=r"x\.tmx: has texts in more than two languages \(de, en-gb, fr, en-us\)"):
        read(tmp_path, tmx(THREE))
    with pytest.raises(DataError, match="more than two languages"):
        read(tmp_path, tmx([[("de", "a"), ("en", "b")], [("de", "a"), ("fr", "b")]]))


def test_regions_of_one_language(tmp_path):
    both = [("en-US", "color"), ("en-GB", "colour"), ("de-AT", "Farbe"), ("de-DE", "Färbung")]
    assert read(tmp_path, tmx([both], "en")).segments == [("color", "Farbe")]
    assert read(tmp_path, tmx([[("zh-CN", "一"), ("zh-TW", "二")]], "zh-CN")).segments == [("一", "二")]


def test_regions_that_the_header_does_not_know(tmp_path):
    both = [("de", "Haus"), ("de-AT", "Heim"), ("en", "house")]
    assert read(tmp_path, tmx([both, both[::-1]], "de-AT")).segments == [("Haus", "house"), ("Heim", "house")]


def test_languages_that_begin_alike(tmp_path):
    whole = tmx([[("den", "a"), ("deu", "b"), ("de", "c"), ("eng", "d"), ("en", "e")]])
    assert read(tmp_path, whole, languages=("de", "en")).segments == [("c", "e")]


def test_languages_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match=r"no unit has a text in both de and ko; there are de, en-gb, fr, en-us"):
        read(tmp_path, tmx(THREE), languages=("de", "ko"))


@pytest.mark.parametrize("languages", [("de",), ("de", "en", "fr"), "de", ("de", "DE"), ("de", ""), ("de", 1)])
def test_languages_are_two(tmp_path, languages):
    with pytest.raises(UsageError, match="languages are two"):
        read(tmp_path, tmx(UNITS), languages=languages)


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("Ein <hi type='b'>großes</hi> Haus", "Ein großes Haus"),
        ("a<ph x='1'>&lt;br/&gt;</ph>b", "a b"),
        ("<bpt i='1'>{\\b <sub>im Fuß</sub>}</bpt>fett<ept i='1'>}</ept>", " im Fußfett "),
        ("<it pos='begin'><hi>code</hi></it>a<ut>x</ut>", " a "),
        ("<![CDATA[<b>]]>&amp;&#228;&lt;", "<b>&ä<"),
        ("<seg>a</seg>b", "ab"),
        ("\n a\n", "\n a\n"),
    ],
)
def test_what_is_text_in_a_segment(tmp_path, inside, text):
    assert read(tmp_path, segment(inside)).segments == [(text, "x")]


def test_empty_segments(tmp_path):
    text = read(tmp_path, tmx([[("de", ""), ("en", "x")], [("de", "a"), ("en", "b")]]))
    assert text.left_out == {"one side is empty": 1}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "iso-8859-1", "cp1252"])
def test_encodings(tmp_path, encoding):
    said = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16"}.get(encoding, encoding)
    whole = tmx([[("de", "Größe"), ("en", "size")]]).replace("?>", f" encoding='{said}'?>", 1)
    whole = whole.replace("<?xml", "\ufeff<?xml", 1) if encoding == "utf-16-le" else whole
    assert read(tmp_path, whole.encode(encoding)).segments == [("Größe", "size")]
    packed = gzip.compress(whole.encode(encoding))
    assert read(tmp_path, packed, "x.tmx.gz").segments == [("Größe", "size")]


@pytest.mark.parametrize("encoding", ["wrong", "utf-7", "rot13", "shift-jis", "idna", "undefined", "zlib"])
def test_encodings_that_cannot_be_read(tmp_path, encoding):
    with pytest.raises(DataError, match=r"x\.tmx: is (not XML|in an encoding)"):
        read(tmp_path, tmx(UNITS).replace("?>", f" encoding='{encoding}'?>", 1))


def test_a_document_type_is_not_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    named = '<!DOCTYPE tmx SYSTEM "http://127.0.0.1:9/tmx14.dtd"><tmx'
    assert read(tmp_path, segment("a&nbsp;b").replace("<tmx", named)).segments == [("a b", "x")]


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY b SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p "x">',
    ],
)
def test_entities_are_refused(tmp_path, declared):
    with pytest.raises(DataError, match=r"x\.tmx: declares the entity '[abp]'"):
        read(tmp_path, segment("&b;").replace("<tmx", f"<!DOCTYPE tmx [{declared}]><tmx", 1))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not XML"),
        ("<tmx><body>", "is not XML"),
        ("<html/>", "is no translation memory: it begins with <html>"),
        ("<tmx/>", "no pair at all"),
        (b"<tmx>\n\xff</tmx>", r"is not XML \(not well-formed \(invalid token\): line 2"),
        ("<tmx><body>&x;</body></tmx>", "is not XML"),
        ("<tmx><seg>a</seg><tuv xml:lang='de'><seg>b</seg></tuv></tmx>", "no pair at all"),
        ("<tmx><tu/></tmx>", "not in both languages: 1"),
    ],
)
def test_files_that_are_none(tmp_path, content, said):
    with pytest.raises(DataError, match=rf"x\.tmx: {said}|x\.tmx: .*{said}"):
        read(tmp_path, content)


def test_segments_that_there_is_no_memory_for(tmp_path, monkeypatch):
    monkeypatch.setattr("sosie.documents.bounded.MAX_RECORD", 1000)
    with pytest.raises(DataError, match=r"x\.tmx: a segment is longer than"):
        read(tmp_path, segment("<hi>x</hi>" * 1001))
    assert read(tmp_path, segment("<hi>x</hi>" * 1000)).read == 1


letters = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff")
texts = st.text(letters, min_size=1).filter(str.strip)


@given(st.lists(st.tuples(texts, texts), min_size=1))
def test_a_memory_says_what_was_written(tmp_path_factory, pairs):
    whole = tmx([[("de", ours), ("en", theirs)] for ours, theirs in pairs])
    assert read(tmp_path_factory.mktemp("tmx"), whole).segments == pairs


@given(st.binary(max_size=200), st.integers(0, 300))
def test_any_bytes_in_a_memory(tmp_path_factory, data, at):
    whole = tmx(UNITS).encode()
    try:
        read(tmp_path_factory.mktemp("bytes"), whole[:at] + data + whole[at:])
    except SosieError as error:
        assert "x.tmx" in str(error)
