"""HTML: in a column of every format, in files of any encoding; what is compared is the text."""

import csv
import io
import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.text.test_files import contents, fill, read
from tests.documents.writing import write
from tests.test_public import imported_by

import sosie
from sosie.documents import Source, html
from sosie.documents.fetch import fetch_texts
from sosie.documents.html import decode_bytes, load_resiliparse, page_text, read_page
from sosie.documents.inputs import list_inputs
from sosie.documents.text.files import read_texts
from sosie.errors import DataError, UsageError

PAGES = [
    "<html><nav>Home</nav><p>The quick brown <b>fox</b></p><footer>Foot</footer>",
    "<p>Etwas <i>anderes</i></p><script>var fox = 1</script>",
    "<html><body></body></html>",
    "<nav>Home</nav>",
    "",
]
MAIN = ["The quick brown fox", "Etwas anderes", "", "Home", ""]
ALL = ["Home The quick brown fox Foot", "Etwas anderes", "", "Home", ""]


def save(folder, name):
    path = folder / name
    table = pa.table({"text": PAGES})
    if name.endswith(".parquet"):
        pq.write_table(table, path)
    elif name.endswith(".jsonl"):
        path.write_text("".join(json.dumps({"text": page}) + "\n" for page in PAGES))
    else:
        sheet = io.StringIO(newline="")
        writer = csv.writer(sheet, delimiter="\t" if name.endswith(".tsv") else ",")
        writer.writerows([("note", "text"), *(("n", page) for page in PAGES)])
        path.write_text(sheet.getvalue(), newline="")
    return path


def words(texts):
    return [" ".join(text.split()) for text in texts]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.parquet", "table", "dictionary"])
def test_html_in_a_column_of_every_format(tmp_path, name):
    if name in ("table", "dictionary"):
        texts = pa.array(PAGES)
        paths = pa.table({"text": texts.dictionary_encode() if name == "dictionary" else texts})
    else:
        paths = save(tmp_path, name)
    for content, expected in ((None, PAGES), ("main", MAIN), ("all", ALL)):
        source = Source(paths, html=content, batch_size=2)
        documents, rejects = read(source)
        assert not rejects and words([text for _, text in documents]) == words(expected)
        reading = source.batches()
        assert sum(len(batch) for batch in reading) == len(PAGES)
        fetched = fetch_texts(reading, np.array([3, 0]))
        assert {row: words([text])[0] for row, text in fetched.items()} == {0: words(expected)[0], 3: expected[3]}


def test_html_in_lines_with_problems(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "<p>one"}\nbroken\n\n{"text": "<p>two"}\n')
    documents, (reject,) = read(Source(path, on_error="skip", html="main"))
    assert documents == [("a.jsonl:1", "one"), ("a.jsonl:4", "two")] and reject.line == 2


def test_pages_are_written_as_they_were(tmp_path):
    path = save(tmp_path, "a.jsonl")
    result = sosie.dedup(Source(path, html="main"), output=tmp_path / "out")
    assert result.report["counts"]["without_features"] == 2 and result.mask.all()
    assert (tmp_path / "out/kept/a.jsonl").read_bytes() == path.read_bytes()


def test_only_markup_differs(tmp_path):
    bodies = [
        "<p>a rose is a rose is a rose</p>",
        "<div><h1>A ROSE</h1> is a <b>rose</b><br>is a rose</div>",
        "<p>else",
    ]
    result = sosie.dedup(Source(pa.table({"text": bodies}), html="main"), threshold=1.0)
    assert result.mask.tolist() == [True, False, True]
    assert sosie.dedup(pa.table({"text": bodies}), threshold=1.0).mask.all()


