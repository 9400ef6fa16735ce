"""Specs in one line of text."""

import pytest

from sosie import Minhash, Shingles, Simhash, UsageError
from sosie.signatures.named import own_parameters, parse_spec
from sosie.signatures.registry import METHODS


@pytest.mark.parametrize(
    ("text", "spec"),
    (
        ("simhash", Simhash()),
        ("simhash:", Simhash()),
        ("simhash: bits = 128 , seed=7", Simhash(bits=128, seed=7)),
        ("simhash:width=4,unit=char", Simhash(shingles=Shingles(4, "char"))),
        ("simhash:width=1,stem=english,stop-words=en", Simhash(shingles=Shingles(1, stem="english", stop_words="en"))),
        ("minhash:minima=64,rows=2,b=3", Minhash(minima=64, rows=2, b=3)),
    ),
)
def test_a_line_is_a_spec(text, spec):
    assert parse_spec(text).digest == spec.digest


@pytest.mark.parametrize(
    ("text", "message"),
    (
        ("sumhash", "method must be one of"),
        ("", "method must be one of"),
        ("simhash:bits", "'bits' is not NAME=VALUE"),
        ("simhash:bits=many", "bits must be a whole number, got 'many'"),
        ("simhash:width=1.5", "width must be a whole number"),
        ("simhash:bits=1,bits=2", "bits is given twice"),
        ("simhash:rows=2", "simhash has no parameter 'rows', it has seed, bits, weighting"),
        ("simhash:weighting=loud", "weighting must be one of"),
    ),
)
def test_what_is_no_spec_says_why(text, message):
    with pytest.raises(UsageError, match=message):
        parse_spec(text)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_written_with_all_its_parameters(method):
    spec = METHODS[method]()
    written = ",".join(f"{name}={getattr(spec, name)}" for name in own_parameters(METHODS[method]))
    assert parse_spec(f"{method}:{written}") == spec


def test_the_registry_names_every_method_as_it_names_itself():
    assert all(METHODS[name].method == name for name in METHODS)
    assert list(METHODS) == sorted(METHODS)
