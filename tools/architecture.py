"""Write the map in ARCHITECTURE.md from the tree itself: every folder's question, every file's first sentence.

usage: python tools/architecture.py          rewrites the map; a test fails where it differs from the disk
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sosie"
PAGE = ROOT / "ARCHITECTURE.md"
BEGIN, END = "<!-- map: begin -->\n", "<!-- map: end -->\n"
FLOW = (
    "errors.py", "shown.py", "arrays.py", "runs.py", "parallel.py", "found.py", "types.py", "kernels", "storage",
    "planner", "documents", "text", "features", "signatures", "index", "matches", "search", "clusters", "crosslingual",
    "evaluation", "report", "jobs", "spark", "cli", "__main__.py", "__init__.py",
)  # fmt: skip


def first_sentence(file: Path) -> str:
    """Return the first line of a module's docstring."""
    documented = ast.get_docstring(ast.parse(file.read_text("utf-8")))
    if not documented:
        raise SystemExit(f"{file.relative_to(ROOT)}: has no docstring")
    return documented.splitlines()[0]


def draw_map() -> str:
    """Return the map of the package in flow order."""
    present = {path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    if present != set(FLOW):
        raise SystemExit(f"FLOW and {PACKAGE.name}/ differ: {sorted(present ^ set(FLOW))}")
    lines: list[str] = []
    for name in FLOW:
        path = PACKAGE / name
        if path.is_file():
            lines += [f"### `{name}`", "", first_sentence(path), ""]
            continue
        lines += draw_folder(path, "###")
    return "\n".join(lines)


def draw_folder(folder: Path, level: str) -> list[str]:
    """Return the lines of a folder, its files first, then the folders in it."""
    name = folder.relative_to(PACKAGE).as_posix()
    lines = [f"{level} `{name}/` {first_sentence(folder / '__init__.py')}", ""]
    files = [file for file in sorted(folder.glob("*.py")) if file.name != "__init__.py"]
    if files:
        lines += ["| file | what it does |", "|---|---|"]
        lines += [f"| `{file.name}` | {first_sentence(file)} |" for file in files] + [""]
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        lines += draw_folder(inner, level + "#")
    return lines


def with_map(page: str) -> str:
    """Return the page with its map drawn anew."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n" + draw_map() + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(with_map(PAGE.read_text("utf-8")), "utf-8")
