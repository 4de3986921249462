"""Names of functions as their source spells them, from the symbols of object files.

C++ symbols (the Itanium ABI) are read by LLVM's own demangler, Rust symbols of either mangling by the other
modules of this package.  A symbol of neither language, or one that follows no mangling, is its own name.
"""

from __future__ import annotations

from functools import lru_cache

from trodden.native.demangle.rust_legacy import demangle_legacy
from trodden.native.demangle.rust_v0 import demangle_v0
from trodden.native.demangle.rust_v0_cursor import NotRust

_LONGEST = 1 << 14
"""LLVM's demangler recurses: 20,000 nested templates, a symbol of 80,000 characters, overflow its stack."""


@lru_cache(maxsize=65536)
def demangle(symbol: str, described: str = "") -> str:
    """A C++ or Rust symbol as its source spells it; any other symbol unchanged.

    ``described`` is the function's name in the debug information, which is what is left of a symbol that the
    demangler does not know, such as those of some lambdas.
    """
    if symbol.startswith("_R"):
        return _rust_v0(symbol) or symbol
    if not symbol.startswith("_Z") or len(symbol) > _LONGEST:
        return symbol
    return demangle_legacy(symbol, described) or _cxx(symbol) or described or symbol


def _rust_v0(symbol: str) -> str:
    """The name, without a suffix such as ``.llvm.1234``; empty if this is no symbol of Rust."""
    try:
        return demangle_v0(symbol[2:].partition(".")[0])
    except NotRust:
        return ""


def _cxx(symbol: str) -> str:
    """The name; empty if this is no symbol of C++."""
    import pydemumble

    return str(pydemumble.demangle(symbol))
