"""The whole job against plain Python: texts of many scripts, edited at random, through every stage."""

from fractions import Fraction

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import oracle, oracle_text

import sosie

VOCABULARY = [
    *["the", "cat", "SAT", "naïve", "nai\u0308ve", "Straße", "STRASSE", "ﬁne", "3.14", "x_y", "don't", "---", ""],
    *["дом", "ДОМ", "ελλάς", "ΕΛΛΑΣ", "हिन्दी", "العربية", "שלום", "한국어", "𝒳𝟙", "😀"],
    *["ภาษาไทย", "日本語の文章", "カタカナ", "中文"],
]
words = st.lists(st.sampled_from(VOCABULARY), max_size=12)


@st.composite
def collections(draw):
    """Some texts, and copies of them with a word more, a word less or another case."""
    texts = draw(st.lists(words, min_size=1, max_size=8))
    for _ in range(draw(st.integers(0, 6))):
        copy = list(draw(st.sampled_from(texts)))
        if copy and draw(st.booleans()):
            copy[draw(st.integers(0, len(copy) - 1))] = draw(st.sampled_from(VOCABULARY))
        else:
            copy.insert(draw(st.integers(0, len(copy))), draw(st.sampled_from(VOCABULARY)))
        texts.append(copy)
    return [draw(st.sampled_from([" ", "\n", ", "])).join(text) for text in texts]


@settings(max_examples=150, deadline=None)
@given(
    collections(),
    st.sampled_from(["1", "4/5", "2/3", "1/2", "3/10"]),
    st.sampled_from([(1, "word"), (2, "word"), (3, "word"), (4, "char"), (2, "code")]),
    st.sampled_from(["first", "longest"]),
    st.sampled_from(["identical", "keep"]),
)
def test_dedup_is_what_its_definition_says(texts, threshold, shingle, keep, wordless):
    width, unit = shingle
    whole = wordless == "identical"
    sets = [oracle_text.evidence(text, width, unit) for text in texts]
    if not whole:
        sets = [frozenset(oracle_text.shingles(text, width, unit)) for text in texts]
    bound = Fraction(threshold)
    truth = [pair for pair in oracle.similar_pairs(sets, bound) if sets[pair[0]] and sets[pair[1]]]
    method = sosie.Exact(shingles=sosie.Shingles(width, unit))
    job = sosie.Deduplicator(threshold=bound, method=method, keep=keep, wordless=wordless)
    result = job.run(pa.table({"text": texts}), threads=1)
    assert list(zip(result.found.a.tolist(), result.found.b.tolist(), strict=True)) == truth

    order = sorted(range(len(texts)), key=lambda row: (-len(texts[row].encode()) if keep == "longest" else 0, row))
    kept: list[int] = []
    anchor: dict[int, int] = {}
    for row in order:
        twin = next((other for other in anchor if sets[row] and sets[other] == sets[row]), None)
        near = [other for other in kept if (min(row, other), max(row, other)) in truth]
        if twin is not None:
            anchor[row] = anchor[twin]  # identical documents go together
        elif near:
            anchor[row] = max(near, key=lambda other: (oracle.jaccard(sets[row], sets[other]), -kept.index(other)))
        else:
            anchor[row] = row
            kept.append(row)
    assert result.grouped.anchor.tolist() == [anchor[row] for row in range(len(texts))]
    likeness = [1.0 if a == row else float(oracle.jaccard(sets[row], sets[a])) for row, a in sorted(anchor.items())]
    assert result.grouped.similarity.tolist() == likeness
