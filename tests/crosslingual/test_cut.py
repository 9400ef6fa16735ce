"""Pairs of texts as segments: as they are where they are short, else by paragraphs; and what becomes nothing."""

from tests.crosslingual.test_paragraphs import ENGLISH, GERMAN

from sosie.crosslingual.cut import UNALIGNED, Cut
from sosie.crosslingual.parallel.segment import Segment

SHORT = Segment("Ein Haus.", "A house.")
PARAGRAPHS = Segment("\n\n".join(GERMAN), "\n\n".join(ENGLISH))


def test_short_pairs_are_segments_and_long_ones_are_cut():
    told = []
    cut = Cut([SHORT, PARAGRAPHS, SHORT])
    assert list(cut.segments(told.append)) == [SHORT, *zip(GERMAN, ENGLISH, strict=True), SHORT]
    assert cut.left_out == {} and told == [1, 1, 1]


def test_a_line_break_is_no_paragraph():
    lines = Segment("Ein\nHaus.", "A\nhouse.")
    assert list(Cut([lines]).segments()) == [lines]


def test_one_side_of_several_paragraphs_is_enough():
    pair = Segment(" ".join(GERMAN), "\n\n".join(ENGLISH))
    assert pair not in list(Cut([pair]).segments())


def test_longer_than_any_segment():
    ours = [f"Das ist nun der Satz Nummer {number} von sehr vielen." for number in range(20)]
    theirs = [f"This now is the sentence number {number} of very many." for number in range(20)]
    shorter, longer = (Segment(" ".join(ours[:count]), " ".join(theirs[:count])) for count in (15, 16))
    assert list(Cut([shorter]).segments()) == [shorter]  # 150 words
    found = list(Cut([longer]).segments())
    assert len(found) > 1 and all(source in longer.source for source, _ in found)


def test_what_has_no_paragraphs_in_common_is_counted():
    cut = Cut([SHORT, Segment("\n\n".join(GERMAN), " ")] * 2, left_out={"fuzzy": 3})
    for _ in range(2):
        assert list(cut.segments()) == [SHORT, SHORT]
        assert cut.left_out == {"fuzzy": 3, UNALIGNED: 2}


def test_the_lengths_of_all_pairs_tell_the_ratio():
    """Characters of one language that are as many as four of the other: each pair alone would look too long."""
    korean, english = "가나다라 " * 20, "four letters here " * 20
    pairs = [Segment(f"{korean}\n\n{korean}", f"{english}\n\n{english}")] * 5
    assert len(list(Cut(pairs).segments())) == 10
    assert list(Cut([]).segments()) == [] == list(Cut([Segment("", "")]).segments())[1:]
