"""What a function needs to emit its own machine code: Numba's names, typed so that kernels may call the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types as numba_types
from numba.core import cgutils
from numba.extending import intrinsic

types: Any = numba_types
_cgutils: Any = cgutils


def emitted(function: Callable[..., Any]) -> Any:
    """Make a function that returns a signature and its code generator callable from kernels."""
    return intrinsic(function)


def pointer(context: Any, builder: Any, array_type: Any, array: Any, position: Any, element: Any) -> Any:
    """Emit the address of `array[position]` as a pointer to `element`."""
    struct = _cgutils.create_struct_proxy(array_type)(context, builder, value=array)
    return builder.bitcast(builder.gep(struct.data, [position]), element.as_pointer())
