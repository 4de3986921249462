"""Which lines may have been executed although no code of them was?

An optimiser inlines a function where it is called, and may keep a copy out of line that nobody calls.  Debug
information says which function an inlined instance is of, so that what was executed there is known to have
been executed.  A line of which an instance has no code is another matter: the optimiser may have found its
result without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

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
    symbols = {symbol for _, symbol in vanished}
    for function in every:
        instances = list(executed.get((function.file, function.line), []))
        symbol, local = function.facts.linkage_name, function.facts.features.local
        if symbol in symbols and (not local or any((unit, symbol) in vanished for unit in _units(function))):
            instances.append(frozenset())
        if instances:
            everywhere = frozenset.intersection(*instances)
            yield from ((function.file, line) for line in sorted(own_lines(function) - everywhere))


def _vanished(function: FunctionProfile) -> set[tuple[str, str]]:
    """The units and the symbols of functions of which an instance in this one has no code left.

    They were inlined into it more often than there are instances with code.
    """
    left = Counter(function.facts.inlined_symbols)
    left.subtract(each.linkage_name for each in function.facts.callees)
    symbols = [symbol for symbol, times in left.items() if times > 0]
    return {(unit, symbol) for symbol in symbols for unit in _units(function)}


def _units(function: FunctionProfile) -> Iterator[str]:
    """The units that hold a function, one for each of its copies."""
    return (copy.unit for copy in function.copies or (function,))
