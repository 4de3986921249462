"""Which lines may have been executed although no code of them was?

An optimiser inlines a function where it is called, and may keep a copy out of line that nobody calls.  Debug
information says which function an inlined instance is of, so that what was executed there is known to have
been executed.  A line of which an instance has no code is another matter: the optimiser may have found its
result without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set

from trodden.profile.model import FunctionProfile
from trodden.source.inlined_entries import inlined_entries
from trodden.source.own_lines import own_lines


def unknown_lines(functions: Iterable[FunctionProfile]) -> Iterator[tuple[str, int]]:
    """Lines of functions that an optimised program has executed inlined, in an instance without code of them.

    Of a function that was inlined more often than there are instances with code, any line may be one.
    """
    every = list(functions)
    executed: dict[tuple[str, int], list[frozenset[int]]] = {}
    vanished: set[tuple[str, str]] = set()
    for function in every:
        if function.facts.optimised and function.entries:
            for instance in inlined_entries(function):
                if instance.count:
                    definition = function.files[instance.callee.file].path, instance.callee.line
                    executed.setdefault(definition, []).append(instance.lines)
            vanished |= _vanished(function)
    for function in every:
        instances = list(executed.get((function.file, function.line), []))
        if vanished and _may_be(function, vanished):
            instances.append(frozenset())
        if instances:
            everywhere = frozenset.intersection(*instances)
            yield from ((function.file, line) for line in sorted(own_lines(function) - everywhere))


def _vanished(function: FunctionProfile) -> set[tuple[str, str]]:
    """The unit and the symbols of functions of which an instance in this one has no code left.

    They were inlined into it more often than there are instances with code.
    """
    left = Counter(function.facts.inlined_symbols)
    left.subtract(each.linkage_name for each in function.facts.callees)
    return {(function.unit, symbol) for symbol, times in left.items() if times > 0}


def _may_be(function: FunctionProfile, symbols: Set[tuple[str, str]]) -> bool:
    """Whether a function is one of those that units refer to by a symbol."""
    symbol, local = function.facts.linkage_name, function.facts.features.local
    return any(symbol == each and (not local or function.unit == unit) for unit, each in symbols)
