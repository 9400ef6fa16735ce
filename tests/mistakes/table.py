"""Typical mistakes, and what a message has to say of each: what was wrong, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """What was typed: a command, or lines of Python; and what the message must have.

    `where` is the file, line, column, option or argument that is meant, `remedy` what to do. `without` are
    packages that are not installed.
    """

    title: str
    typed: str
    where: str
    remedy: str
    without: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The lines of Python that are not blank."""
        return [line for line in self.typed.splitlines() if line]

    @property
    def is_command(self) -> bool:
        """Whether it is made on the command line."""
        return self.typed.startswith("sosie ")


FILES = [
    Mistake("a file that is not there", "sosie dedup dosc.jsonl -o out", "dosc.jsonl", "Check the path"),
    Mistake("an empty folder", "sosie dedup empty -o out", "empty", "Sosie reads *.jsonl"),
    Mistake("a glob that matches nothing", "sosie dedup '*.parquet' -o out", "*.parquet", "Check the pattern"),
    Mistake("a file of another kind", "sosie dedup letter.docx -o out", "letter.docx", "Sosie reads *.jsonl"),
    Mistake(
        "a text instead of a file",
        "sosie dedup 'a quick brown fox' -o out",
        "a quick brown fox",
        "piped in as -",
    ),
    Mistake("the same file twice", "sosie dedup docs.jsonl docs.jsonl -o out", "docs.jsonl", "Name it once"),
    Mistake("a broken line", "sosie dedup broken.jsonl -o out", "broken.jsonl, line 2", "--on-error skip"),
    Mistake("not UTF-8", "sosie dedup latin.jsonl -o out", "latin.jsonl, line 1", "--on-error skip"),
    Mistake("UTF-16, as some spreadsheets write it", "sosie dedup wide.csv -o out", "wide.csv", "UTF-8"),
    Mistake("a file that was cut short", "sosie dedup cut.jsonl.gz -o out", "cut.jsonl.gz", "Restore the file"),
    Mistake("an index instead of documents", "sosie dedup index -o out", "index", "Give the files"),
    Mistake("signatures instead of documents", "sosie dedup signatures -o out", "signatures", "Give the files"),
    Mistake("a result instead of its documents", "sosie dedup result -o out", "result", "result/kept"),
    Mistake("HTML without the extra", "sosie dedup page.html -o out", "HTML", "pip install", ("resiliparse",)),
]
COLUMNS = [
    Mistake(
        "another column of texts",
        "sosie dedup docs.jsonl -o out --text-column txt",
        "docs.jsonl",
        "Did you mean",
    ),
    Mistake("CSV without a header", "sosie dedup headless.csv -o out", "headless.csv", "Name another: --text-column"),
    Mistake(
        "a number instead of a text", "sosie dedup numbers.jsonl -o out", "numbers.jsonl, line 1", "--on-error skip"
    ),
    Mistake("ids that repeat", "sosie dedup repeated.jsonl -o out", "repeated.jsonl, line 2", "--id-column"),
    Mistake("an id that is null", "sosie dedup nulls.jsonl -o out", "nulls.jsonl, line 2", "--on-error skip"),
    Mistake("one column for two things", "sosie dedup docs.jsonl -o out --id-column text", "'text'", "name another"),
    Mistake("the newest by no column", "sosie dedup docs.jsonl -o out --keep newest", "'newest'", "newest:date"),
    Mistake(
        "a column that is no time", "sosie dedup docs.jsonl -o out --keep newest:text", "line 1", "write it as 2024"
    ),
]
OPTIONS = [
    Mistake("a percentage", "sosie dedup docs.jsonl -o out --threshold 80", "threshold", "write 0.8"),
    Mistake("more than everything", "sosie dedup docs.jsonl -o out --threshold 1.2", "threshold", "at most 1"),
    Mistake("a decimal comma", "sosie dedup docs.jsonl -o out --threshold 0,8", "threshold", "as in 0.8"),
    Mistake("a misspelt option", "sosie dedup docs.jsonl -o out --treshold 0.8", "--treshold", "--threshold"),
    Mistake("a misspelt command", "sosie dedupe docs.jsonl", "dedupe", "Did you mean 'dedup'"),
    Mistake(
        "a misspelt option in a file",
        "sosie dedup docs.jsonl -o out --config options.toml",
        "options.toml",
        "'threshold'",
    ),
    Mistake("a method that there is not", "sosie dedup docs.jsonl -o out --method lsh", "--method", "'minhash'"),
    Mistake("a width below one", "sosie dedup docs.jsonl -o out --width -1", "width=-1", "1 to 1024"),
    Mistake("a size in words", "sosie dedup docs.jsonl -o out --memory '4 gigs'", "4 gigs", "4GB"),
    Mistake("too little memory", "sosie dedup docs.jsonl -o out --memory 4MB", "4.0 MB", "allow"),
    Mistake("a limit for a join of documents", "sosie join docs.jsonl -o out --memory 4GB", "--memory", "use dedup"),
    Mistake(
        "weights without the cosine",
        "sosie dedup docs.jsonl -o out --weighting tf-idf",
        "jaccard",
        "leave the weighting out",
    ),
    Mistake(
        "a language without stop words",
        "sosie dedup docs.jsonl -o out --stop-words klingon",
        "'klingon'",
        "english (en)",
    ),
]
OUTPUTS = [
    Mistake("no output", "sosie dedup docs.jsonl", "output", "-o DIR"),
    Mistake("an output that is there", "sosie dedup docs.jsonl -o result", "result", "--overwrite"),
    Mistake("a folder of mine", "sosie dedup docs.jsonl -o mine --overwrite", "mine", "Choose another directory"),
    Mistake("a note of mine in an output", "sosie dedup docs.jsonl -o noted --overwrite", "notes.txt", "Move it away"),
    Mistake("the output where the inputs are", "sosie dedup folder -o folder", "folder", "Choose another"),
]
INDEXES = [
    Mistake("documents instead of an index", "sosie search docs.jsonl --text fox", "docs.jsonl", "sosie index"),
    Mistake(
        "signatures instead of an index",
        "sosie search signatures --text fox",
        "signatures",
        "sosie index build",
    ),
    Mistake("nothing to look for", "sosie search index", "--text", "--text TEXT"),
    Mistake("no matches wanted", "sosie search index --text fox -k 0", "got 0", "at least 1"),
    Mistake("signatures of another spec", "sosie search index singles", "index", "sign both the same way"),
    Mistake(
        "signatures of another width",
        "sosie join signatures --with longer -o out --radius 3",
        "64 and 128 bits",
        "sign both",
    ),
    Mistake("a radius for documents", "sosie join docs.jsonl -o out --radius 3", "--radius", "--threshold"),
    Mistake("an index of a newer version", "sosie search newer --text fox", "newer", "Update Sosie"),
    Mistake("documents that are in the index", "sosie index add index docs.jsonl", "'a'", "`sosie index remove`"),
    Mistake("no result to evaluate", "sosie evaluate docs.jsonl", "docs.jsonl", "sosie dedup"),
]
DICTIONARIES = [
    Mistake(
        "a language without its translation",
        "sosie dictionary train german.txt -o out",
        "german.txt",
        "give exactly these two files",
    ),
    Mistake(
        "training without the extra",
        "sosie dictionary train phrases.tsv -o out",
        "sil-thot",
        "pip install 'sosie[crosslingual]'",
        ("thot",),
    ),
    Mistake(
        "one language for two",
        "sosie dictionary train phrases.tsv -o out --languages de",
        "--languages",
        "as in de,en",
    ),
    Mistake("a share in percent", "sosie dictionary train phrases.tsv -o out --mass 95", "mass", "at most 1"),
    Mistake("nothing but punctuation", "sosie dictionary train marks.tsv -o out", "marks.tsv", "Give texts and their"),
    Mistake(
        "a table with spaces", "sosie dictionary import spaces.tsv -o out", "spaces.tsv, line 1", "separated by tabs"
    ),
    Mistake("a pair that repeats", "sosie dictionary import twice.tsv -o out", "twice.tsv, line 2", "Keep one of them"),
    Mistake("a probability that is none", "sosie dictionary import zero.tsv -o out", "zero.tsv, line 1", "above 0"),
    Mistake("an index instead of a dictionary", "sosie dictionary show index fox", "index", "sosie dictionary train"),
    Mistake("a table instead of a dictionary", "sosie dictionary info twice.tsv", "twice.tsv", "dictionary import"),
    Mistake("no dictionary there", "sosie dictionary info de-en", "de-en", "sosie dictionary train"),
]
LINKS = [
    Mistake(
        "a dictionary for other languages",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary it-to-hr",
        "0 % of the words of the first",
        "Give another one",
    ),
    Mistake(
        "one language twice",
        "sosie link english.jsonl english.jsonl -o out --dictionary de-to-en",
        "the same language",
        "Give collections in two languages",
    ),
    Mistake(
        "a table instead of a dictionary",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary pairs.tsv",
        "pairs.tsv",
        "dictionary import",
    ),
    Mistake(
        "two ways to translate",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary de-to-en --parallel phrases.tsv",
        "dictionary and parallel",
        "give one of them",
    ),
    Mistake(
        "too few documents to learn from",
        "sosie link docs.jsonl english.jsonl -o out",
        "3 and 12 documents",
        "--dictionary",
    ),
    Mistake(
        "texts without words",
        "sosie link marks.jsonl english.jsonl -o out --dictionary de-to-en",
        "marks.jsonl",
        "--text-column",
    ),
    Mistake(
        "a percentage",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary de-to-en --threshold 30",
        "threshold",
        "write 0.3",
    ),
    Mistake(
        "tables without a threshold",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary de-to-en --tables 20",
        "--tables",
        "--threshold",
    ),
    Mistake(
        "rounds for a dictionary",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary de-to-en --rounds 3",
        "--rounds",
        "for what is trained",
    ),
    Mistake(
        "learning without the extra",
        "sosie link deutsch.jsonl english.jsonl -o out",
        "sil-thot",
        "pip install 'sosie[crosslingual]'",
        ("thot",),
    ),
    Mistake(
        "two weights",
        "sosie link deutsch.jsonl english.jsonl -o out --dictionary de-to-en --weights 1,2",
        "forward, backward, grams",
        "three weights",
    ),
]
PYTHON = [
    Mistake("one text", 'sosie.dedup("the quick brown fox")', "the quick brown fox", "as a list"),
    Mistake(
        "paths that are not there",
        'sosie.dedup(["data/a.jsonl", "data/b.jsonl"])',
        "data/a.jsonl",
        "from_texts",
    ),
    Mistake("paths and texts", 'sosie.dedup(["docs.jsonl", "the quick brown fox"])', "docs.jsonl", "from_paths"),
    Mistake("bytes", 'sosie.dedup([b"the quick brown fox"])', "item 0", "decode"),
    Mistake("something that is no text", 'sosie.dedup(["a rose", 5])', "item 1", "str"),
    Mistake("a missing text", 'sosie.dedup(["a rose", None])', "row 1 (counted from 0)", "--on-error skip"),
    Mistake("tuples", 'sosie.dedup([("x", "a rose")])', "item 0", "a dict for each document"),
    Mistake("dicts and texts", 'sosie.dedup([{"text": "a rose"}, "a nose"])', "item 1", "a dict for each"),
    Mistake("texts by their ids", 'sosie.dedup({"x": "a rose", "y": "a nose"})', "'x'", "a list for each column"),
    Mistake(
        "columns of several lengths",
        'sosie.dedup({"id": [1], "text": ["a rose", "a nose"]})',
        "'text' has 2",
        "one value for each",
    ),
    Mistake("a set", 'sosie.dedup({"a rose", "a nose"})', "set", "sorted(texts)"),
    Mistake(
        "an open file",
        'with open("docs.jsonl") as file:\n    sosie.dedup(file)',
        "'docs.jsonl'",
        "give its path",
    ),
    Mistake(
        "a generator twice",
        'texts = (text for text in ["a rose"])\nsosie.dedup(texts)\nsosie.dedup(texts)',
        "generator",
        "used before",
    ),
    Mistake(
        "a frame without a column text",
        'import pandas\nsosie.dedup(pandas.DataFrame({"n": [1], "body": ["a rose"]}))',
        "pandas DataFrame",
        "Texts are in: body",
    ),
    Mistake(
        "a column of numbers",
        "import polars\nsosie.dedup(polars.Series([1, 2]))",
        "Polars Series",
        "column of the texts",
    ),
    Mistake(
        "features instead of documents", 'sosie.dedup(sosie.Shingles().extract(["a rose"]))', "Features", "sosie.join"
    ),
    Mistake("a percentage", 'sosie.dedup(["a rose"], 80)', "threshold", "write 0.8"),
    Mistake("a measure that there is not", 'sosie.dedup(["a rose"], similarity="jacard")', "jacard", "jaccard"),
    Mistake("a size in words", 'sosie.dedup(["a rose"], memory="4 gigs")', "4 gigs", "4GB"),
    Mistake(
        "shingles said twice",
        'sosie.dedup(["a rose"], width=2, shingles=sosie.Shingles(3))',
        "width",
        "give one",
    ),
    Mistake(
        "columns of a source",
        'sosie.dedup(sosie.Source("docs.jsonl"), text_column="text")',
        "text_column",
        "Source(documents, text_column=...)",
    ),
    Mistake(
        "another table to filter",
        'sosie.dedup(["a rose", "a nose"]).filter(["a rose"])',
        "1 row",
        "give all of them",
    ),
    Mistake(
        "pandas that is not installed",
        'sosie.dedup(["a rose"]).to_pandas()',
        "pandas",
        "pip install pandas",
        ("pandas",),
    ),
    Mistake(
        "words as a dict",
        'sosie.link(["das Haus"], ["the house"], dictionary={"haus": "house"})',
        "not a dict",
        "from_pairs",
    ),
    Mistake(
        "a translation that is none",
        'sosie.link(["das Haus"], ["the house"], translate=lambda texts: "the house")',
        "translate",
        "a list of 1 text",
    ),
    Mistake("one text to sign", 'sosie.Simhash().fit().sign("a rose")', "str", "into a list"),
    Mistake("texts in an index", 'sosie.FlatIndex(["a rose"])', "FlatIndex", "sign(texts)"),
    Mistake(
        "signatures in an index of keys", 'sosie.KeyIndex(sosie.Simhash().fit().sign(["a"]))', "KeyIndex", "keys(texts)"
    ),
    Mistake(
        "ids of texts alone",
        'sosie.dedup(["a rose"], id_column="key")',
        "id_column='key'",
        "from_texts(texts, ids=...)",
    ),
    Mistake("a radius for texts", 'sosie.join(["a rose", "a nose"], radius=3)', "radius", "threshold="),
    Mistake(
        "two kinds to join",
        'sosie.join(sosie.Shingles().extract(["a"]), ["a rose"])',
        "Features with list",
        "the same kind",
    ),
]
PLANS = [
    Mistake("a plan of nothing", "sosie plan", "documents or signatures", "rows, as in 10M"),
    Mistake("a plan of no rows", "sosie plan --rows 0", "rows", "between 1 and"),
    Mistake("a plan of too many rows", "sosie plan --rows 1e15", "1,000,000,000,000,000", "between 1 and"),
    Mistake("a number in words", "sosie plan --rows ten", "'ten'", "as in 10000, 250k, 10M"),
    Mistake("a recall of nothing", "sosie plan --rows 1M --recall 0", "recall", "write it as in 0.95"),
    Mistake("a recall of more than everything", "sosie plan --rows 1M --recall 1.5", "recall", "at most 1"),
    Mistake("a recall in percent", "sosie plan --rows 1M --recall 95", "recall", "write 0.95"),
    Mistake("a radius without bits", "sosie plan --rows 1M --radius 3", "a join is of signatures", "how many bits"),
    Mistake(
        "a radius and a similarity",
        "sosie plan --rows 1M --bits 64 --radius 3 --similarity 0.8",
        "radius is for signatures, similarity for documents",
        "one of the two",
    ),
    Mistake(
        "a radius of more than all bits", "sosie plan --rows 1M --bits 64 --radius 65", "got 65", "between 0 and"
    ),
    Mistake(
        "the nearest, and all within a radius",
        "sosie plan --rows 1M --bits 64 --queries 10 --radius 3 -k 5",
        "radius asks for all within it, k for the nearest",
        "one of the two",
    ),
    Mistake("no time", "sosie plan --rows 1M --time 0", "time: '0'", "as in 60s, 5min or 2h"),
    Mistake(
        "less memory than the program takes", "sosie plan --rows 1M --memory 1MB", "memory: 1.0 MB", "allow more than"
    ),
    Mistake("a search of nobody knows how many", "sosie plan --rows 1M --bits 64 -k 5", "queries", "as in 1000"),
    Mistake("a threshold of no documents", "sosie plan --threshold", "--threshold needs documents", "INPUT"),
    Mistake("the rows of what is there", "sosie plan signatures --rows 5 --radius 3", "rows", "leave it out"),
    Mistake("signatures without a radius", "sosie plan signatures", "a join needs a radius", "as in 3"),
    Mistake("a dictionary instead of documents", "sosie plan de-to-en", "de-to-en", "Give documents"),
]
SECTIONS = {
    "Files": FILES,
    "Columns and ids": COLUMNS,
    "Options": OPTIONS,
    "Outputs": OUTPUTS,
    "Indexes, signatures, results": INDEXES,
    "Dictionaries": DICTIONARIES,
    "Links across languages": LINKS,
    "Plans": PLANS,
    "From Python": PYTHON,
}
