"""What the guide shows of plans is what they print, with the constants of a usual machine."""

from tests.planner.guide import PAGE, printed


def test_the_guide_shows_what_is_printed():
    page = PAGE.read_text("utf-8")
    assert page.count("\n$ sosie plan") >= 6
    assert printed(page) == page, "run: python -m tests.planner.guide, and read the difference"
