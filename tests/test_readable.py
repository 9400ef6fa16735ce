"""Values are readable where they are printed: one short line, without arrays."""

import numpy as np
import pyarrow as pa
import pytest

import sosie
from sosie.jobs.inspect import inspect_documents
from sosie.jobs.parameters import DedupParameters
from sosie.search.text_index import TextIndex

TEXTS = ["the cat sat on the mat", "The cat sat on the mat!", "something else altogether", "..."]


@pytest.fixture(scope="module")
def signed():
    return sosie.Simhash().fit().sign(TEXTS)


def test_what_flows_between_the_stages(signed):
    features = sosie.Shingles().extract(TEXTS)
    pairs = sosie.join(features, threshold=0.8)
    digest = signed.digest[:8]
    assert repr(features) == "Features(4 documents, 9 features)"
    assert repr(sosie.Shingles().extract(["a"], counts=True)) == "Features(1 document, 1 feature, with counts)"
    assert repr(signed) == f"Signatures(3 rows of 64 bits, 1 unsigned, digest {digest})"
    assert repr(sosie.Signatures(np.zeros(1, np.uint64), 1)) == "Signatures(1 row of 1 bit)"
    assert repr(sosie.Keys(np.zeros((2, 3), np.uint64))) == "Keys(2 rows in 3 tables)"
    assert repr(pairs) == "Pairs(1 candidate, recall 1)"
    assert repr(sosie.verify(pairs, features, threshold=0.8)) == "VerifiedPairs(1 pair, similarity 1 to 1, recall 1)"
    assert repr(sosie.Clusters(np.array([0, 0, 2]), np.ones(3))) == "Clusters(3 rows, 2 kept, 1 group)"
    index = sosie.FlatIndex(signed)
    assert repr(index.search(signed, k=2)) == "Matches(6 matches of 3 queries, recall 1)"
    assert repr(index) == f"FlatIndex(3 rows of 64 bits, digest {digest})"
    index.remove([0])
    assert repr(index) == f"FlatIndex(2 rows of 64 bits, 1 removed, digest {digest})"
    assert "2 rows of 64 bits" in index._repr_html_() and "1 removed" in index._repr_html_()


def test_indexes_and_statistics(signed):
    keys = sosie.Minhash().fit().keys(TEXTS)
    assert repr(sosie.KeyIndex(keys)).startswith(f"KeyIndex(3 rows in {keys.values.shape[1]} tables, digest ")
    signer = sosie.Simhash(weighting="tf-idf").fit(TEXTS)
    index = TextIndex(sosie.FlatIndex(signer.sign(TEXTS)), signer)
    assert repr(index).startswith("TextIndex(3 documents, signed by simhash; FlatIndex(3 rows of 64 bits, digest ")
    assert "signed by simhash" in index._repr_html_() and "3 documents" in index._repr_html_()
    assert repr(signer.frequencies) == "DocumentFrequencies(5 features of 4 documents)" and "array" not in repr(signer)
    assert repr(sosie.TopSig().fit(TEXTS).statistics).startswith("TermCounts(")
    assert "Basis(2 dimensions of " in repr(sosie.SvdEmbedding(dimensions=2).fit(TEXTS))
    assert "PrefixClasses(" in repr(sosie.FuzzyFingerprint().fit(TEXTS))


def test_every_index_has_a_short_line(signed):
    wide = sosie.Signatures(np.zeros((2, 1), np.uint64), ids=pa.array(["x", "y"]))
    for made in (sosie.FlatIndex(wide), sosie.BlockIndex(wide, radius=3), sosie.SliceIndex(wide, width=16)):
        assert repr(made) == f"{type(made).__name__}(2 rows of 64 bits)"


def test_a_plan():
    done = inspect_documents(TEXTS, DedupParameters())
    assert repr(done).splitlines()[0] == "Inspected" and "exact, Jaccard >= 0.8" in repr(done)
    assert "4, 4 of them usable" in done._repr_html_()
