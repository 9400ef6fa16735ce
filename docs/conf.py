"""How the documentation site is built: Sphinx, from the Markdown of this folder and the docstrings of the package."""

from __future__ import annotations

import re
from typing import Any

import sosie

project = "Sosie"
author = "The Sosie developers"
copyright = author
version = release = sosie.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["conf.py"]
nitpicky = False  # types in signatures are NumPy's and Arrow's, which the site does not describe

myst_heading_anchors = 4
default_role = "code"  # docstrings say `name`, as the rest of the documents do

autodoc_default_options = {"members": True, "member-order": "bysource", "show-inheritance": True}
autodoc_typehints_format = "short"
autodoc_use_type_comments = False
maximum_signature_line_length = 90
add_module_names = False

html_theme = "furo"
html_title = f"Sosie {release}"
html_copy_source = False
html_theme_options = {
    "source_repository": "https://github.com/sosie-project/sosie/",
    "source_branch": "main",
    "source_directory": "docs/",
}


def setup(app: Any) -> None:
    """Let docstrings say what they say: in them, bars and the ends of names mean nothing special."""
    app.connect("autodoc-process-docstring", as_written)


def as_written(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape, outside of code and examples, what reStructuredText would take for a substitution or a reference."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(`[^`]*`)", line)
            parts[::2] = [re.sub(r"\||(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            lines[number] = "".join(parts)
