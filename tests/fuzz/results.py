"""What else Sosie reads again, as targets: results, truth files, and the checkpoints of a run that was interrupted."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.fuzz.craft import damaged
from tests.fuzz.formats import FORMATS, TEXTS
from tests.fuzz.mutate import as_json, mutated, mutated_json
from tests.fuzz.target import ACCEPTED, SAME, Case, emptied

import sosie
from sosie.evaluation.links import load_links
from sosie.evaluation.result import load_result
from sosie.evaluation.truth_file import read_truth
from sosie.jobs import stages
from sosie.jobs.evaluate import Evaluation
from sosie.jobs.evaluate_links import LinkEvaluation
from sosie.jobs.join import Joiner
from sosie.storage.output import Output

IDS = [("d0", "d1"), ("d0", "d2"), ("d1", "d2")]


def documents() -> sosie.Source:
    """Return a few documents with duplicates among them."""
    return sosie.Source.from_texts(TEXTS, ids=[f"d{i}" for i in range(len(TEXTS))])


def truth_seeds() -> dict[str, bytes]:
    """Return a truth file of every kind."""
    table, sink = pa.table({side: [pair[i] for pair in IDS] for i, side in enumerate("ab")}), io.BytesIO()
    pq.write_table(table, sink)
    lines = "".join(f"{json.dumps({'a': a, 'b': b, 'n': 1})}\n" for a, b in IDS).encode()
    return {
        ".tsv": b"a\tb\n" + "".join(f"{a}\t{b}\n" for a, b in IDS).encode(),
        ".csv": b"1,2,0.9\n1,3,0.8\n" + b'"2","3",1\n',
        ".jsonl": lines,
        ".parquet": sink.getvalue(),
    }


class TruthFiles:
    """A file of true pairs, of every kind."""

    def prepare(self, folder: Path) -> None:
        """Read each as it is."""
        self.seeds = truth_seeds()
        for suffix, content in self.seeds.items():
            (folder / f"truth{suffix}").write_bytes(content)
            assert len(read_truth(folder / f"truth{suffix}", pa.large_string())) == 3

    def write(self, random: Random, folder: Path) -> Case:
        """Write a wrong one."""
        suffix = random.choice(sorted(self.seeds))
        known = {".parquet": "parquet", ".jsonl": "jsonl"}.get(suffix, "csv")
        path = folder / f"truth{suffix}"
        path.write_bytes(mutated(random, self.seeds[suffix], [self.seeds[suffix]], FORMATS[known].tokens))
        return Case(path)

    def judge(self, case: Case, random: Random) -> str:
        """Read it; what comes back are pairs of ids of the type that was asked for."""
        kind = random.choice((pa.int64(), pa.large_string()))
        table = read_truth(case.path, kind)
        assert table.column_names == ["a", "b"] and table.num_rows and not table["a"].null_count + table["b"].null_count
        assert table["a"].type == table["b"].type == kind
        table.validate(full=True)
        return ACCEPTED


def changed(random: Random, path: Path) -> Case:
    """Change a table or the report of a result."""
    file = random.choice([*sorted(path.glob("*.parquet")), path / "report.json"])
    whole = file.read_bytes()
    if file.suffix == ".json" and random.random() < 0.8:
        file.write_bytes(as_json(mutated_json(random, json.loads(whole))))
    else:
        tables = [table.read_bytes() for table in sorted(path.glob("*.parquet"))]
        file.write_bytes(mutated(random, whole, tables, FORMATS["parquet"].tokens))
    return Case(path)


class Results:
    """Directories that `sosie dedup` and `sosie join` wrote, evaluated: pairs, clusters and the report."""

    def prepare(self, folder: Path) -> None:
        """Write both, and evaluate them."""
        self.seeds = [folder / "dedup", folder / "join"]
        self.truth = folder / "truth.tsv"
        self.truth.write_bytes(truth_seeds()[".tsv"])
        sosie.dedup(documents(), 0.6, output=folder / "dedup", threads=1)
        Joiner(threshold=0.6).run(documents(), None, Output(folder / "join"), threads=1)
        for seed in self.seeds:
            assert self._evaluated(seed)["truth"]["recall"] == 1

    def write(self, random: Random, folder: Path) -> Case:
        """Change one of the files."""
        seed = random.choice(self.seeds)
        path = folder / seed.name
        shutil.copytree(seed, path, ignore=shutil.ignore_patterns("kept", "dropped", "*.html"))
        return changed(random, path)

    def judge(self, case: Case, random: Random) -> str:
        """Evaluate it against the truth, or by a sample."""
        if random.random() < 0.2 and case.path.name == "dedup":
            json.dumps(Evaluation(sample=4).run(load_result(case.path), documents(), threads=1).to_dict())
        else:
            json.dumps(self._evaluated(case.path))
        return ACCEPTED

    def _evaluated(self, path: Path) -> dict[str, Any]:
        return Evaluation(truth=self.truth).run(load_result(path), None, threads=1).to_dict()


class LinkResults:
    """Directories that `sosie link` wrote, evaluated: links and the report."""

    def prepare(self, folder: Path) -> None:
        """Write one of an exact linking and one with a threshold, and evaluate them."""
        words = [f"w{i}" for i in range(60)]
        texts = [" ".join(words[start : start + 8]) for start in range(0, 48, 6)]
        turned = [" ".join(f"v{word}" for word in text.split()) for text in texts]
        sides = [sosie.Source.from_texts(side, ids=[f"d{i}" for i in range(8)]) for side in (texts, turned)]
        dictionary = sosie.Dictionary.from_pairs(words, [f"v{word}" for word in words], [1.0] * 60)
        self.seeds, self.truth = [folder / "best", folder / "above"], folder / "truth.tsv"
        self.truth.write_text("".join(f"d{i}\td{i}\n" for i in range(8)))
        for seed, options in zip(self.seeds, ({"k": 3}, {"threshold": 0.3}), strict=True):
            sosie.Linker(dictionary=dictionary, exact=True, **options).run(*sides, Output(seed), threads=1)
            assert self._evaluated(seed)["truth"]["precision_at_1"] == 1

    def write(self, random: Random, folder: Path) -> Case:
        """Change one of the files."""
        seed = random.choice(self.seeds)
        path = folder / seed.name
        shutil.copytree(seed, path, ignore=shutil.ignore_patterns("*.html"))
        return changed(random, path)

    def judge(self, case: Case, random: Random) -> str:
        """Evaluate it against the truth."""
        json.dumps(self._evaluated(case.path), allow_nan=False)
        return ACCEPTED

    def _evaluated(self, path: Path) -> dict[str, Any]:
        return LinkEvaluation(truth=self.truth).run(load_links(path)).to_dict()


class CheckpointFolders:
    """The working folder of a run that was interrupted: whatever becomes of it, the resumed run writes the same."""

    def prepare(self, folder: Path) -> None:
        """Interrupt a run when everything but the page was written."""
        self.corpus, self.seed = folder / "docs.jsonl", folder / "interrupted"
        self.corpus.write_bytes(FORMATS["jsonl"].seeds[0])
        self.right = self._resumed(folder / "whole")
        write_page = stages.write_page

        def interrupt(*arguments: Any, **options: Any) -> None:
            raise KeyboardInterrupt

        stages.write_page = interrupt
        try:
            self._run(emptied(self.seed) / "out")
        except KeyboardInterrupt:
            pass
        finally:
            stages.write_page = write_page
        assert list(self.seed.glob(".out.sosie-*/checkpoints/*/manifest.json"))

    def write(self, random: Random, folder: Path) -> Case:
        """Damage a file of the checkpoints, or the log of files that are finished."""
        (left,) = self.seed.glob(".out.sosie-*")
        return damaged(random, left, folder / "run", "checkpoints/**/*")

    def judge(self, case: Case, random: Random) -> str:
        """Go on with a copy: what is left of a run goes when it is taken up again."""
        place = case.path.parents[1] / "resumed"
        shutil.copytree(case.path.parent, emptied(place), dirs_exist_ok=True)
        assert self._resumed(place) == self.right, "another output"
        return SAME

    def _run(self, out: Path) -> None:
        source = sosie.Source(self.corpus, on_error="skip")
        sosie.dedup(source, 0.6, output=Output(out, resume=True), threads=1)

    def _resumed(self, place: Path) -> dict[str, bytes]:
        self._run(place / "out")
        files = [file for file in sorted((place / "out").rglob("*")) if file.is_file()]
        timed = ("report.json", "report.html", ".sosie")  # the last has the sizes of the others
        return {str(file.relative_to(place)): file.read_bytes() for file in files if file.name not in timed}
