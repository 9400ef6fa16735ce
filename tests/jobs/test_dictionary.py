"""Jobs on dictionaries: what is read, cut, left out and counted, and what is written."""

from __future__ import annotations

import json

import pytest
from tests.cli.running import files_in
from tests.crosslingual.toy import TOY, toy_text

import sosie
from sosie.crosslingual.align import train
from sosie.errors import DataError, UsageError
from sosie.jobs.dictionary import (
    Columns,
    DictionaryTraining,
    describe_dictionary,
    export_dictionary,
    import_dictionary,
)
from sosie.storage.output import Output

TEXT = toy_text(120)


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """Write pairs as lines with a tab; return the name of the file."""
    monkeypatch.chdir(tmp_path)

    def write(pairs, name="pairs.tsv"):
        (tmp_path / name).write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
        return name

    return write


class Heard:
    """A progress that keeps what it is told."""

    def __init__(self):
        self.stages = {}

    def start(self, stage, total):
        self.now = self.stages[stage] = [total, 0]

    def expect(self, total):
        self.now[0] = total

    def advance(self, count):
        self.now[1] += count

    def finish(self):
        pass


def test_what_is_trained_is_what_the_library_trains(lines):
    heard = Heard()
    report = DictionaryTraining().run(lines(TEXT), Output("made"), threads=1, progress=heard)
    made, expected = sosie.load_dictionary("made"), train(TEXT)
    assert made.digest == report.digest == expected.digest and made.segments == report.segments == 120
    assert report.translations == len(made.forward.words) and report.source_words == len(made.source)
    assert (report.pairs, report.left_out, report.left_out_segments, report.warnings) == (120, {}, {}, ())
    assert [stage.stage for stage in report.stages] == ["read", "words", "align", "fit", "write"]
    assert heard.stages["words"] == [120, 120] and heard.stages["align"] == [10, 10]


def test_columns_are_those_that_are_named(lines, tmp_path):
    (tmp_path / "pairs.csv").write_text("mine,theirs\n" + "".join(f"{a},{b}\n" for a, b in TEXT))
    columns = Columns(source_column="theirs", target_column="mine", swap=True)
    report = DictionaryTraining(columns=columns).run("pairs.csv", Output("made"))
    assert report.digest == train(TEXT).digest


@pytest.mark.parametrize("size", [2, 20])
def test_texts_are_cut_into_paragraphs_that_correspond(size, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documents = [TEXT[i : i + size] for i in range(0, 120, size)]
    for side, name in enumerate(("de", "en")):
        texts = ["\n\n".join(pair[side] for pair in document) for document in documents]
        records = [json.dumps({"id": i, "text": text}) for i, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(records))
    report = DictionaryTraining().run(["de.jsonl", "en.jsonl"], Output("made"))
    assert (report.pairs, report.segments) == (120 // size, 120)
    assert report.digest == train(TEXT).digest


def test_long_lines_are_cut_into_sentences_in_every_script(lines):
    source, target = "。".join(["東京都の天気" * 3] * 20), ". ".join(["the weather of the capital is fine"] * 20)
    report = DictionaryTraining().run(lines([(f"{source}。", f"{target}.")]), Output("made"))
    assert report.segments > 5 and report.left_out == report.left_out_segments == {}


def test_what_is_left_out_is_counted_and_said(lines):
    odd = [("?!", "..."), ("wort " * 160, "w. " * 3), ("ein", "")]
    report = DictionaryTraining().run(lines([*TEXT[:50], *odd]), Output("made"))
    assert (report.pairs, report.segments) == (53, 50)
    assert report.left_out == {"one side is empty": 1, "no paragraphs correspond": 1}
    assert report.left_out_segments == {"without words on one side": 1}
    assert len(report.warnings) == 1 and "50 segments" in report.warnings[0]


def test_words_that_do_not_repeat_are_warned_of(lines):
    pairs = [(f"w{i}a w{i}b", f"v{i}a v{i}b") for i in range(120)]
    (warning,) = DictionaryTraining().run(lines(pairs), Output("made")).warnings
    assert "0% of the words occur more than once" in warning


def test_nothing_is_written_where_nothing_can_be_used(lines, tmp_path):
    with pytest.raises(DataError, match=r"pairs\.tsv: no segment can be used \(without words on one side: 2\)"):
        DictionaryTraining().run(lines([("?", "!"), ("!", "?")]), Output("made"))
    assert not (tmp_path / "made").exists()


def test_an_output_that_is_there_stays_unless_it_is_to_be_replaced(lines):
    DictionaryTraining().run(lines(TEXT[:20]), Output("made"))
    before = files_in("made")
    with pytest.raises(UsageError, match="--overwrite"):
        DictionaryTraining().run("pairs.tsv", Output("made"))
    assert files_in("made") == before
    DictionaryTraining().run(lines(TEXT[:40]), Output("made", overwrite=True))
    assert sosie.load_dictionary("made").segments == 40


def test_tables_are_read_and_written(lines):
    report = import_dictionary(lines([("Haus", "house\t1"), ("guten Tag", "hello\t1")]), Output("made"))
    assert (report.pairs, report.left_out) == (1, {"of several words": 1})
    assert export_dictionary("made", "again.tsv") == 1
    assert import_dictionary("again.tsv", Output("again")).digest == report.digest
    with pytest.raises(UsageError, match="--overwrite"):
        export_dictionary("made", "again.tsv")


def test_a_dictionary_is_described(lines):
    DictionaryTraining().run(lines(TEXT), Output("made"))
    said = describe_dictionary("made")
    assert said["segments"] == 120 and said["spec"]["aligner"] == "fast_align" and said["weights"] is None
    made = sosie.load_dictionary("made")
    assert said["backward_translations"] == len(made.backward.words)
    made.with_weights((1.0, 0.5, 0.25)).save("weighted")
    assert describe_dictionary("weighted")["weights"] == [1.0, 0.5, 0.25]
    assert made.translations(TOY["stone"])[0][0] == "stone"
