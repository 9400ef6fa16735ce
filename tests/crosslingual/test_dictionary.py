"""A dictionary: looked up, turned round, saved, and never opened as another one."""

from __future__ import annotations

import json
import shutil
import zlib

import numpy as np
import pyarrow as pa
import pytest
from tests.artefacts import is_mapped, rewritten

import sosie
from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.spec import TrainingSpec
from sosie.errors import MismatchError, StorageError, UsageError
from sosie.index.files import load_index

SOURCE = ["haus", "haus", "straße", "東京", "garten"]
TARGET = ["house", "home", "street", "tokyo", "garden"]


def small(**changed) -> Dictionary:
    made = Dictionary.from_pairs([word.replace("ß", "ss") for word in SOURCE], TARGET, [3, 1, 1, 1, 0.5])
    return made.with_weights((0.5, 0.25, 0.25)) if changed.get("weighted") else made


def answers(made: Dictionary) -> object:
    return (
        [made.translations(word) for word in made.source.to_pylist()],
        [made.translations(word, backward=True) for word in made.target.to_pylist()],
        made.digest,
        made.spec,
        made.segments,
        made.weights,
    )


def test_words_are_looked_up_as_texts_are_read():
    made = small()
    assert made.translations("Haus") == [("house", 0.75), ("home", 0.25)]
    assert made.translations("STRASSE") == made.translations("straße") == [("street", 1.0)]
    assert made.translations("home", backward=True) == [("haus", 1.0)]
    for unknown in ("häuser", "", "?!", "haus garten", "zzz", "house"):
        assert made.translations(unknown) == []
    assert made.near("hauss") == ["haus"] and made.near("hous", backward=True)[0] == "house"


def test_its_words_are_sorted_by_code_point_and_counted():
    made = small()
    assert made.source.to_pylist() == sorted(made.source.to_pylist()) and len(made.target) == 5
    assert len(made) == 4 and repr(made) == "Dictionary(4 source words, 5 target words, loaded)"


def test_both_directions_may_be_given_and_one_may_lack_a_pair():
    made = Dictionary.from_pairs(["a", "a", "b"], ["x", "y", "y"], [1, 3, 0], [2, 0, 5])
    assert made.translations("a") == [("y", 0.75), ("x", 0.25)] and made.translations("b") == []
    assert made.translations("y", backward=True) == [("b", 1.0)] and len(made) == 1


def test_reversed_is_the_other_direction_and_twice_the_same():
    made = small(weighted=True)
    turned = made.reversed()
    assert turned.translations("house") == made.translations("house", backward=True)
    assert turned.translations("haus", backward=True) == made.translations("haus")
    assert answers(turned.reversed()) == answers(made) and turned.digest != made.digest
    assert made.with_weights((1.0, 2.0, 3.0)).reversed().weights == (2.0, 1.0, 3.0)


def test_the_digest_names_translations_and_weights_not_how_they_were_made():
    made = small()
    assert made.digest == small().digest != small(weighted=True).digest
    arrays = (made.source, made.target, made.forward, made.backward)
    assert Dictionary(*arrays, TrainingSpec(most=3), 7).digest == made.digest
    other = Dictionary.from_pairs(["haus"], ["house"], [1.0])
    assert len({made.digest, other.digest, Dictionary.from_pairs(["haus"], ["housе"], [1.0]).digest}) == 3


def test_what_is_saved_is_opened_mapped_and_the_same(tmp_path):
    for name, made in (("plain", small()), ("weighted", small(weighted=True))):
        made.save(tmp_path / name)
        opened = sosie.load_dictionary(tmp_path / name)
        assert answers(opened) == answers(made)
        assert is_mapped(opened.forward.words) and is_mapped(opened.backward.probabilities)
    with pytest.raises(UsageError, match="--overwrite"):
        small().save(tmp_path / "plain")
    small(weighted=True).save(tmp_path / "plain", overwrite=True)
    assert load_dictionary(tmp_path / "plain").weights == (0.5, 0.25, 0.25)


def test_a_dictionary_without_words_is_none_and_is_opened(tmp_path):
    Dictionary.from_pairs([], [], []).save(tmp_path / "none")
    assert len(load_dictionary(tmp_path / "none")) == 0


FLIPS = 0xFF, 0x01, 0x20


def test_every_byte_that_is_flipped_or_gone_is_told(tmp_path):
    """As of an index: a named error, or what was saved; the last line feed of the manifest means nothing."""
    small(weighted=True).save(tmp_path / "made")
    right, same = answers(small(weighted=True)), []
    for path in sorted(p for p in (tmp_path / "made").iterdir() if p.name != ".sosie"):
        whole = path.read_bytes()
        cases = [whole[:i] + bytes([whole[i] ^ FLIPS[i % 3]]) + whole[i + 1 :] for i in range(len(whole))]
        cases += [whole[:i] for i in range(len(whole))] + [whole + b"\0"]
        for case in cases:
            path.write_bytes(case)
            try:
                assert answers(load_dictionary(tmp_path / "made")) == right
                same.append((path.name, case))
            except StorageError as error:
                assert str(tmp_path / "made") in str(error)
        path.write_bytes(whole)
    assert [(name, len(case)) for name, case in same] == [
        ("manifest.json", len((tmp_path / "made" / "manifest.json").read_bytes()) - 1)
    ]


