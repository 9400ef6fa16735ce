"""Pages made to cost a parser far more than their length: rejected with the figure, and never a usual page."""

import json
import random

import numpy as np
import pytest

from sosie.documents import Source, html
from sosie.documents.html import PageError, page_text
from sosie.kernels.text.elements import MOST_OPEN, WORK
from sosie.kernels.text.page_work import page_work

DEEP = "elements nested more than 4,096 deep"
FORMATS = "more than 1,024 formatting elements"
STEPS = "more than 16 million steps"
NAMES = (
    "a b i font nobr p div span ul li dd dl table tr td th tbody caption select option optgroup svg math mi title desc"
    " foreignObject style script textarea iframe button h1 h2 object template form ruby rt rp x1 input br mglyph"
    " annotation-xml noscript header"
).split()

HOSTILE = {
    "open elements": ("<div>" * 20_000, DEEP),
    "elements that only look closed": ("<div/>" * 20_000, DEEP),
    "end tags that close nothing": ("<div></span>" * 20_000, DEEP),
    "behind a barrier": ("<div><table><td></div></td></table>" * 20_000, STEPS),
    "elements that something would have to close": ("<optgroup>" * 20_000 + "<rt>" * 20_000, DEEP),
    "a choice that hides what is raw": ("<select><iframe></select>" + "<div>" * 20_000, DEEP),
    "end tags in a field": ("<div><select><textarea></div></textarea>" * 20_000, STEPS),
    "SVG that hides what is raw": ("<svg><style>" + "<g>" * 20_000, DEEP),
    "lists in lists": ("<ul><li>" * 20_000, DEEP),
    "formatting": ("".join(f"<b c={i}>" for i in range(5_000)), FORMATS),
    "formatting in every block": (
        "<div>" + "".join(f"<b c={i}>" for i in range(1_000)) + "</div>" + "<div>x</div>" * 5_000,
        STEPS,
    ),
    "deep and wide": ("<div>" * 2_000 + "<b></b>" * 20_000, STEPS),
    "attributes": ("<div " + " ".join(f"a{i}" for i in range(20_000)) + ">x", STEPS),
    "attributes of the page": ("".join(f"<body a{i}>" for i in range(20_000)), STEPS),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_that_costs_more_than_its_length_is_rejected(name):
    page, reason = HOSTILE[name]
    with pytest.raises(PageError, match=reason):
        page_text(page, "main")


@pytest.mark.parametrize("page", ["<a" * 40_000, "<" * 40_000, "<!--" * 20_000, "<a b='" * 20_000, "<p>" * 9_000])
def test_tags_that_never_close_take_no_longer_than_others(page):
    assert not page_text(page, "main").strip("<\n")


def test_hostile_pages_are_rejected_records(tmp_path):
    pages = [HOSTILE["formatting"][0], "<p>fine", HOSTILE["attributes"][0]]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": page}) + "\n" for page in pages))
    (batch,) = Source(path, html="main", on_error="skip").batches()
    assert batch.texts.to_pylist() == ["fine"]
    assert [reject.row for reject in batch.rejects] == [0, 2]
    assert FORMATS in batch.rejects[0].reason and STEPS in batch.rejects[1].reason


@pytest.mark.parametrize(
    "page",
    [
        "<ul>" + "<li>item" * 50_000 + "</ul>",
        "<table>" + "<tr><td>a<td><font color=red>b" * 20_000 + "</table>",
        "<p><font size=2><b>a" * 20_000,
        "<form>" + "<p>a<select><option>b<option>c</select>" * 10_000,
        "<svg>" + "<path d='M0'/>" * 50_000 + "</svg>text",
        "<div><p>a</div>" * 50_000,
    ],
)
def test_pages_as_people_write_them_are_read(page):
    assert page_text(page, "main").strip() or "svg" in page


def test_no_page_is_deeper_or_larger_than_it_is_taken_for():
    chance = random.Random(7)
    for _ in range(1_500):
        page = _page(chance)
        counts = page_work(np.frombuffer(page.encode(), np.uint8), 1 << 40, 10_000, 1_000)
        depth, work = _measured(page)
        assert depth <= 4 * counts[MOST_OPEN] + 12, page
        assert work <= 4 * counts[WORK] + 400, page


def _page(chance):
    """Return a page of one run of tags, which may be misnested in any way, again and again."""
    names = chance.sample(NAMES, chance.choice([2, 3, 5, 9]))
    shapes = ["<{}>"] * 11 + ["</{}>"] * 5 + ["<{} c=@>", "<{}/>", "x", " ", "<!--", "-->", "<![CDATA[>", "]]>"]
    unit = "".join(chance.choice(shapes).format(chance.choice(names)) for _ in range(chance.randint(2, 8)))
    return "".join(unit.replace("@", str(i)) for i in range(chance.choice([1, 20, 40])))


def _measured(page):
    """Return how deep the elements of the tree of a page are at most, and in all."""
    html.load_resiliparse()
    from resiliparse.parse.html import HTMLTree

    waiting, most, total = [(HTMLTree.parse(page).document, 0)], 0, 0
    while waiting:
        node, depth = waiting.pop()
        child = node.first_child
        while child is not None:
            if child.type == 1:
                most, total = max(most, depth), total + depth
                waiting.append((child, depth + 1))
            child = child.next
    return most, total
