"""Signatures, features and signers whose files were made up, with right checksums: named errors, or answers."""

import numpy as np
import pytest
from tests.index.crafted import read, write
from tests.signatures import crafted
from tests.trials import SEED, run_trials, trials

import sosie
from sosie.features.frequencies import DocumentFrequencies, TermCounts


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crafted") / "bases"
    folder.mkdir()
    crafted.make_signed(folder)
    return folder


def test_whatever_files_say_has_an_answer_or_a_name(bases):
    count = trials(150)
    outcomes, wrong = run_trials("tests.signatures.crafted", bases.parent, count)
    assert not wrong, f"{len(wrong)} of {count} trials from SOSIE_FUZZ_SEED={SEED} on, by their numbers"
    assert outcomes.total() == count and outcomes["named"] and outcomes["opened"]


def test_whole_files_are_opened(bases):
    for base in sorted(bases.iterdir()):
        assert crafted.use(base, with_rows=not base.name.endswith("-signer")) == "opened"


@pytest.mark.parametrize("unsigned", [np.array([-1]), np.array([1.5]), np.array([[1]]), np.array([True])])
def test_rows_without_features_that_are_none(unsigned, bases, tmp_path):
    manifest, arrays = read(bases / "minhash")
    (tmp_path / "keys").mkdir()
    write(tmp_path / "keys", manifest, arrays | {"unsigned": unsigned})
    with pytest.raises(sosie.StorageError, match=r"keys.*the rows without features are"):
        sosie.load_signatures(tmp_path / "keys")


@pytest.mark.parametrize(("documents", "length"), [(10**30, 1), (1.5, 1), (True, 1), (2, 2**62), (2, "1"), (-1, 0)])
def test_numbers_of_documents_that_are_none(documents, length):
    with pytest.raises(sosie.MismatchError, match="there are no"):
        DocumentFrequencies(np.array([3], np.uint64), np.array([1]), documents, length)


def test_counts_whose_sum_is_no_number():
    with pytest.raises(sosie.MismatchError, match="more often than can be counted"):
        TermCounts(np.array([3, 7], np.uint64), np.array([2**62, 2**62]))
