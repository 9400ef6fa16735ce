"""Which types a kernel is compiled for, as plain data that a file can hold, and back."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sosie.kernels.machine.intrinsics import types

READ_ONLY = "read-only "


def described(kind: Any) -> Any:
    """Return a type as plain data: a number's name, an array as in `read-only uint64[:,:]`, tuples by their items.

    The layout of an array follows where it is not that of C, as in `float64[:,:]F`.

    >>> described(types.Array(types.uint64, 2, "C", readonly=True)), described(types.UniTuple(types.int64, 2))
    ('read-only uint64[:,:]', ['int64', 'int64'])
    """
    if isinstance(kind, types.Array) and kind.aligned:
        layout = "" if kind.layout == "C" else kind.layout
        return f"{'' if kind.mutable else READ_ONLY}{kind.dtype}[{','.join(':' * kind.ndim)}]{layout}"
    if isinstance(kind, types.BaseNamedTuple):
        made = kind.instance_class
        return {f"{made.__module__}:{made.__qualname__}": [described(each) for each in kind]}
    if isinstance(kind, types.BaseTuple):
        return [described(each) for each in kind]
    if getattr(types, str(kind), None) == kind:
        return str(kind)
    raise TypeError(f"a kernel that Python calls takes arrays, numbers and tuples of them, not {kind}")


def typed(data: Any) -> Any:
    """Return the type that `described` gave.

    >>> typed("read-only uint64[:,:]") == types.Array(types.uint64, 2, "C", readonly=True)
    True
    """
    if isinstance(data, list):
        return types.BaseTuple.from_types([typed(each) for each in data])
    if isinstance(data, dict):
        ((name, items),) = data.items()
        module, _, made = name.partition(":")
        return types.BaseTuple.from_types([typed(each) for each in items], getattr(import_module(module), made))
    element, bracket, axes = data.removeprefix(READ_ONLY).partition("[")
    number = getattr(types, element)
    if not bracket:
        return number
    layout = axes.rpartition("]")[2] or "C"
    return types.Array(number, axes.count(":"), layout, readonly=data.startswith(READ_ONLY))
