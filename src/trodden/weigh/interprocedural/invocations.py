"""How often every function of a program is invoked and calls others (WL94 §5, Algorithm 3, and §6).

A function's local call frequencies follow from the frequencies of its blocks.  The call graph is traversed
from its roots, one strongly connected component at a time; recursion is solved in
:mod:`trodden.weigh.interprocedural.recursion`.  Unlike in the paper, indirect calls count too: they are
distributed over their possible callees.  All indirect calls of one signature share a vertex of the graph, so
that a thousand callers of a thousand functions do not make a million edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trodden.graph.components import strong_components
from trodden.weigh.frequency.propagate import HIGHEST_WEIGHT
from trodden.weigh.interprocedural.callgraph import CallGraph, Procedure, call_graph
from trodden.weigh.interprocedural.recursion import solve_recursion
from trodden.weigh.interprocedural.roots import root_entries

MAX_CYCLE_ITERATIONS = 5.0
"""How often a call of a recursive component may iterate its cycles for the estimate to be used.

Evidence about branches says little about the depth of recursion: a tree traversal calls itself twice unless
a pointer is null, which by these probabilities never ends.
"""

UNKNOWN_CYCLE_ITERATIONS = 1.5
"""The number of iterations that is assumed where more than that would follow.

Single traversals make some dozens of calls; but with such a number, mutually recursive parsers and nested
traversals dominate all the rest of a program.  Of 1.5, 2, 4, 8 and 32 the least ranks functions best on the
programs of the bench.
"""


@dataclass(frozen=True)
class CallFrequency:
    """How often one function calls another: for one invocation of its own, and in the whole run.

    ``callee`` is the number of the called function, ``None`` where it is not known or not part of the
    program; ``symbol`` is empty for indirect calls, of which ``signature`` is the type.
    """

    caller: int
    callee: int | None
    symbol: str
    local: float
    total: float
    signature: str = ""


@dataclass(frozen=True)
class CallEstimate:
    """Invocations and calls of a whole program, for one run of it.

    A function is entered from outside, called directly, or called indirectly: ``invocations`` is the sum of
    its ``entries``, of its direct calls, and of its share in ``through_pointers``.  ``elsewhere`` has the
    invocations of functions outside the program, ``""`` for indirect calls that no function of it can be the
    callee of.
    """

    invocations: list[float]
    entries: list[float]
    calls: list[CallFrequency]
    through_pointers: list[float]
    elsewhere: Mapping[str, float] = field(default_factory=dict)


def call_frequencies(
    functions: Sequence[Procedure],
    roots: Sequence[int] | None = None,
    also: Sequence[int] = (),
    max_iterations: float = MAX_CYCLE_ITERATIONS,
    instead: float = UNKNOWN_CYCLE_ITERATIONS,
) -> CallEstimate:
    """The expected invocations and calls if each of the ``roots`` is entered once.

    Without ``roots`` that is ``main``, or in a library the functions without callers.  ``also`` are further
    functions that are entered once: constructors.  Where recursion would lead to more than ``max_iterations``
    iterations, it leads to ``instead``: the calls that close its cycles are scaled down, and are estimated
    as scaled down.
    """
    graph = call_graph(functions)
    entries = root_entries(functions, graph, roots, also)
    invocations = entries + [0.0] * len(graph.signatures)
    scaled: dict[tuple[int, int], float] = {}
    expected = [[callee for callee, local in calls.items() if local > 0] for calls in graph.calls]
    entered_first = sorted(range(len(expected)), key=lambda number: -invocations[number])
    for members in reversed(strong_components(expected, entered_first)):
        _settle(graph, members, invocations, scaled, max_iterations, instead)
        for caller in members:
            for callee, local in graph.calls[caller].items():
                if (caller, callee) not in scaled:
                    more = _product(local, invocations[caller])
                    invocations[callee] = min(invocations[callee] + more, HIGHEST_WEIGHT)
    return _report(functions, graph, entries, invocations, scaled)


def _settle(
    graph: CallGraph,
    members: Sequence[int],
    invocations: list[float],
    scaled: dict[tuple[int, int], float],
    max_iterations: float,
    instead: float,
) -> None:
    """Solve a recursive component; ``scaled`` gets the local frequencies of the calls inside."""
    position = {member: number for number, member in enumerate(members)}
    inside = [
        (caller, callee, local)
        for caller in members
        for callee, local in graph.calls[caller].items()
        if callee in position and local > 0
    ]
    if not inside:
        return
    scale = 1.0
    inflow = [invocations[member] for member in members]
    if any(inflow):
        settled = solve_recursion(
            inflow, [(position[i], position[j], local) for i, j, local in inside], max_iterations, instead
        )
        scale = settled.scale
        for member, value in zip(members, settled.invocations, strict=True):
            invocations[member] = value
    for caller, callee, local in inside:
        scaled[caller, callee] = local if position[caller] < position[callee] else local * scale


def _report(
    functions: Sequence[Procedure],
    graph: CallGraph,
    entries: list[float],
    invocations: Sequence[float],
    scaled: Mapping[tuple[int, int], float],
) -> CallEstimate:
    """Calls as they are reported: by function, then those that leave the program.

    Where an indirect call closes a cycle and was scaled down, so are the calls of its signature.
    """
    calls = []
    elsewhere: dict[str, float] = {}
    through_pointers = [0.0] * graph.functions
    passed_on = [0.0] * len(graph.calls)
    for vertex in range(graph.functions, len(graph.calls)):
        for callee, plain in graph.calls[vertex].items():
            share = scaled.get((vertex, callee), plain)
            passed_on[vertex] += share
            through_pointers[callee] += _product(share, invocations[vertex])
    for caller in range(graph.functions):
        for callee, plain in graph.calls[caller].items():
            local = scaled.get((caller, callee), plain)
            if callee < graph.functions:
                total = _product(local, invocations[caller])
                calls.append(CallFrequency(caller, callee, functions[callee].symbol, local, total))
            else:
                local *= passed_on[callee]
                total = _product(local, invocations[caller])
                signature = graph.signatures[callee - graph.functions]
                calls.append(CallFrequency(caller, None, "", local, total, signature))
        for symbol, local in graph.outward[caller].items():
            total = _product(local, invocations[caller])
            calls.append(CallFrequency(caller, None, symbol, local, total))
            elsewhere[symbol] = min(elsewhere.get(symbol, 0.0) + total, HIGHEST_WEIGHT)
    return CallEstimate(list(invocations[: graph.functions]), entries, calls, through_pointers, elsewhere)


def _product(local: float, invocations: float) -> float:
    return min(local * invocations, HIGHEST_WEIGHT)
