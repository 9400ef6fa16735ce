"""Every link of every document leads somewhere: to a file, to a heading of it, or into the repository as published."""

import re
import tomllib
from pathlib import Path

import pytest

import sosie

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HOME = PROJECT["urls"]["Homepage"]
RAW = HOME.replace("github.com", "raw.githubusercontent.com")
PUBLISHED = (f"{HOME}/blob/main/", f"{HOME}/tree/main/", f"{RAW}/main/")
SKIPPED = {".git", ".hypothesis", ".pytest_cache", ".venv", "build", "demo-output", "dist"}
DOCUMENTS = sorted(path for path in ROOT.rglob("*.md") if not SKIPPED & {*path.relative_to(ROOT).parts})


def prose(page):
    """Return a document without what stands in code."""
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text("utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "code", text)


def links(page):
    """Return the targets of inline links, images, definitions and plain HTML; every reference is defined."""
    text = prose(page)
    defined = dict(re.findall(r"^\[([^\]]+)\]:[ \t]+(\S+)$", text, re.M))
    used = {name for name in re.findall(r"\]\[([^\]]+)\]", text)}
    assert used <= defined.keys(), f"{page.name}: {sorted(used - defined.keys())} are not defined"
    inline = re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", text)
    return [*inline, *defined.values(), *re.findall(r"(?:href|src)=\"([^\"]+)\"", text)]


def headings(page):
    """Return the anchors of a document, as GitHub and the site make them."""
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text("utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ +(.*?) *$", text, re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    for target in links(page):
        place, _, anchor = target.partition("#")
        published = next((place.removeprefix(start) for start in PUBLISHED if place.startswith(start)), None)
        if published is not None:
            file = ROOT / published
        elif re.match(r"\w+:", target):
            assert target.startswith("https://"), f"{page.name}: {target}"
            assert HOME not in target or place in PROJECT["urls"].values(), f"{page.name}: {target}"
            continue
        else:
            file = page.parent / place if place else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in headings(file), f"{page.name}: {target}"


def test_the_readme_has_only_links_that_hold_elsewhere():
    """It is shown by package indexes, far from the repository; and it is a screen long."""
    readme = ROOT / "README.md"
    found = links(readme)
    assert len(found) >= 10 and all(target.startswith("https://") for target in found)
    assert len(readme.read_text("utf-8").splitlines()) <= 60
    assert PROJECT["readme"] == "README.md"


def test_the_urls_of_the_project_are_those_of_the_repository():
    for url in PROJECT["urls"].values():
        assert url.startswith(HOME)
        if url.startswith(PUBLISHED):
            assert (ROOT / url.removeprefix(PUBLISHED[0])).exists(), url


def test_what_the_package_says_of_itself():
    assert PROJECT["version"] == sosie.__version__
    oldest = int(PROJECT["requires-python"].removeprefix(">=3."))
    named = [c for c in PROJECT["classifiers"] if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", c)]
    assert named[0].endswith(f".{oldest}") and len(named) >= 3


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    shown = set(re.findall(r"^\.\. auto\w+:: (\w+)$", page, re.M))
    assert shown == {*sosie.__all__} - {"__version__"}


def test_every_document_is_on_the_site():
    """What no table of contents names is found by nobody."""
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    named = {line for block in re.findall(r"```{toctree}\n(.*?)```", index, re.S) for line in block.split()}
    for page in (ROOT / "docs").rglob("*.md"):
        name = page.relative_to(ROOT / "docs").with_suffix("").as_posix()
        assert name == "index" or name in named or f"{name.rpartition('/')[0]}/*" in named, name