@pytest.mark.parametrize("content", ["main", "all"])
def test_what_is_no_text(content):
    page = (
        "<head><title>t</title><style>p {}</style></head><p>a <a href='http://x.y'>link</a> <img alt='picture'>"
        "<ul><li>one<li>two</ul><form><input value='field'></form><noscript>none</noscript>"
        "<script>s()</script><!-- c -->"
    )
    found = page_text(page, content).split()
    assert found == ["a", "link", "one", "two"] if content == "all" else found[:2] == ["a", "link"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("<p>naïve café</p>".encode(), "naïve café"),
        ("<p>naïve café</p>".encode("utf-8-sig"), "naïve café"),
        ("<p>naïve café</p>".encode("utf-16"), "naïve café"),
        (b"\xfe\xff" + "<p>naïve café</p>".encode("utf-16-be"), "naïve café"),
        ("<meta charset=windows-1251><p>Широкая электрификация</p>".encode("cp1251"), "Широкая электрификация"),
        (
            "<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'><p>日本語のページ</p>".encode(
                "shift_jis"
            ),
            "日本語のページ",
        ),
        ("<p>Le café, déjà vu, à la crème, où ça</p>".encode("latin-1"), "Le café, déjà vu, à la crème, où ça"),
        ("<meta charset=latin1><p>“quoted”</p>".encode("cp1252"), "“quoted”"),
        ("<meta charset=utf-16><p>é</p>".encode(), "é"),
        (b"<meta charset=nonsense><p>word</p>", "word"),
        (b"<meta charset=utf-8><p>caf\xe9 au lait", "caf\ufffd au lait"),
        ("<p>é</p>".encode(), "é"),
        (b"", ""),
        (b"\xff\xfe", ""),
    ],
)
def test_encodings_are_those_of_browsers(tmp_path, data, expected):
    fill(tmp_path / "in", {"a.html": data})
    assert read(Source(tmp_path / "in"))[0] == [("a.html", expected)]
    write(Source(tmp_path / "in"), {}, tmp_path / "out")
    assert contents(tmp_path / "out") == {"kept/a.html": data}


def test_a_charset_that_is_given_wins_over_the_declared_one_but_not_over_a_mark():
    data = "<meta charset=utf-8>Москва".encode("cp1251")
    assert decode_bytes(data, "windows-1251", markup=True).endswith("Москва")
    assert decode_bytes("é".encode("utf-8-sig"), "windows-1251", markup=True) == "é"
    assert decode_bytes("é".encode(), "no such charset", markup=True) == "é"


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: f"<meta charset=gbk><p>{text}".encode()))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_a_page(data):
    for content in ("main", "all"):
        text = read_page(data, content)
        assert text.encode("utf-8").decode("utf-8") == text


def test_folders_of_pages_beside_texts(tmp_path):
    files = {
        "a.html": "<nav>N</nav><p>one",
        "b/c.HTM": "<p>two",
        "b/d.txt": "<p>three",
        "e.md": b"caf\xe9",
        "f.html": b"caf\xe9<p>",
    }
    folder = fill(tmp_path / "in", files)
    documents, (reject,) = read(Source(folder, on_error="skip"))
    assert documents == [("a.html", "one"), ("b/c.HTM", "two"), ("b/d.txt", "<p>three"), ("f.html", "café")]
    assert (reject.file, reject.reason) == ("e.md", "invalid UTF-8 (byte 4 of the file)")
    assert words([read(Source(folder, on_error="skip", html="all"))[0][0][1]]) == ["N one"]
    (place,) = list_inputs(folder)
    (block,) = read_texts(place.files)
    assert block.pages == [True, True, False, False, True] and block.take(np.array([1, 2])).pages == [True, False]
    reading = Source(folder, on_error="skip").batches()
    list(reading)
    assert fetch_texts(reading, np.array([1, 2, 3])) == {1: "two", 2: "<p>three"}
    write(Source(folder, on_error="skip"), {1: 0}, tmp_path / "out")
    assert contents(tmp_path / "out") == {
        "dropped.tsv": b"file\tduplicate_of\tsimilarity\nb/c.HTM\ta.html\t0.515625\n",
        "dropped/b/c.HTM": b"<p>two",
        "kept/a.html": files["a.html"].encode(),
        "kept/b/d.txt": b"<p>three",
        "kept/f.html": files["f.html"],
    }


