"""Specs in one line of text, as people write them: `topsig:bits=1024,width=1,stem=english`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, get_args, get_type_hints

from sosie.errors import UsageError
from sosie.features.shingles import Shingles
from sosie.signatures.registry import method_named
from sosie.signatures.spec import Spec

SHINGLES = ("width", "unit", "stem", "stop_words")
_TRUTH = {"true": True, "false": False}


def parse_spec(text: str) -> Spec:
    """Return the spec of a method's name and, after a colon, its parameters and those of the shingles.

    >>> parse_spec("simhash:bits=256,weighting=bm25,width=1")
    Simhash(shingles=Shingles(width=1, unit='word', stem=None, stop_words=None), seed=0, bits=256, weighting='bm25')
    """
    method, _, rest = text.partition(":")
    given = split_parameters(part for part in rest.split(",") if part)
    shingles: dict[str, Any] = {name: value for name, value in given.items() if name in SHINGLES}
    if "width" in shingles:
        shingles["width"] = _number("width", shingles["width"], int)
    kind = method_named(method.strip())
    own = parameters_of(kind, {name: value for name, value in given.items() if name not in SHINGLES})
    return kind(shingles=replace(default_shingles(kind), **shingles), **own)


def split_parameters(parts: Iterable[str]) -> dict[str, str]:
    """Return the values of NAME=VALUE, NAME=VALUE, ... by name."""
    given: dict[str, str] = {}
    for part in parts:
        name, equals, value = (each.strip() for each in part.partition("="))
        name = name.replace("-", "_")
        if not equals or not name:
            raise UsageError(f"{part!r} is not NAME=VALUE")
        if name in given:
            raise UsageError(f"{name} is given twice")
        given[name] = value
    return given


def default_shingles(kind: type[Spec]) -> Shingles:
    """Return the shingles that a method takes if nothing is said.

    >>> from sosie.signatures.minhash import Minhash
    >>> default_shingles(Minhash).width
    3
    """
    return next(field.default for field in fields(kind) if field.name == "shingles")  # type: ignore[return-value]


def parameters_of(kind: type[Spec], given: Mapping[str, str]) -> dict[str, Any]:
    """Return parameters of a method as values of their types.

    >>> from sosie.signatures.minhash import Minhash
    >>> parameters_of(Minhash, {"minima": "64"})
    {'minima': 64}
    """
    types = {name: hint for name, hint in get_type_hints(kind).items() if name in own_parameters(kind)}
    unknown = [name for name in given if name not in types]
    if unknown:
        raise UsageError(f"{kind.method} has no parameter {unknown[0]!r}, it has {', '.join(types)}")
    return {name: _value(name, value, types[name]) for name, value in given.items()}


def own_parameters(kind: type[Spec]) -> dict[str, Any]:
    """Return the parameters of a method with their defaults, besides the shingles.

    >>> from sosie.signatures.minhash import Minhash
    >>> own_parameters(Minhash)
    {'seed': 0, 'minima': 128, 'rows': 5, 'b': 1}
    """
    return {
        field.name: None if field.default is MISSING else field.default
        for field in fields(kind)
        if field.name != "shingles" and field.init
    }


def _value(name: str, text: str, hint: Any) -> Any:
    """Return what the text means as a value of the type, which may be a union."""
    kinds = set(get_args(hint)) or {hint}
    if type(None) in kinds and text.lower() == "none":
        return None
    if bool in kinds:
        if text.lower() not in _TRUTH:
            raise UsageError(f"{name} must be true or false, got {text!r}")
        return _TRUTH[text.lower()]
    if float in kinds or int in kinds:
        return _number(name, text, float if float in kinds else int)
    return text


def _number(name: str, text: str, kind: type) -> Any:
    try:
        return kind(text)
    except ValueError as error:
        raise UsageError(f"{name} must be {'a number' if kind is float else 'a whole number'}, got {text!r}") from error
