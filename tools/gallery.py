"""Make the pictures of the report in docs/images: real reports of generated collections, as a browser shows them.

usage: python tools/gallery.py [--browser chromium]          rewrites docs/images/report-*.png

Two collections are de-duplicated: short articles of which some are edited copies, and the same with hundreds of letters
that are one notice. Each picture shows some parts of a report; the others are hidden by one more style rule.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sosie.jobs.dedup import Deduplicator

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
LARGEST = 200_000  # bytes of a picture
PLACES = "harbour museum market library theatre station bridge orchard school bakery garden mill".split()
PEOPLE = "mayor director gardener teacher captain curator baker engineer neighbour painter doctor pilot".split()
DEEDS = "opened restored painted measured described photographed closed visited mended praised copied sold".split()
THINGS = "lantern archive staircase window roof clock fountain collection map bench boat piano".split()
TIMES = "in spring|last week|after the storm|before noon|for the first time|as promised|without delay|again".split("|")
KINDS = "old small famous quiet wooden northern bright forgotten blue narrow heavy public".split()
NOTICE = " ".join(
    f"Subscribers of the {kind} {place} newsletter may read this notice in the {thing} by the {place} at any time."
    for kind, place, thing in zip(KINDS[:7], PLACES, THINGS, strict=False)
)


@dataclass(frozen=True)
class Picture:
    """Some parts of a report, given as CSS selectors of what is hidden."""

    name: str
    report: str
    hidden: str
    height: int
    dark: bool = False


_BESIDE = "header, #warnings, #method, #plots, #threshold, #clusters, #sample, #cost, footer"


def _but(*shown: str) -> str:
    return ", ".join(part for part in _BESIDE.split(", ") if part not in shown)


PICTURES = [
    Picture("overview-light", "articles", _but("header", "#warnings", "#method", "#plots"), 1330),
    Picture("overview-dark", "articles", _but("header", "#warnings", "#method", "#plots"), 1330, dark=True),
    Picture("differences-light", "articles", _but("#threshold") + ", #below, details:nth-of-type(n+3)", 860),
    Picture("differences-dark", "articles", _but("#threshold") + ", #below, details:nth-of-type(n+3)", 860, dark=True),
    Picture("below-light", "articles", _but("#threshold") + ", #above, details:nth-of-type(n+3)", 860),
    Picture("clusters-light", "articles", _but("#clusters") + ", .cluster:nth-of-type(n+6)", 790),
    Picture("warning-light", "letters", _but("header", "#warnings", "#method"), 1080),
]


def sentence(generator: random.Random) -> str:
    """Return a sentence that someone might have written."""
    pick = generator.choice
    return (
        f"The {pick(PEOPLE)} {pick(DEEDS)} the {pick(KINDS)} {pick(THINGS)} of the {pick(PLACES)} {pick(TIMES)},"
        f" and the {pick(KINDS)} {pick(PEOPLE)} {pick(DEEDS)} a {pick(THINGS)}."
    )


def notices(count: int) -> list[str]:
    """Return letters that are a notice with a word of their own."""
    generator = random.Random(1)
    greetings = (f"Dear {generator.choice(KINDS)} {generator.choice(PEOPLE)}, number {i}:" for i in range(count))
    return [f"{greeting} {NOTICE}" for greeting in greetings]


def articles(count: int) -> list[str]:
    """Return articles; every third is a copy of an earlier one, with none to eight of its words replaced."""
    generator = random.Random(0)
    texts: list[str] = []
    for number in range(count):
        if number % 3 or not number:
            texts.append(" ".join(sentence(generator) for _ in range(generator.randint(4, 6))))
            continue
        words = texts[generator.randrange(max(0, number - 12), number)].split()
        for _ in range(generator.randint(0, 8)):
            words[generator.randrange(len(words))] = generator.choice(KINDS + PLACES + THINGS)
        text = " ".join(words)
        texts.append(text.upper() if generator.random() < 0.05 else text)
    return texts


def write_reports(folder: Path) -> None:
    """De-duplicate both collections."""
    for name, texts in (("articles", articles(3_000)), ("letters", notices(600) + articles(2_400))):
        lines = (json.dumps({"id": f"{name}-{number}", "text": text}) for number, text in enumerate(texts))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
        Deduplicator().run(f"{name}.jsonl", output=folder / name)


def take(picture: Picture, folder: Path, browser: str) -> None:
    """Let the browser draw one picture."""
    page = (folder / picture.report / "report.html").read_text("utf-8")
    page = page.replace(
        "</style>", f"{picture.hidden} {{ display: none !important; }}\nmain {{ padding-bottom: 0; }}</style>"
    )
    (folder / "shown.html").write_text(page, "utf-8")
    target = IMAGES / f"report-{picture.name}.png"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        subprocess.run(
            [
                *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                *(f"--user-data-dir={profile}", f"--window-size=1280,{picture.height}"),
                f"--blink-settings=preferredColorScheme={0 if picture.dark else 1}",
                *(f"--screenshot={target}", (folder / "shown.html").as_uri()),
            ],
            check=True,
            capture_output=True,
        )
    if target.stat().st_size > LARGEST:
        raise SystemExit(f"{target.name}: has {target.stat().st_size:,} bytes; show less")


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="chromium", help="a Chromium that runs without a screen")
    browser = parser.parse_args().browser
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that the report names the inputs without a path
        write_reports(Path(folder))
        for picture in PICTURES:
            take(picture, Path(folder), browser)


if __name__ == "__main__":
    main()
