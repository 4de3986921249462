"""Names that people read, from the names that linkers use."""

from __future__ import annotations

from functools import lru_cache

from trodden.native.demangle.rust_legacy import rust_name


@lru_cache(maxsize=65536)
def demangle(symbol: str, described: str = "") -> str:
    """A C++ or Rust symbol as it stands in the source; any other symbol as it is.

    ``described`` is what the debug information calls the function.
    """
    if not symbol.startswith(("_Z", "_R")):
        return symbol
    rust = rust_name(symbol, described)
    if rust is not None or not symbol.startswith("_Z"):
        return rust or symbol
    import itanium_demangler

    try:
        tree = itanium_demangler.parse(symbol)
    except (NotImplementedError, IndexError, AssertionError, ValueError, RecursionError):
        return symbol
    return symbol if tree is None else str(tree)
