"""Names that people read, from the names that linkers use."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=65536)
def demangle(symbol: str) -> str:
    """A C++ symbol as it stands in the source; any other symbol as it is."""
    if not symbol.startswith("_Z"):
        return symbol
    import itanium_demangler

    try:
        tree = itanium_demangler.parse(symbol)
    except (NotImplementedError, IndexError, AssertionError, ValueError, RecursionError):
        return symbol
    return symbol if tree is None else str(tree)