def crafted(folder, name, array):
    """Put another array into an artefact, with the right checksums."""
    data = np.asarray(array)
    (folder / name).write_bytes(data.tobytes())
    entry = {"dtype": data.dtype.str, "shape": list(data.shape), "bytes": data.nbytes}
    entry["crc32"] = zlib.crc32(data.tobytes())
    rewritten(folder, lambda manifest: manifest["files"].update({name: entry}))


def test_what_is_crafted_with_right_checksums_is_refused(tmp_path):
    made = small()
    made.save(tmp_path / "made")
    wrong = {
        "forward_words": [
            made.forward.words + 99,
            made.forward.words[::-1].copy(),
            made.forward.words.astype(np.int32),
            made.forward.words.reshape(1, -1),
        ],
        "forward_offsets": [made.forward.offsets[:-1], made.forward.offsets * 2],
        "backward_probabilities": [np.full(5, np.nan), np.zeros(5), made.backward.probabilities / 2],
        "source_bytes": [np.frombuffer(b"\xff" * 24, np.uint8)],
        "target_offsets": [np.zeros(6, np.int64)],
    }
    for name, arrays in wrong.items():
        for array in arrays:
            folder = shutil.copytree(tmp_path / "made", tmp_path / "crafted")
            crafted(folder, name, array)
            with pytest.raises(StorageError, match="crafted"):
                load_dictionary(folder)
            shutil.rmtree(folder)


MANIFESTS = {
    "another digest": lambda manifest: manifest.update(digest="0" * 32),
    "other weights": lambda manifest: manifest.update(weights=[1, 2, 3]),
    "weights that are none": lambda manifest: manifest.update(weights=["a", 2, 3]),
    "two weights": lambda manifest: manifest.update(weights=[1.0, 2.0]),
    "more words": lambda manifest: manifest.update(source_words=5),
    "no spec": lambda manifest: manifest.pop("spec"),
    "another aligner": lambda manifest: manifest["spec"].update(aligner="giza"),
    "segments below 0": lambda manifest: manifest.update(segments=-1),
    "another Unicode": lambda manifest: manifest.update(unicode="1.0"),
    "a file that is not listed": lambda manifest: manifest["files"].pop("source_bytes"),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS)
def test_a_manifest_that_does_not_fit_is_refused(change, tmp_path):
    small().save(tmp_path / "made")
    rewritten(tmp_path / "made", change)
    with pytest.raises(StorageError, match="made"):
        load_dictionary(tmp_path / "made")


def test_other_artefacts_are_told_apart(tmp_path):
    small().save(tmp_path / "made")
    with pytest.raises(StorageError, match="holds 'dictionary'"):
        load_index(tmp_path / "made")
    sosie.Simhash().fit().save(tmp_path / "signer")
    with pytest.raises(StorageError, match="sosie dictionary train"):
        load_dictionary(tmp_path / "signer")
    rewritten(tmp_path / "made", lambda manifest: manifest.update(version=99))
    with pytest.raises(StorageError, match="Update Sosie"):
        load_dictionary(tmp_path / "made")


@pytest.mark.parametrize("words", [["b", "a"], ["a", "a"], ["", "a"], ["a b"], ["a\tb"], ["a\u202eb"], [None]], ids=str)
def test_lists_that_are_no_words_are_refused(words):
    made = small()
    with pytest.raises(MismatchError, match="source words"):
        Dictionary(pa.array(words, pa.large_string()), made.target, made.forward, made.backward)


@pytest.mark.parametrize(
    "changed",
    [
        *({"aligner": "giza"}, {"iterations": 0}, {"most": 0}, {"mass": 0}, {"mass": 1.5}, {"mass": float("nan")}),
        *({"least": 1.0}, {"longest": 201}, {"most": 2.5}, {"seed": -1}, {"origin": "found"}),
    ],
    ids=str,
)
def test_a_spec_says_what_is_wrong(changed):
    with pytest.raises(UsageError, match=next(iter(changed))):
        TrainingSpec(**changed)


def test_a_spec_is_data():
    spec = TrainingSpec(aligner="hmm", iterations=3, mass=0.9)
    assert TrainingSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert (spec.rounds, TrainingSpec().rounds, TrainingSpec(aligner="eflomal", iterations=2).rounds) == (6, 5, 12)
