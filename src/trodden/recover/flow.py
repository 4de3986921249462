"""From counters to all counts of a procedure, by the flow law (BL94 §3.2, §3.3.1, Figures 6 and 8).

Early ends (exit in a callee, an exception, a kill) are edges to EXIT that the graph does not have; BL94 §3.2
represents them by an exit counter for the block where the procedure ended, given here as ``early``.

The paper's propagation takes the difference of two sums, larger minus smaller, which turns a
contradiction into a plausible number.  Here numbers keep their sign: a negative count, or blocks where
more comes in than goes out, is reported as a violation and never smoothed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.errors import OtherBuild
from trodden.graph.cfg import Graph
from trodden.graph.cycles import pipes
from trodden.graph.knuth_stevenson import reduce_to_blocks
from trodden.graph.spanning import live_edges
from trodden.graph.traverse import reachable
from trodden.plan.probes import BlockMeasure, EdgeMeasure, Plan, RedundantMeasure
from trodden.recover.edges_from_blocks import Ends, edge_name, edges_from_blocks
from trodden.recover.forest import solve


@dataclass(frozen=True)
class Flow:
    """All counts of a procedure, by the indices of its graph.

    ``blocks[exit]`` and the count of the closing edge are the number of entries.  An edge count is
    ``None`` where a block profile leaves it open.
    """

    blocks: list[int]
    edges: list[int | None]
    violations: tuple[str, ...] = ()


def recover(
    graph: Graph, plan: Plan, counters: Sequence[int], early: Mapping[int, int] | None = None
) -> Flow:
    """Work out every count of a procedure from the counters of its plan.

    ``early[v]`` is how often the procedure ended in block ``v`` without leaving it along an edge.
    """
    if len(counters) != plan.slots:
        raise OtherBuild(
            f"{graph.name}: {len(counters)} counters where the plan has {plan.slots};"
            " the counts belong to another build"
        )
    ends = Ends.of(graph, early or {})
    edges: list[int | None] = [0] * len(graph.edges)
    for index in live_edges(graph):
        edges[index] = None
    known_blocks: dict[int, int] = {}
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, EdgeMeasure):
            edges[measure.edge] = counters[slot]
        elif isinstance(measure, BlockMeasure):
            known_blocks[measure.block] = counters[slot] + ends.into[measure.block]
    if any(isinstance(measure, BlockMeasure) for measure in plan.measures):
        blocks, violations = _blocks_from_blocks(graph, known_blocks, ends)
    else:
        blocks, violations = _blocks_from_edges(graph, edges, ends)
    violations += [
        f"block {graph.labels[vertex]} would have run {count} times"
        for vertex, count in enumerate(blocks)
        if count < 0
    ]
    contradictions = edges_from_blocks(graph, blocks, edges, ends)
    violations = violations or contradictions
    violations += [
        f"edge {edge_name(graph, index)} would have been taken {count} times"
        for index, count in enumerate(edges)
        if count is not None and count < 0
    ]
    violations += [
        f"edge {edge_name(graph, measure.edge)}: the others say {edges[measure.edge]},"
        f" its own counter {counters[slot]}"
        for slot, measure in enumerate(plan.measures)
        if isinstance(measure, RedundantMeasure) and counters[slot] != edges[measure.edge]
    ]
    return Flow(blocks, edges, tuple(violations))


def _blocks_from_edges(graph: Graph, edges: list[int | None], ends: Ends) -> tuple[list[int], list[str]]:
    """Figure 8, which also determines the counts of edges that are on no cycle without counters."""
    incoming = list(ends.into)
    balance = [out - into for out, into in zip(ends.out, ends.into, strict=True)]
    unknown = []
    for index, edge in enumerate(graph.edges):
        count = edges[index]
        if count is None:
            unknown.append(index)
        else:
            incoming[edge.dst] += count
            balance[edge.dst] -= count
            balance[edge.src] += count
    solution = solve(balance, [(graph.edges[index].src, graph.edges[index].dst) for index in unknown], -1)
    for position, index in enumerate(unknown):
        incoming[graph.edges[index].dst] += solution.values[position]
        if solution.certain[position]:
            edges[index] = solution.values[position]
    violations = []
    if not all(solution.certain):
        violations = [_undetermined(graph, vertex) for vertex in pipes(graph, unknown)]
    return incoming, violations + [
        f"block {graph.labels[vertex]}: {abs(amount)} more {'leave' if amount > 0 else 'enter'} it"
        f" than {'enter' if amount > 0 else 'leave'}"
        for vertex, amount in solution.residues
    ]


def _blocks_from_blocks(graph: Graph, known: Mapping[int, int], ends: Ends) -> tuple[list[int], list[str]]:
    """Block counts are a flow on the reduced graph of Knuth and Stevenson, where blocks are the edges."""
    reduced = reduce_to_blocks(graph)
    blocks = [0] * len(graph.labels)
    totals = [0] * reduced.classes
    unknown = []
    for vertex in sorted(reachable(graph) | ends.early):
        totals[reduced.leaving[vertex]] += ends.out[vertex]
        totals[reduced.entering[vertex]] -= ends.into[vertex]
        if vertex in known:
            blocks[vertex] = known[vertex]
            totals[reduced.leaving[vertex]] -= known[vertex]
            totals[reduced.entering[vertex]] += known[vertex]
        else:
            unknown.append(vertex)
    solution = solve(totals, [(reduced.entering[vertex], reduced.leaving[vertex]) for vertex in unknown], -1)
    for position, vertex in enumerate(unknown):
        blocks[vertex] = solution.values[position]
    violations = [
        _undetermined(graph, vertex)
        for vertex, certain in zip(unknown, solution.certain, strict=True)
        if not certain
    ]
    nearest: dict[int, int] = {}
    for vertex in range(len(graph.labels)):
        nearest.setdefault(reduced.entering[vertex], vertex)
        nearest.setdefault(reduced.leaving[vertex], vertex)
    return blocks, violations + [
        f"blocks around {graph.labels[vertex]}: {abs(amount)} more {'leave' if amount > 0 else 'enter'} them"
        f" than {'enter' if amount > 0 else 'leave'}"
        for vertex, amount in sorted((nearest[group], amount) for group, amount in solution.residues)
    ]


def _undetermined(graph: Graph, vertex: int) -> str:
    return f"the counters do not determine how often block {graph.labels[vertex]} ran"
