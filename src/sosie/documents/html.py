"""Pages of HTML to the text that a person reads, by Resiliparse; nothing else imports it."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sosie.documents.batch import Records
from sosie.errors import UsageError
from sosie.kernels.text.elements import MOST_FORMATS, MOST_OPEN, WORK
from sosie.kernels.text.page_work import page_work

# What is compared: the main content of a page, or all of its text.
Content = Literal["main", "all"]

PAGE_LIMIT = 16 << 20
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DECLARED = re.compile(rb"<meta[^>]*charset", re.I)
_PRESCAN = 1024
# Browsers go no deeper than 512, and open no formatting element more than a few times again.
DEPTH_LIMIT = 4096
FORMAT_LIMIT = 1024
# Extraction takes some 0.1 microseconds for each ancestor of each element, parsing as much for 8 pairs of attributes.
WORK_LIMIT = 16_000_000
_FEW_TAGS = 256  # whatever they are, a page of so few is extracted in a fraction of a second
_FEW_BYTES = 1 << 14  # ... and so are its attributes, in so many bytes
# What is not main content: elements and roles that say so, and others by the names that people give them, unless they
# hold the main content themselves (a `div` of the class `has-sidebar`).
_ROLES = ("navigation", "banner", "contentinfo", "search", "complementary")
_NAMES = ("sidebar", "navbar", "breadcrumb", "footer", "topnav", "top-nav", "subnav", "sub-nav", "navpath")
_WORDS = ("nav", "navigation", "menu")
_NAMED = (
    *(f'[class*="{name}" i]' for name in _NAMES),
    *(f'[class~="{name}" i]' for name in _WORDS),
    *(f'[id="{name}" i]' for name in _NAMES + _WORDS),
)
_ASIDE = [
    *("nav", "footer", "aside", "header:not(:is(main, article) header)"),
    *(f"[role={role}]" for role in _ROLES),
    f":is(div, ul, ol, table, td, p, li, address):is({', '.join(_NAMED)})"
    ":not(.section, :has(main, article, [role=main]))",
]
_PLAIN = {"list_bullets": False, "alt_texts": False, "links": False, "form_fields": False, "noscript": False}


class PageError(Exception):
    """A page that cannot be used; the message says why."""


@cache
def load_resiliparse() -> tuple[Any, Any]:
    """Return the modules that extract texts and find encodings; raise if the extra is not installed."""
    try:
        import resiliparse.extract.html2text as extraction
        import resiliparse.parse.encoding as encoding
    except ImportError as error:
        raise UsageError(
            f"HTML and WARC need the package resiliparse ({error}). Run: pip install 'sosie[html]'"
        ) from error
    return extraction, encoding


def page_text(page: str, content: Content) -> str:
    r"""Return the text of a page: its main content, or all that is visible.

    Navigation, headers, footers and sidebars are not main content; lists of links outside of them are. Where a page has
    nothing else, all of its text is taken, so that only pages without any text are documents without words.

    >>> page_text("<nav>Home | News</nav><p>A rose is a <b>rose</b>.</p>", "main")
    'A rose is a rose.'
    >>> page_text("<nav>Home | News</nav><p>A rose is a <b>rose</b>.</p>", "all")
    'Home | News\n\nA rose is a rose.'
    >>> page_text("<nav>Home | News</nav>", "main")
    'Home | News'
    """
    _check_length(page)
    _check_work(page)
    extract = load_resiliparse()[0].extract_plain_text
    text: str = extract(page, skip_elements=_ASIDE if content == "main" else None, **_PLAIN)
    if content == "main" and not text.strip():
        text = extract(page, **_PLAIN)
    return text


def decode_bytes(data: bytes, charset: str | None = None, *, markup: bool) -> str:
    """Decode as browsers do: by the byte order mark, else by `charset`, else by what `markup` declares.

    Where nothing is said, the bytes are UTF-8 if they can be, else what they look like. Undecodable ones become U+FFFD.

    >>> decode_bytes("<meta charset=windows-1251>Москва".encode("cp1251"), markup=True)
    '<meta charset=windows-1251>Москва'
    """
    for mark, known in _BOMS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(known, "replace")
    encoding = load_resiliparse()[1]
    name: str | None = encoding.map_encoding_to_html5(charset, fallback_utf8=False) if charset else None
    if name is None and markup and _DECLARED.search(data, 0, _PRESCAN):
        declared: str = encoding.detect_encoding(data, from_html_meta=True)
        # A declaration that can be read is not UTF-16.
        name = "utf-8" if declared.startswith("utf-16") else declared
    if name is not None:
        return data.decode(name, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(encoding.detect_encoding(data), "replace")


def read_page(data: bytes, content: Content | None, charset: str | None = None) -> str:
    """Return the text of a page of bytes; `content` None means the main content."""
    _check_length(data)
    return page_text(decode_bytes(data, charset, markup=True), content or "main")


def extract_pages(records: Records, content: Content) -> Records:
    """Replace the texts, which are pages, by the text in them."""
    texts: list[str] = []
    problems: dict[int, str] = {}
    for position, page in zip(records.accepted.tolist(), records.texts, strict=True):
        try:
            texts.append(page_text(page.as_py(), content))
        except PageError as error:
            problems[position] = str(error)
            texts.append("")
    return replace(records, texts=pa.array(texts, pa.large_string())).without(problems)


def _check_work(page: str) -> None:
    """Raise if a page would take a parser or the selectors much longer than others of its length."""
    if page.count("<") <= _FEW_TAGS and len(page) <= _FEW_BYTES:
        return
    data = np.frombuffer(page.encode("utf-8", "replace"), np.uint8)
    counts = page_work(data, WORK_LIMIT, DEPTH_LIMIT, FORMAT_LIMIT)
    if counts[MOST_OPEN] > DEPTH_LIMIT:
        raise PageError(f"elements nested more than {DEPTH_LIMIT:,} deep")
    if counts[MOST_FORMATS] > FORMAT_LIMIT:
        raise PageError(f"more than {FORMAT_LIMIT:,} formatting elements (b, i, font, a and the like) open at once")
    if counts[WORK] > WORK_LIMIT:
        raise PageError(
            f"more than {WORK_LIMIT // 1_000_000} million steps to extract (elements by how deep they are, attributes "
            "of one tag by their pairs): no usual page"
        )


def _check_length(page: str | bytes) -> None:
    if len(page) > PAGE_LIMIT:
        raise PageError(f"more than {PAGE_LIMIT >> 20} MiB of HTML, the most that is extracted")
