"""Functions with clones of their hot blocks, in which the path register is known.

Which blocks are cloned is decided in :mod:`trodden.native.clone.choose_clones`; the graph and its plan are
cloned in :mod:`trodden.plan.paths.block_cloning`, the text in :mod:`trodden.native.clone.clone_text`.  Here
these are put together, with the expected frequencies of the resulting code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from trodden.graph.cfg import EdgeKind
from trodden.native.analysis.function_cfg import FunctionCfg, read_function
from trodden.native.analysis.induction import Induction, find_induction, own_induction
from trodden.native.clone.choose_clones import choose_clones
from trodden.native.clone.clone_text import add_clones
from trodden.native.ir.attributes import Attributes
from trodden.native.planning.plan_function import Planned
from trodden.native.planning.register_slots import block_frequencies
from trodden.plan.paths.block_cloning import Clone, ClonedGraph, clone_graph
from trodden.plan.paths.path_register import track
from trodden.plan.probes import AddTripCount

MOST_BLOCKS = 5_000
"""Functions with more blocks are left as they are."""


@dataclass(frozen=True)
class ClonedFunction:
    """A function as it is to be lowered, and the clones that it has."""

    read: FunctionCfg
    planned: Planned
    clones: tuple[Clone, ...] = ()


def clone_hot_blocks(
    read: FunctionCfg, planned: Planned, attributes: Attributes, types: Collection[str]
) -> ClonedFunction:
    """The function with clones of the blocks where they save most; unchanged where they save nothing."""
    plan, weights = planned.plan, planned.weights
    unchanged = ClonedFunction(read, planned)
    if plan.paths is None or plan.paths.context or len(read.graph.labels) > MOST_BLOCKS:
        return unchanged
    register = track(read.graph, plan)
    expected = choose_clones(read, planned, register, attributes)
    if not expected:
        return unchanged
    code = clone_graph(read.graph, plan, list(expected), register)
    ir = add_clones(read.ir, code.origins[read.graph.exit :], _successors(read, code), types)
    if ir is None:
        return unchanged
    result = read_function(ir, attributes, divided=read.divided)
    assert result.graph.edges == code.graph.edges, f"{ir.symbol}: clones have other successors than planned"
    frequencies = _frequencies(read, weights, expected)
    inductions = _inductions(result, code, planned.inductions)
    if inductions is None:
        return unchanged
    changed = replace(
        planned,
        plan=code.plan,
        weights=_weights(read, code, weights, frequencies),
        inductions=inductions,
        unfinished=frozenset(v for v, origin in enumerate(code.origins) if origin in planned.unfinished),
        fictitious=planned.fictitious.at(dict(enumerate(code.origins))),
        ambiguous=frozenset(v for v, origin in enumerate(code.origins) if origin in planned.ambiguous),
    )
    return ClonedFunction(result, changed, tuple(expected))


def _successors(read: FunctionCfg, code: ClonedGraph) -> list[list[int] | None]:
    """The successors of each block and clone now, in the order of its terminator."""
    found: list[list[int] | None] = [
        [0] * len(read.ir.blocks[origin].successors) if vertex in code.reached else None
        for vertex, origin in enumerate(code.origins)
    ]
    for index, edge in enumerate(code.edges):
        source, target, _ = code.graph.edges[index]
        successors = found[source]
        if edge is not None and successors is not None:
            for position in read.positions[edge]:
                successors[position] = target
    return found


def _frequencies(read: FunctionCfg, weights: Sequence[float], expected: Mapping[Clone, float]) -> list[float]:
    """How often each block and clone is expected to run."""
    frequencies = block_frequencies(read, weights)[: read.graph.exit]
    for (block, _), frequency in expected.items():
        share = min(frequency, frequencies[block])
        frequencies[block] -= share
        frequencies.append(share)
    return frequencies


def _weights(
    read: FunctionCfg, code: ClonedGraph, weights: Sequence[float], frequencies: Sequence[float]
) -> list[float]:
    """The weights of the edges of the code: each clone is left in the same proportions as its block."""
    totals = [
        sum(weights[edge] for edge in out_edges if read.graph.edges[edge].kind is EdgeKind.FLOW)
        for out_edges in read.graph.out_edges
    ]
    found = [0.0] * len(code.graph.edges)
    for index, edge in enumerate(code.edges):
        if edge is not None and totals[read.graph.edges[edge].src] > 0:
            source = code.graph.edges[index].src
            found[index] = frequencies[source] * weights[edge] / totals[read.graph.edges[edge].src]
    found[code.graph.closing] = weights[read.graph.closing]
    return found


def _inductions(
    result: FunctionCfg, code: ClonedGraph, known: Mapping[int, Induction]
) -> dict[int, Induction] | None:
    """The induction variables of the loops in the code, by back edge; None if a loop has lost its own."""
    found: dict[int, Induction] = {}
    for probe in chain(*code.plan.on_edges.values()):
        if isinstance(probe, AddTripCount):
            block, _, _ = code.graph.edges[probe.back_edge]
            before = known[code.edges[probe.back_edge] or 0]
            after = own_induction(block) if before.own else find_induction(result.ir, block, block, [block])
            if after is None:
                return None
            found[probe.back_edge] = after
    return found
