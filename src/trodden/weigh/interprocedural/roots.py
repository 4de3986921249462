"""The functions that are entered from outside of the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trodden.graph.components import strong_components
from trodden.graph.reach import sweep
from trodden.weigh.interprocedural.callgraph import CallGraph, Procedure, public_names

ADDRESS_ESCAPES = 0.1
"""How often a function without callers is entered whose address escapes.

It is in some table that is passed to a library, or a handler for rare events: less often than what is
certainly called, more often than what cannot be called.
"""


def root_entries(
    functions: Sequence[Procedure],
    graph: CallGraph,
    roots: Sequence[int] | None = None,
    also: Sequence[int] = (),
) -> list[float]:
    """How often each function is entered from outside.

    Once, if it is in ``roots`` or in ``also``.  Without roots that is ``main``.  If there is none either, as
    in a library, these are the external functions without callers, and one function of every call cycle that
    is not reachable from them.  Functions whose address is taken and that are not reachable otherwise are
    entered a fraction of once.
    """
    successors = [list(calls) for calls in graph.calls]
    components = strong_components(successors, range(len(successors)))[::-1]
    entries = [0.0] * len(functions)
    mains = [n for n, function in enumerate(functions) if "main" in public_names(function)]
    chosen = list(roots if roots is not None else mains or _uncalled(functions, graph))
    for number in {*chosen, *also}:
        entries[number] = 1.0
    reached = _Reached(graph, {*chosen, *also})
    if roots is None and not mains:
        for number in _heads(functions, graph, components):
            if reached.add(number):
                entries[number] = 1.0
    for members in components:
        for number in members:
            if number < len(functions) and functions[number].taken and reached.add(number):
                entries[number] = ADDRESS_ESCAPES
    return entries


def _uncalled(functions: Sequence[Procedure], graph: CallGraph) -> list[int]:
    """The external functions without callers in the program."""
    called = {callee for caller, calls in enumerate(graph.calls) for callee in calls if callee != caller}
    return [n for n, function in enumerate(functions) if public_names(function) and n not in called]


def _heads(
    functions: Sequence[Procedure], graph: CallGraph, components: Sequence[Sequence[int]]
) -> Iterable[int]:
    """One function of each call cycle, preferably an external one."""
    for members in components:
        if len(members) > 1 or members[0] in graph.calls[members[0]]:
            inside = [number for number in members if number < len(functions)]
            yield min(inside, key=lambda number: not public_names(functions[number]))


class _Reached:
    """The functions that have been reached so far."""

    def __init__(self, graph: CallGraph, start: Iterable[int]) -> None:
        self._calls = graph.calls
        self._seen = sweep(graph.calls, start)

    def add(self, number: int) -> bool:
        """Start from one more function; ``False`` if it was reached already."""
        if number in self._seen:
            return False
        work = [number]
        self._seen.add(number)
        while work:
            for callee in self._calls[work.pop()]:
                if callee not in self._seen:
                    self._seen.add(callee)
                    work.append(callee)
        return True
