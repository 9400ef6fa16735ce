"""Training: words find their translations, and nothing but the text decides what comes out."""

from __future__ import annotations

import sys
from random import Random

import pytest
from tests.crosslingual.toy import ENGLISH, TOY, toy_text

from sosie.crosslingual import align, aligner
from sosie.crosslingual.align import train
from sosie.crosslingual.aligner import load_thot
from sosie.crosslingual.bitext import Bitext
from sosie.crosslingual.spec import ALIGNERS, TrainingSpec
from sosie.errors import DataError, UsageError

TEXT = toy_text(150)


def right(made) -> float:
    """Return the share of words whose most probable translation is the right one."""
    first = [made.translations(word)[:1] for word in TOY.values()]
    return sum(found != [] and found[0][0] == word for found, word in zip(first, TOY, strict=True)) / len(TOY)


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_every_aligner_finds_the_words(aligner):
    made = train(TEXT, TrainingSpec(aligner=aligner, iterations=2 if aligner == "eflomal" else None), threads=1)
    assert right(made) == 1.0 and made.segments == len(TEXT)
    assert made.translations("house", backward=True)[0][0] == TOY["house"]


def plainly_aligned(aligner) -> dict[str, list[tuple[str, float]]]:
    """Return p(e | f) of the text as the package gives it when it is told words, in their sorted order."""
    thot, text = load_thot(), sorted((a.split(), b.split()) for a, b in TEXT)
    model = {"fast_align": thot.FastAlignModel, "eflomal": thot.EflomalAlignmentModel}.get(
        aligner, thot.Ibm1AlignmentModel
    )()
    if aligner == "eflomal":
        model.seed = 0
        model.set_iterations(3, 3, 12)
    for word in sorted({word for a, _ in text for word in a}):
        model.add_src_word(word)
    for word in sorted({word for _, b in text for word in b}):
        model.add_trg_word(word)
    for pair in text:
        model.add_sentence_pair(*pair)
    for stage in ("ibm1", "hmm") if aligner == "hmm" else (aligner,):
        if stage == "hmm":
            model = thot.HmmAlignmentModel(model)
        model.start_training()
        for _ in range(18 if stage == "eflomal" else 3):
            model.train()
        model.end_training()
    found = {}
    for word in TOY.values():
        entries = model.get_translations(model.get_src_word_index(word), 0.001)
        found[word] = sorted(((model.get_trg_word(other), p) for other, p in entries), key=lambda each: -each[1])
    return found


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_probabilities_are_those_of_the_package(aligner):
    made = train(TEXT, TrainingSpec(aligner=aligner, iterations=3, most=1000, mass=1.0), threads=1)
    for word, expected in plainly_aligned(aligner).items():
        total = sum(p for _, p in expected)
        assert dict(made.translations(word)) == pytest.approx({other: p / total for other, p in expected})


def test_no_word_is_no_translation(monkeypatch):
    class Model:
        def get_translations(self, row, least):
            return [(0, 0.5), (3, 0.5)]  # the first is the aligner's own: no word at all

    monkeypatch.setattr(aligner, "_trained", lambda *_: Model())
    assert train([("a", "x")]).translations("a") == [("x", 1.0)]


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_neither_order_nor_threads_nor_processes_matter(aligner, monkeypatch):
    spec = TrainingSpec(aligner=aligner, iterations=1)
    shuffled = Random(1).sample(TEXT, len(TEXT))
    here = train(TEXT, spec, threads=1)
    monkeypatch.setattr(align, "LITTLE", 0)  # in processes of their own
    for threads in (1, 2, 5):
        assert train(shuffled, spec, threads=threads).digest == here.digest


def test_segments_that_repeat_count_as_often_as_they_occur():
    """The aligner takes counts and ignores them: repeats are told one by one."""
    spec = TrainingSpec(aligner="ibm1", most=1000, mass=1.0, least=0.0)
    text = [("a b", "x y"), ("a c", "x z"), ("b", "x")]
    once, often = train(text, spec), train([*text, *[text[2]] * 8], spec)
    probability = [dict(made.translations("b")).get("x", 0) for made in (once, often)]
    assert probability[1] > probability[0] and often.segments == 11


