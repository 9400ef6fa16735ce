"""Tables of word pairs as a target: a dictionary that is written and read as the same, or a named error."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.fuzz.mutate import mutated
from tests.fuzz.target import ACCEPTED, Case

from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.table import export_tsv

SEEDS = (
    "source\ttarget\tp\nHaus\thouse\t0.75\nHaus\thome\t0.25\nStraße\tstreet\t1\n東京\ttokyo\t3\na b\tc\t1\n".encode(),
    b"\xef\xbb\xbfa\tb\t0.5\t1e-3\r\na\tc\t\t2\r\nd\tb\t7\t\r\n",
)
TOKENS = (b"\t", b"\n", b"\r", b"\0", b"\xff", b"nan", b"inf", b"1e30", b"1e-30", b"-1", b"0", b"", b"\xef\xbb\xbf")


class WordPairs:
    """A table that is read as a dictionary, which is saved, opened and written as a table again."""

    def prepare(self, folder: Path) -> None:
        """Nothing has to be made: the seeds are here."""

    def write(self, random: Random, folder: Path) -> Case:
        """Write a changed table."""
        path = folder / "words.tsv"
        path.write_bytes(mutated(random, random.choice(SEEDS), list(SEEDS), TOKENS))
        return Case(path)

    def judge(self, case: Case, random: Random) -> str:
        """Read it; what is a dictionary stays one."""
        made = Dictionary.from_tsv(case.path)
        made.save(case.path.parent / "made")
        assert load_dictionary(case.path.parent / "made").digest == made.digest
        again = case.path.parent / "again.tsv"
        again.write_text("".join(f"{line}\n" for line in export_tsv(made)), "utf-8")
        assert Dictionary.from_tsv(again).digest == made.digest, "not read as it was written"
        return ACCEPTED
