"""What single steps of joining signatures, of stores and of links take."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

JOINS: dict[str, Constant] = {
    "join": Constant("a join of signatures begun, of however few rows", 300_000.0),
    "brute pair": Constant(
        "two signatures compared over bit planes, among all pairs; by the planes that are counted",
        {32: 0.09, 64: 0.1, 256: 0.23, 1024: 0.79},
    ),
    "brute row": Constant(
        "a signature that is turned into planes, and prepared to be compared with all", {64: 330, 256: 450, 1024: 1000}
    ),
    "brute found": Constant("a pair found by comparing all, until it stands in the result", 250.0),
    "block table": Constant("a block table begun, of however few rows", 70_000.0),
    "word row": Constant("a signature of one word in a block table", 15.0),
    "word pair": Constant("two signatures of one word compared in a block table", 0.075),
    "word scan": Constant("a signature of one word read to find the rows of a piece of a table", 2.5),
    "hashed row": Constant("a signature of several words in a block table", {128: 75, 256: 90, 1024: 130}),
    "hashed pair": Constant("two signatures of several words compared in a block table", {128: 1.9, 256: 2, 1024: 4}),
    "hashed scan": Constant(
        "a signature of several words read to find the rows of a piece of a table", {128: 5, 256: 9, 1024: 35}
    ),
    "block hit": Constant("a pair met in a block table, whichever table writes it", 40.0),
    "block found": Constant("a pair found in block tables, from then on until it stands in the result", 40.0),
    "equal row": Constant("a signature looked at to find those that equal an earlier one", 80.0),
    "equal pair": Constant("a pair of equal signatures, or of what equal ones are near to, written out", 500.0),
    "window row": Constant(
        "a signature in one order of a sliding window, without its comparisons", {64: 195, 256: 430, 1024: 1050}
    ),
    "window found": Constant("a pair found by a window, each time that it is", 170.0),
    "window told": Constant("a pair from which it is told what share a window found", 3500.0),
    "store filled": Constant("a row of a batch put into a table, by bits", {64: 34, 256: 50, 1024: 75}),
    "store lookup": Constant(
        "a row of a store looked up in one table of a batch, by bytes of its tables",
        {1 << 16: 9, 1 << 20: 12, 1 << 23: 17, 1 << 26: 40, 1 << 28: 70},
    ),
    "store header": Constant("what the bits of a row add to that, by bits", {64: 1, 256: 9, 1024: 34}),
    "store compared": Constant("a row of a store compared with one of a batch, in a table", 0.5),
    "store read": Constant("a row of a store read for probes, by bits", {64: 5, 256: 6.5, 1024: 20}),
    "store made": Constant("a probe of a batch made and put into its part", 28),
    "store likely": Constant("what a likely set of flips adds to that", 12),
    "store probe": Constant("a probe looked up in a piece of a store", 5),
}

# Bytes that decide what fits, and how tables are cut.
JOIN_PROGRAM = 400_000_000  # the program itself while it joins, as far as it is kept free within a limit
WORD_ROW_BYTES = 12  # of a block table of signatures of one word: the word and its row
HASHED_ROW_BYTES = 64  # ... of several words: keys and rows twice, and room for pairs; the words come on top
KEY_ROW_BYTES = 80  # of a table of keys: keys and rows, twice; the groups; and copies of what is selected
COPIES_ROW_BYTES = 64  # of a table of hashes of rows: keys and rows, twice; what is written of them; the first of each
ORDER_ROW_BYTES = 40  # of an order of a window while it is made, eight of which stay
PAIR_BYTES = 16  # of a pair in the result,
FOUND_PAIR_BYTES = 32  # and while all are put in order
WINDOW_PAIR_BYTES = 44  # of a pair found by a window, again and again
BRUTE_PAIR_BYTES = 115  # of a pair found by comparing all, while equal rows are written out
WRITTEN_PAIR_BYTES = 256  # of a pair while what it stands for is written out
BRUTE_SLAB = 1 << 18  # rows that are turned into planes at a time
WINDOW_CHUNK = 490_000  # rows of an order that are held at a time, unless asked otherwise (M of the paper)
WINDOW_CHUNK_BYTES = 32  # of a row of a chunk, beside twice its bits: words and planes
WINDOW_SHARE_BYTES = 9_000_000  # of what is told from the pairs that are found again
WINDOW_MARGIN = 576  # rows beyond a window that are compared with each row because blocks and tiles are whole
WINDOW_SAMPLE = 1 << 15  # pairs from which it is told what share a window found
WORD_GROUP = 3  # rows of one word are compared in groups of 2^3 to 2^4, where headers tell so many apart
MOST_TABLES = 1000  # of a block join: more are never worth it

# How much is looked at before a join.
WORTH_A_LOOK = 0.1  # seconds of a join from which on a sample is drawn,
LOOK_BITS = 3e10  # in which so many bits are compared for each second: a twentieth of the time,
LEAST_LOOK = 1 << 31  # and at least so many

# How a store streams by.
STORE_CHUNK = 1 << 20  # words of a run that are read before anybody looks who is answered,
STORE_TASK = 1 << 17  # and that one thread reads at a time
STORE_PART = 14  # so many rows, as a power of 2, of a part that probes meet: they stay in the cache
STORE_PROBES = 1 << 25  # probes of a tile,
STORE_PROBE_BYTES = 16  # and what each takes while it is made
STORE_QUERIES = 1 << 24  # queries of a tile of block tables
