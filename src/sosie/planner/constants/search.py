"""What single steps of searching an index take, and the ratios of them that shape one.

Tables are as the same on every machine: what they are cut by are ratios written here, not what one machine measures.
"""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

LOOKUP = 64  # block tables: a look-up, in rows of a list that are compared
MOST_TABLES = 64  # of a block index: more are never worth it, unless asked for
FEWER_BITS = 5  # multi-index: bits of a substring less than log2 of the rows; a look-up costs as much as dozens of rows
PROBE, COMPARE, FETCH = 16, 1, 128  # multi-index: a look-up, a row of a list, a row of several words, in planes counted
TELLING = 24  # bits; few words are nearer by chance, so that one word of several tells most rows apart
PATIENCE = 0.5  # multi-index: of a scan's time, that a query may take in tables before it is given to a scan
SHORT_RUN = 1024  # rows of an index, fewer of which have no tables and are merged with the next
WORTH_A_THREAD = 1 << 19  # planes to be counted; starting a thread takes as long
LATEST, SPARSE = 16, 64  # slices: rows in lists for each that may be in none, and values of a slice for one of them
FEW_FOUND = 16  # keys: rows of a run for each that is found, so that a counter for every one of them is cheap

SEARCH: dict[str, Constant] = {
    "scan.row": Constant("a row over bit planes that are at hand, by bits", {64: 0.13, 256: 0.41, 1024: 1.52}),
    "scan.byte": Constant(
        "a byte of planes that are read for one query alone, by bytes of all",
        {1 << 20: 0.026, 1 << 24: 0.03, 1 << 28: 0.045},
    ),
    "scan.query": Constant("a query of a scan, beside its rows", 1_500),
    "scan.take": Constant("a row that is put among the nearest so far", 60),
    "flat.call": Constant("a call of a search by comparing all rows", 55_000),
    "scan.call": Constant("a call of such a search for what look-ups could not answer", 110_000),
    "match": Constant("a match of a look-up, put aside and in order", 110),
    "fresh": Constant("a byte of memory that was not used before", 0.6),
    "planes.row": Constant("a row turned into bit planes, by bits", {64: 6, 256: 14, 1024: 60}),
    "blocks.call": Constant("a call of a search by block tables", 50_000),
    "blocks.lookup": Constant(
        "a look-up in a block table, by bytes of the table", {1 << 17: 38, 1 << 21: 42, 1 << 24: 50, 1 << 28: 110}
    ),
    "blocks.row": Constant("a row of a list that a look-up compares", 0.5),
    "blocks.fill": Constant(
        "a row put into a block table, by bytes of the table", {1 << 17: 4, 1 << 21: 5, 1 << 24: 12}
    ),
    "multi.call": Constant("a call of a search by substrings", 57_000),
    "multi.query": Constant("a query of a search by substrings", 1_100),
    "multi.lookup": Constant(
        "a value of a substring looked up, by bytes of the table", {1 << 17: 13, 1 << 21: 16, 1 << 24: 22, 1 << 28: 45}
    ),
    "multi.row": Constant("a row of a list of a substring", 0.5),
    "multi.fetch": Constant("a row of several words that one word does not rule out, by bits", {256: 60, 1024: 110}),
    "probes.call": Constant("a call of a search by probes", 85_000),
    "probes.query": Constant("a query of a search by probes", 210),
    "probes.probe": Constant("a header probed, by bytes of all", {1 << 17: 18, 1 << 21: 20, 1 << 24: 24, 1 << 28: 60}),
    "probes.likely": Constant("a likely set of flips, out of the heap", 20),
    "probes.row": Constant("a row that a probe compares, by bits", {64: 1, 256: 2, 1024: 6}),
    "probes.sort": Constant("a row sorted by its header, by bits", {64: 30, 256: 45, 1024: 150}),
    "slices.call": Constant("a call of a search by slice lists", 95_000),
    "slices.query": Constant("a query of a search by slice lists", 2_500),
    "slices.list": Constant("a list of a slice, by bytes of all lists", {1 << 20: 6, 1 << 24: 9, 1 << 28: 25}),
    "slices.posting": Constant("an entry of a list, by bytes of the scores", {1 << 14: 2, 1 << 18: 3, 1 << 21: 6}),
    "slices.pass": Constant("a row that is passed by where many were seen", 0.2),
    "slices.candidate": Constant("a candidate compared and put in order, by bits", {64: 80, 256: 90, 1024: 130}),
    "slices.invert": Constant("a row put into the lists of a slice, by bytes of the lists", {1 << 18: 3, 1 << 23: 6}),
}
