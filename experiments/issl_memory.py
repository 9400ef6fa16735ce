"""ISSL Table 2: the memory of slice lists, by formula; and TOPK 3.1's.

usage: python -m experiments.issl_memory [--write]

The paper searched 500 million documents. Its memory without lists is 192 bytes for each document, the signature's 128
and 64 more: that gives their number. Lists take 4 bytes for every slice of every row, and 4 for every value.
"""

from __future__ import annotations

import numpy as np

from experiments.slice_data import BITS, options
from experiments.slice_page import publish, table
from sosie.kernels.slices.lists import slice_edges
from sosie.planner.methods.slices import list_bytes

EXHAUSTIVE = 92266.03
PAPER = {23: 180029.43, 24: 177417.01, 25: 176260.59, 26: 177346.38}
PER_DOCUMENT = 192


def main() -> None:
    """Compute and print; write if asked."""
    given = options(__doc__ or "", 0, 0).parse_args()
    count = round(EXHAUSTIVE * 2**20 / PER_DOCUMENT)
    lines = []
    for width, paper in PAPER.items():
        edges = slice_edges(BITS, width)
        widths, sizes = np.unique(np.diff(edges), return_counts=True)
        cut = " + ".join(f"{size} of {bits}" for bits, size in zip(widths, sizes, strict=True))
        lists = list_bytes(count, BITS, width) / 2**20
        total = lists + EXHAUSTIVE
        lines.append([f"{width}-bit", cut, f"{lists:,.2f}", f"{total:,.2f}", f"{paper:,.2f}", f"{total - paper:+.2f}"])
    header = ["width", "slices", "lists (MiB)", "with the documents (MiB)", "paper (MB)", "difference"]
    topk = list_bytes(2**20, BITS, 16)
    text = (
        f"{count:,} documents:\n\n{table(header, lines)}\n\nTOPK 3.1 gives 272 MB for 2^20 signatures in slices of 16 "
        f"bits; ours take {topk:,} bytes: 272 MiB and {topk - 272 * 2**20} bytes, one more offset for each slice."
    )
    publish("issl.md", "issl-table-2", text, given.write)


if __name__ == "__main__":
    main()
