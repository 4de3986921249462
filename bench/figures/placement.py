"""Counters and increments of each placement of counters: BL94 Table 2, Graphs 2 to 4.

As in the paper (§6.1) nothing is built or run again for this.  Every function is planned by each algorithm
and each weighting, and the exact counts of one run give the number of increments of each plan.  A counter on
a critical edge needs a jump of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bench.figures.probe_executions import probe_executions
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loops import find_loops
from trodden.graph.spanning import live_edges, minimum_spanning_tree
from trodden.plan.counters.edges import count_edges
from trodden.plan.counters.schemes import eprof, every_block, vprof_by_blocks, vprof_by_edges
from trodden.plan.probes import AddTripCount, Plan
from trodden.profile.model import FunctionProfile, Profile
from trodden.weigh.frequency.expected import expected_weights
from trodden.weigh.frequency.measured import measured_weights
from trodden.weigh.frequency.nesting import nesting_weights
from trodden.weigh.heuristics.rates import default_rates

BUILT = "built"
"""The placement of the build that was run, with its weights, costs and trip counts."""
EVERY_BLOCK = "every block"
BY_NESTING, BY_ESTIMATE, BY_RUN = "nesting", "estimate", "run"
WORST_BY_NESTING, WORST_BY_RUN = "worst by nesting", "worst by run"
BLOCKS_BY_EDGES, BLOCKS_BY_BLOCKS = "blocks by edges", "blocks by blocks"


@dataclass(frozen=True)
class Placed:
    """Counters of a placement and those that need a jump; how often each of both is executed."""

    counters: int = 0
    jumping: int = 0
    increments: int = 0
    jumps: int = 0

    def __add__(self, other: Placed) -> Placed:
        mine, theirs = asdict(self).values(), asdict(other).values()
        return Placed(*map(sum, zip(mine, theirs, strict=True)))


@dataclass(frozen=True)
class Placements:
    """A program under all placements; ``blocks`` and ``instructions`` are counted at each execution."""

    functions: int
    edges: int
    blocks: int
    instructions: int
    trips: int
    placed: Mapping[str, Placed]


def placement_figures(profile: Profile) -> dict[str, Any]:
    """All placements as plain numbers."""
    return asdict(placements(profile))


def placements(profile: Profile) -> Placements:
    """All placements for the functions of an edge profile."""
    functions = list(profile.functions.values())
    total: dict[str, Placed] = {}
    for function in functions:
        for name, plan in _plans(function):
            total[name] = total.get(name, Placed()) + _placed(plan, function)
    return Placements(
        functions=len(functions),
        edges=sum(1 for function in functions for _ in function.facts.graph.flow_edges()),
        blocks=sum(sum(_block_counts(function)) for function in functions),
        instructions=sum(
            count * block.size
            for function in functions
            for count, block in zip(_block_counts(function), function.facts.blocks, strict=True)
        ),
        trips=sum(
            times
            for function in functions
            for probe, times in probe_executions(function.facts.plan, function)
            if isinstance(probe, AddTripCount)
        ),
        placed=total,
    )


def _block_counts(function: FunctionProfile) -> list[int]:
    return list(function.counted_blocks[: function.facts.graph.exit])


def _plans(function: FunctionProfile) -> Iterable[tuple[str, Plan]]:
    graph = function.facts.graph
    loops = find_loops(graph)
    yield BUILT, function.facts.plan
    yield EVERY_BLOCK, every_block(graph)
    nesting = nesting_weights(graph, loops)
    yield BY_NESTING, eprof(graph, nesting)
    yield WORST_BY_NESTING, _worst(graph, nesting)
    yield BLOCKS_BY_EDGES, vprof_by_edges(graph, nesting)
    yield BLOCKS_BY_BLOCKS, vprof_by_blocks(graph, _block_weights(graph, nesting))
    yield BY_ESTIMATE, eprof(graph, _estimate(function, loops))
    measured = measured_weights(graph, function.edge_counts, function.block_counts)
    yield BY_RUN, eprof(graph, measured)
    yield WORST_BY_RUN, _worst(graph, measured)


def _estimate(function: FunctionProfile, loops: LoopForest) -> list[float]:
    return expected_weights(function.facts.graph, function.facts.features, default_rates(), loops)


def _worst(graph: Graph, weights: list[float]) -> Plan:
    """Counters outside a minimum spanning tree: on the edges of the largest weights (BL94 §6.4)."""
    tree = minimum_spanning_tree(graph, weights, [graph.closing])
    return count_edges("worst", [edge for edge in live_edges(graph) if edge not in tree])


def _block_weights(graph: Graph, weights: list[float]) -> list[float]:
    return [sum(weights[edge] for edge in edges) for edges in graph.in_edges]


def _placed(plan: Plan, function: FunctionProfile) -> Placed:
    graph = function.facts.graph
    jumping = [edge for edge in plan.on_edges if needs_jump(graph, edge)]
    return Placed(
        counters=len(plan.measures),
        jumping=len(jumping),
        increments=sum(times for _, times in probe_executions(plan, function)),
        jumps=sum(function.counted_edges[edge] or 0 for edge in jumping),
    )


def needs_jump(graph: Graph, edge: int) -> bool:
    """Whether code on an edge needs a block of its own with a jump: whether the edge is critical."""
    source, target, _ = graph.edges[edge]
    if target == graph.exit:
        return False
    follow = sum(graph.edges[other].kind is EdgeKind.FLOW for other in graph.out_edges[source])
    return follow > 1 and len(graph.in_edges[target]) > 1
