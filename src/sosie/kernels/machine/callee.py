"""Kernels as kernels call them: compiled as far as a caller links them, without machine code of their own.

Numba optimises every function to the end, makes machine code of it and a wrapper by which Python calls it, and does so
for those, too, that only other functions call; but a caller links their LLVM code, and optimises and translates it
again as a part of its own. Here a kernel is two dispatchers of one function. Python calls one, and that one is whole.
What kernels find under its name is the other, its *callee*, which ends with simplified LLVM code. That saves a quarter
of the time (decision 16).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding
from numba.core import codegen as _codegen
from numba.core import compiler as _compiler
from numba.core import registry as _registry
from numba.core import types as _types

_llvm: Any = binding
_numba: Any = _compiler
_Library: Any = _codegen.JITCodeLibrary
_Compiler: Any = _compiler.Compiler
_Dispatcher: Any = _registry.CPUDispatcher
_type: Any = _types.Dispatcher
_unliteral: Any = _types.unliteral
OPTIONS = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, "boundscheck": None}


class Kernel(_Dispatcher):  # type: ignore[misc]
    """A kernel that Python calls; kernels that name it call its `callee`."""

    def __init__(self, function: Callable[..., Any], variables: Any = None, options: Any = None) -> None:
        options = dict(options or OPTIONS)  # Numba gives them, with the types of variables, when it unpickles a kernel
        super().__init__(function, variables, options)
        self.callee = _Callee(function, variables, dict(options), _CalleeCompiler)

    @property
    def _numba_type_(self) -> Any:
        return _type(self.callee)

    def add_overload(self, compiled: Any) -> None:
        """Take machine code; give the callees in it their environments, in which Numba looks for texts of errors."""
        super().add_overload(compiled)
        for environment in compiled._find_referenced_environments():
            compiled.codegen.set_env(environment.env_name, environment)


class _Callee(_Dispatcher):  # type: ignore[misc]
    """A kernel as others call it: with a constant, or a variable that begins as one, it is the same as with any number.

    Numba would compile it for `Literal[int](0)` and for `int64`.
    """

    def get_call_template(self, args: Any, keywords: Any) -> Any:
        """Compile it for types without values."""
        plain = {name: _unliteral(kind) for name, kind in keywords.items()}
        return super().get_call_template(tuple(map(_unliteral, args)), plain)


class _NoEngine:
    """What Numba tells of a function's environment, where there is no machine code that could look for it."""

    def set_env(self, name: str, environment: Any) -> None:
        """Leave it to the kernels that the function becomes a part of."""


class _Linked(_Library):  # type: ignore[misc]
    """The code of a callee: optimised, to be linked, never run by itself."""

    codegen = _NoEngine()

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is none."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Simplify and inline; loops are made wide, once, in the kernel that the code becomes a part of."""
        made = self._codegen._module_pass_manager(
            loop_vectorize=self._codegen._loopvect, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap"
        )
        passes, *builder = made if isinstance(made, tuple) else (made,)  # Numba 0.61 has the passes alone
        passes.run(self._final_module, *builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _CalleeCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler, up to where machine code would be made."""

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any) -> None:
        super().__init__(typing, target, _Linked(target.codegen(), "callee"), *others)

    def define_pipelines(self) -> Any:
        """Leave out the wrapper, here, where what is compiled for this function no longer sees the flag.

        Else Numba would compile its own functions twice, for callees and for kernels.
        """
        self.state.flags.no_cpython_wrapper = True
        return super().define_pipelines()


def reduced(compiled: Any) -> tuple[Any, ...]:
    """Return a compiled callee as data that can be kept."""
    library = compiled.library
    compiled.fndesc.typemap = compiled.fndesc.calltypes = None  # not needed any more, as in `CompileResult._reduce`
    return (
        library.name,
        library._get_module_for_linking().as_bitcode(),
        compiled.fndesc,
        compiled.environment,
        compiled.signature,
        tuple(compiled._find_referenced_environments()),
    )


def rebuilt(target: Any, data: tuple[Any, ...]) -> Any:
    """Return the compiled callee that `reduced` gave."""
    name, code, description, environment, signature, environments = data
    library = _Linked(target.codegen(), name)
    library._final_module = library._shared_module = _llvm.parse_bitcode(code)
    library._finalized = True
    return _numba.compile_result(
        target_context=target,
        typing_context=target.typing_context,
        library=library,
        environment=environment,
        entry_point=target.get_executable(library, description, environment),
        fndesc=description,
        signature=signature,
        objectmode=False,
        lifted=(),
        reload_init=[],
        referenced_envs=environments,
    )
