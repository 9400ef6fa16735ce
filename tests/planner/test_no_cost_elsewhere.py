"""What something costs is written in `sosie/planner/` and nowhere else: one place decides, and one place is measured.

A cost is what one step takes beside another, nanoseconds, or the bytes that a row, a feature or a document takes. How
work is cut into tasks, and how far it may go, are no costs.
"""

import ast
import re
from pathlib import Path

import pytest

import sosie

ROOT = Path(sosie.__file__).parent
# Names of what something takes, and what comments say of it.
NAMED = re.compile(
    r"(^|_)(COSTS?|PAYS?|NS|NANOSECONDS|CHEAP|WORTH)(_|$)|(^|_)PROGRAM(_BYTES)?$"
    r"|(^|_)(ROW|FEATURE|DOCUMENT|PAIR|POSTING|FREQUENCY|RECORD|TEXT|WORD|COMPILER|FIXED|BUSY)_BYTES$"
)
SAID = re.compile(
    r"\bcosts?\b|\bpays?\b|\bas cheap\b|\bnever worth\b|\b(ns|nanoseconds?)\b|\bin comparisons\b|\bin the time of\b"
    r"|\bbytes (of|for|per) (a|an|each|every|one) (row|feature|document|pair|posting|text|record|probe|signature)\b"
    r"|\b(a|one) second's worth\b|\bthe program (itself )?takes\b|\bthe program itself\b"
)
# No costs of a machine, each with the reason.
OTHERS = {
    "crosslingual/beads.py": "what an alignment of paragraphs is worth, by the paper: it decides the answer",
    "documents/parquet/read.py": "how much is read so that a sample comes from all over, which decides what is in it",
    "index/flips.py": "how likely bits flip is called their cost, as in the literature",
    "kernels/tables/vosh.py": "the same",
    "kernels/text/elements.py": "units of work by which a page is refused: other pages would be, on another machine",
    "kernels/machine/side_by_side.py": "kernels are below the planner; what it decides is how compiling is shared",
    "kernels/sets/best.py": "kernels are below the planner; the answer of a loop that looks at all rows is the same",
    "storage/checkpoint.py": "seconds of a run that are worth keeping, whatever they were spent on",
}
# What has not moved yet.
STILL = {
    "crosslingual/align.py": ("LITTLE",),
    "crosslingual/compared.py": ("_PAIR",),
    "documents/bounded.py": ("PROGRAM_BYTES", "RECORD_BYTES", "TEXT_BYTES"),
    "index/block_run.py": ("_PROBE", "_TABLES"),
    "index/flat.py": ("WORTH_A_THREAD",),
    "index/slice_store.py": ("_SPARSE",),
    "jobs/auto.py": (
        *("FEATURE_BYTES", "POSTING_BYTES", "DOCUMENT_BYTES", "FREQUENCY_BYTES", "FIXED_BYTES", "BUSY_BYTES"),
        "BUSY_FEATURE_BYTES",
    ),
    "jobs/warm.py": ("COMPILER_BYTES",),
}


def costs(source: str) -> list[str]:
    """Return the names of numbers, at the top of a module, that seem to say what something costs."""
    lines, found = source.splitlines(), []
    for node in ast.parse(source).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        if not names or node.value is None or not has_number(node.value):
            continue
        first = node.lineno - 1
        while first and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        said = " ".join(re.findall(r"#(.*)", "\n".join(lines[first : node.end_lineno])))
        found += [name for name in names if NAMED.search(name) or SAID.search(said)]
    return found


def has_number(value: ast.expr) -> bool:
    """Whether a value is a number that is written out, or several, or computed from such."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float) and not isinstance(value.value, bool)
    if isinstance(value, ast.BinOp):
        return has_number(value.left) and has_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return has_number(value.operand)
    if isinstance(value, ast.Tuple | ast.List):
        return any(map(has_number, value.elts))
    if isinstance(value, ast.Dict):
        return any(map(has_number, value.values))
    return False


def test_no_module_but_the_planner_says_what_something_costs():
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in ROOT.rglob("*.py")
        if "planner" not in path.relative_to(ROOT).parts and str(path.relative_to(ROOT)) not in OTHERS
        for name in costs(path.read_text("utf-8"))
    }
    still = {f"{path}: {name}" for path, names in STILL.items() for name in names}
    assert not found - still, "move it to sosie/planner/constants, and ask the planner"


@pytest.mark.parametrize(
    "line",
    [
        "_SORT = 8.0  # the cost of a row in a table, in comparisons of one word",
        "TILED = 8  # how many comparisons a scan makes in the time of one in a block table",
        "_PAIR = 56  # bytes of a pair while it is found",
        "POSTING_BYTES = 32",
        "PROGRAM = 400 << 20",
        "A: float = 1.5  # ns",
        "# what a row costs\n_ROW = -(3)",
        "_LOOKUP, _ROW = 64, 1  # a look-up costs as much as dozens of rows",
        "WIDTHS = {64: 1.5, 256: 3.0}  # nanoseconds",
        "WORTH_A_THREAD = 1 << 19",
    ],
)
def test_a_cost_is_seen(line):
    assert costs(f"import os\n\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "SPAN = 1 << 18  # bytes of text in one piece of work",
        "_TILE = 64  # queries that share a pass over the rows",
        "FORMAT = 'cost'  # of a file",
        "BLOCK_BYTES = 4 << 20",
        "_COST = load()",
        "def f():\n    cost = 3  # ns\n    return cost",
        "_SHORTCUT = 3  # what is shortest is taken first",
    ],
)
def test_how_work_is_cut_is_no_cost(line):
    assert not costs(f"import os\n\n{line}\n")


def test_the_exceptions_are_there():
    assert all((ROOT / path).exists() and costs((ROOT / path).read_text("utf-8")) for path in OTHERS)
