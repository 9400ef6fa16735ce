"""What single steps of reading, signing and joining documents take, and how many bytes are held for what."""

from __future__ import annotations

from sosie.planner.constants.constant import Constant

DOCUMENTS: dict[str, Constant] = {
    "read jsonl": Constant("a byte of JSON lines, read and decoded", 3.8),
    "read csv": Constant("a byte of CSV, read and decoded", 3.8),
    "read parquet": Constant("a byte of text in Parquet, read and unpacked", 2.3),
    "read table": Constant("a byte of text in memory, taken as it is", 0.5),
    "read page": Constant("a byte of HTML, of which the main content is taken", 80.0),
    "open": Constant("a file of one document, opened and read", 20_000.0),
    "document": Constant("a document, numbered, and its id looked up among those before", 350.0),
    "unpack gzip": Constant("a byte that comes out of gzip", 3.4),
    "unpack zstd": Constant("a byte that comes out of Zstandard", 1.0),
    "unpack bz2": Constant("a byte that comes out of bzip2", 40.0),
    "unpack xz": Constant("a byte that comes out of xz", 12.0),
    "pack gzip": Constant("a byte that is put into gzip", 30.0),
    "pack zstd": Constant("a byte that is put into Zstandard", 5.0),
    "pack bz2": Constant("a byte that is put into bzip2", 100.0),
    "pack xz": Constant("a byte that is put into xz", 400.0),
    "fold": Constant("a byte of text, folded, cut into words and hashed", 1.6),
    "distinct": Constant("a feature, brought in order with its tag, each once", 9.5),
    "keep": Constant("a feature, kept in memory", 2.2),
    "spill": Constant("a feature, kept on disk", 3.8),
    "digest": Constant("a feature, for the digest by which equal documents are told", 1.6),
    "group": Constant("a document, grouped with those that equal it", 300.0),
    "count": Constant("a feature, counted in the table of document frequencies", 15.0),
    "rank": Constant("a feature, ranked by how rare it is", 16.0),
    "prefix": Constant("a feature of a prefix, looked at for a posting", 2.5),
    "posting": Constant("a posting, sorted and joined", 25.0),
    "dense": Constant("a row of a dense list, compared by its sketch", 4.0),
    "compare": Constant("a feature of a pair that is compared", 1.3),
    "pair": Constant("a pair, ordered and clustered", 200.0),
    "minimum": Constant("a feature in one lane of minhash", 0.055),
    "key": Constant("a key of a table, made and grouped with its equals", 38.0),
    "simhash": Constant("a feature, added to a simhash signature", {64: 8.2, 256: 17.0}),
    "apart": Constant("two simhash signatures, compared", {64: 0.12, 256: 0.35}),
    "scan": Constant("a feature, looked at by the exact search of a sample", 7.0),
    "hit": Constant("a feature that the exact search looks up", 100.0),
    "write": Constant("a byte of a document, read again and written", 1.7),
    "begin": Constant("a run, until its kernels are loaded", 200_000_000.0),
    "cold": Constant("how many times as long a step takes in a run, where it meets all data for the first time", 1.3),
}

# What is held while a run is under way, as it was seen: bytes for each unit.
UNDER_WAY = 45_000_000  # texts and their features on threads
UNDER_WAY_TEXT = 2.0  # ... and for each byte of text, as far as so much is read ahead:
UNDER_WAY_MOST = 145_000_000
MOVE_BYTES = 100_000_000  # while features move to disk
FEATURE_BYTES = 12  # a hash and a tag
COUNT_BYTES, WEIGHT_BYTES = 4, 8  # of a feature that weighs
HELD_BYTES = 215  # of a document, once equal ones are grouped
TOKEN_BYTES = 8  # of a feature in a prefix
REST_BYTES = 8  # ... and what is left from there on, where a cosine or containment is joined
ROW_BYTES = 24  # of a document that is joined
PLACED_BYTES = 16  # of a posting
FREQUENCY_SLOT_BYTES, MOST_SLOTS = 2, 27  # of the table of frequencies; bits that number its slots, at most
KEY_BYTES = 8
LANES = 64  # of minhash that are worked on together
GROUPED_BYTES = 40  # of a document, while the keys of a table are grouped
WORD_BYTES = 16  # a word of a signature, and turned on its side
PAIR_BYTES = 160  # of a pair, with all that is worked out on the way
CHECKED_BYTES = 150  # of a document, while a sample is compared with all
WRITTEN_BYTES = 60  # of a document, while all are written
RESIDENT_SHARE = 0.5  # of a limit, beyond which pages of mapped files are given back
TOUCHED_SHARE = 0.1  # ... and what is read of them before that happens
LATE_BYTES = 30_000_000  # of the program: what is loaded for the check and the output

# What a run is sure to keep to under a limit: more than is expected.
POSTING_BYTES = 32  # what the exact join keeps for each feature of a prefix
DOCUMENT_BYTES = 160  # what is kept for each document, whatever the method
FREQUENCY_BYTES = 32  # what counting document frequencies takes for each feature, at most
FIXED_BYTES = 600_000_000  # the program itself, and what is under way on threads: the least limit
BUSY_BYTES = 250_000_000  # of these, what is under way where there is enough to do
BUSY_FEATURE_BYTES = 29  # ... for each feature, where there is not
SPILL = 1 << 28  # bytes of features, and of keys, beyond which they are kept on disk
SPILLED_SHARE = 16  # ... under a limit, its so many-th part
COMPILER_BYTES = 400_000_000  # what a process that compiles takes

# What a text takes while it is compared, at most: bytes for each of its bytes (`python -m benchmarks.text_memory`).
PROGRAM_BYTES = 350_000_000  # what the program takes by itself
RECORD_BYTES = 32  # for each byte of a record while it is read: JSON of nothing but `{}` becomes as many objects
TEXT_BYTES = 24  # for each byte of a text: folded, cut into words, hashed and sorted
LONGEST_BYTES = 180  # the one character that folds to 18 takes so many bytes more for each
LONG_BYTES = 130  # ... and those that fold to as many as eight

# From how many rows on a list is joined in another way, because all of its pairs would cost more.
DENSE_LIST = 16  # a list of more documents is set apart: sketches tell most of its pairs apart at once
DENSE_KEY = 1024  # rows with one key beyond which a group is set apart
CROWDED_KEY = 16  # the same, where there would be more pairs than asked for
LISTED_PAIRS = 8  # similar pairs for each document that make a collection crowded
FEW_PAIRS = 1 << 21  # pairs that never make one
CHECK_BUDGET = 1 << 25  # features that the search of a sample may look at: a second, where everything is alike
CHECK_SAMPLE = 1000  # documents of that sample
CHECK_SLOTS = 1 << 20  # of the table that says no for almost every feature that is not sought