def test_translations_are_pruned_as_the_spec_says():
    whole = train(TEXT, TrainingSpec(most=1000, mass=1.0, least=0.0))
    few = train(TEXT, TrainingSpec(most=2, mass=1.0, least=0.0))
    assert whole.forward.sizes.max() > 2 == few.forward.sizes.max() == few.backward.sizes.max()
    kept = whole.translations(TOY["house"])[:2]
    total = sum(share for _, share in kept)
    assert dict(few.translations(TOY["house"])) == pytest.approx({word: share / total for word, share in kept})
    least = train(TEXT, TrainingSpec(most=1000, mass=1.0, least=0.05))
    assert len(least.forward.words) < len(whole.forward.words)


def test_words_are_those_that_translate_or_are_translated():
    made = train(TEXT)
    assert set(made.source.to_pylist()) == set(TOY.values()) and set(ENGLISH) <= set(made.target.to_pylist())


def test_odd_texts_are_no_danger():
    odd = ["\ud800 a", "a\0b", "w" * 100_000, "NULL UNKNOWN_WORD <UNUSED_WORD>", "\u202ea", "١٢ ²", "0 1 2 3"]
    made = train([(text, text) for text in odd] * 3)
    assert made.translations("w" * 100_000)[0][0] == "w" * 100_000
    assert made.translations("null") and made.translations("0")


def test_segments_without_words_or_too_long_are_left_out():
    text = [("a b", "x y"), ("", "x"), ("a", "?!"), ("a " * 151, "x"), ("a", "x " * 151), ("a " * 150, "x")]
    read = Bitext.of(text)
    assert len(read) == 2 and read.left_out == {"without words on one side": 2, "too long": 2}
    assert read.links == 4 + 150 and train(text).segments == 2
    assert len(Bitext.of(text, longest=2)) == 1
    with pytest.raises(DataError, match="nothing to train on"):
        train([("", "x")])


def test_bitext_knows_how_many_words_repeat():
    assert Bitext.of([("a a b", "x y z")]).repeated == pytest.approx(1 / 5)
    assert Bitext.of([]).repeated == 0.0 and len(Bitext.of([])) == 0


@pytest.mark.parametrize("little", [0, 1 << 60])
def test_progress_is_told_up_to_the_end(little, monkeypatch):
    monkeypatch.setattr(align, "LITTLE", little)
    told = []
    train(TEXT, threads=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 10) for done in range(1, 11)]


def test_a_process_that_fails_says_so_and_leaves_none_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(align, "LITTLE", 0)
    monkeypatch.setattr(align, "_START", "import sys; sys.exit('no memory is left')")
    with pytest.raises(DataError, match=r"code 1 \(no memory is left\).*fewer segments"):
        train(TEXT, threads=2, scratch=tmp_path)
    assert not list(tmp_path.iterdir())


def test_an_interrupt_ends_the_processes(monkeypatch, tmp_path):
    monkeypatch.setattr(align, "LITTLE", 0)
    started = []

    class Listed(align._Process):
        def start(self):
            started.append(self)
            return super().start()

    monkeypatch.setattr(align, "_Process", Listed)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(TEXT, TrainingSpec(iterations=900), threads=2, progress=interrupt, scratch=tmp_path)
    assert len(started) == 2 and all(each._process.poll() is not None for each in started)
    assert not list(tmp_path.iterdir())


def test_the_package_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "thot.alignment", None)
    load_thot.cache_clear()
    with pytest.raises(UsageError, match=r"pip install 'sosie\[crosslingual\]'"):
        train(TEXT)
    load_thot.cache_clear()


def test_a_spec_of_a_table_trains_nothing():
    with pytest.raises(UsageError, match="origin"):
        train(TEXT, TrainingSpec(origin="loaded"))
