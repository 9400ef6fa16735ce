"""What single steps of linking documents of two languages take."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

PAIR_BYTES = 56  # of a pair while it is found, compared and ranked
ENTRY_BYTES = 8  # a column and its weight, in a vector or in a list by column
COMPARED = 100  # of the most similar targets of each source, that are ranked where no recall is asked
BACK = 10  # of each target, sources that are compared with it
LET_THROUGH = 0.98  # of pairs exactly at a threshold, where no recall is asked
REACHED = 0.85  # of the ten most similar, by 1000 bits and as many compared, where no documents tell it
LITTLE = 2_000_000  # links, a second's worth: less is aligned before another process has started
COLUMNS = 400.0  # of a vector, where no documents tell it: words both ways, and runs of letters
COMMON = 0.08  # share of a vector's columns that another has, too, where no documents tell it

LINKS: dict[str, Constant] = {
    "link.product": Constant("an addition to the product of two vectors, over lists by column", 1.3),
    "link.score": Constant("a document that may be similar to another, looked at once its product is there", 0.9),
    "link.sign": Constant("a column of a vector added to a signature, by bits", {256: 60, 1024: 220}),
    "link.column": Constant("a column of two vectors that are compared", 1.9),
}
