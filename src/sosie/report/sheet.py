"""The sheet that a page of results is written on: one HTML file with its style, its sections and links to them."""

from __future__ import annotations

from sosie.report.panels import safe
from sosie.report.style import STYLE


def sheet(
    title: str,
    head: str,
    sections: list[tuple[str, str, str]],
    footer: str,
    alarmed: bool,
    style: str = "",
) -> str:
    """Return a page of sections, each an anchor, a title and what it holds; all but the title is HTML.

    With `alarmed`, the section `warnings` stands out. `style` is added to the style sheet.
    """
    links = "".join(f'<a href="#{anchor}">{heading}</a>' for anchor, heading, _ in sections)
    some = ' class="some"' if alarmed else ""
    body = "\n".join(
        f'<section id="{anchor}"{some if anchor == "warnings" else ""}><h2>{heading}</h2>\n{content}</section>'
        for anchor, heading, content in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>\n{STYLE}{style}\n</style>\n</head>\n<body>\n<main>\n"
        f"<header>\n{head}\n<nav>{links}</nav>\n</header>\n{body}\n"
        f"{footer}\n</main>\n</body>\n</html>\n"
    )