def test_pages_that_are_too_long_are_bad_records(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "PAGE_LIMIT", 1 << 20)
    reason = "more than 1 MiB of HTML, the most that is extracted"
    long = "<p>" + "a" * (1 << 20)
    fill(tmp_path, {"a.html": "<p>one", "b.html": long})
    with pytest.raises(DataError, match=f"b.html: {reason}. Fix the file or pass --on-error skip"):
        list(Source(tmp_path).batches())
    table = pa.table({"text": [long, "<p>one"]})
    documents, (reject,) = read(Source(table, html="main", on_error="skip"))
    assert documents == [(1, "one")] and (reject.row, reject.reason) == (0, reason)


def test_wrong_values_and_the_missing_extra(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match=r"html is 'main', 'all' or None, got 'body'"):
        Source("a.jsonl", html="body")
    fill(tmp_path, {"a.html": "<p>one", "b.txt": "two"})
    for name in [name for name in sys.modules if name.partition(".")[0] == "resiliparse"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "resiliparse", None)
    load_resiliparse.cache_clear()
    for source in (Source(tmp_path), Source(pa.table({"text": ["a"]}), html="all")):
        with pytest.raises(UsageError, match=r"need the package resiliparse.*pip install 'sosie\[html\]'"):
            source.batches()
    assert read(Source(tmp_path / "b.txt"))[0] == [("b.txt", "two")]


def test_extras_are_loaded_when_they_are_needed():
    assert not {"resiliparse", "fastwarc"} & imported_by("import sosie.jobs.dedup")


def test_pages_nested_too_deeply_are_bad_records(tmp_path):
    flat = "<ul>" + "<li>a rose<br><p>is a <i>rose</i><svg><path d=0 /></svg>" * 6000 + "</ul>"
    (tmp_path / "flat.html").write_text(flat)
    (tmp_path / "deep.html").write_text("<DIV class='a'>" * 6000 + "a rose")
    (batch,) = Source(tmp_path, on_error="skip").batches()
    assert [reject.file for reject in batch.rejects] == ["deep.html"]
    assert batch.rejects[0].reason == "elements nested more than 4,096 deep"
    assert batch.texts[0].as_py().count("rose") == 12_000


def test_lists_of_links_are_content_unless_they_are_navigation():
    menu = "<div class='docs-sidebar'><ul><li><a href=/>Home</a><li><a href=/x>Other</a></ul></div>"
    entries = "".join(f"<li><a href='{name}.html'>{name}</a></li>" for name in ("abort", "algo", "amf"))
    assert page_text(f"<body>{menu}<h3>- a -</h3><ul>{entries}</ul></body>", "main").split() == [
        *("-", "a", "-"),
        *("abort", "algo", "amf"),
    ]


@pytest.mark.parametrize(
    "aside",
    (
        "<nav>{}</nav>",
        "<aside>{}</aside>",
        "<footer>{}</footer>",
        "<header>{}</header>",
        "<div role=banner>{}</div>",
        "<div role=navigation>{}</div>",
        "<div class='left Sidebar'>{}</div>",
        "<div class='row footer-links'>{}</div>",
        "<ul class=menu><li>{}</li></ul>",
        "<div id=navbar>{}</div>",
    ),
)
def test_navigation_is_not_main_content(aside):
    page = f"<body>{aside.format('Home and more')}<p>A rose is a rose.</p></body>"
    assert page_text(page, "main").split() == ["A", "rose", "is", "a", "rose."]
    assert "Home and more" in page_text(page, "all")


@pytest.mark.parametrize(
    "page",
    (
        "<body class=has-sidebar><p>{}</p></body>",
        "<div class=has-sidebar><main>{}</main></div>",
        "<div class=wy-grid-for-nav><div class=footer-less role=main><p>{}</p></div></div>",
        "<div class=section id=sidebar><p>{}</p></div>",
        "<h2 id=footer>{}</h2>",
        "<article><header>{}</header></article>",
        "<p class=unavailable>{}</p>",
    ),
)
def test_what_only_sounds_like_navigation_is_content(page):
    assert page_text(page.format("A rose is a rose."), "main").split() == ["A", "rose", "is", "a", "rose."]
