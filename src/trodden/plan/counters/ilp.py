"""The cheapest edge counters for a block profile, by integer programming (Vprof(Ecnt), BL94 §3.3, §3.4).

The problem is believed to be hard, so this is for small graphs and for knowing how far the heuristic of
Figure 11 is from the best.  One variable for each edge says whether it is counted; every simple piped
cycle must have a counted edge.  There are far too many such cycles to list, so those that the
present answer leaves without a counter are added, and the program is solved again until none is left.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.cycles import piped_cycles
from trodden.graph.spanning import live_edges, maximum_spanning_tree
from trodden.plan.counters.blocks_by_edges import vprof_by_edges
from trodden.plan.counters.edges import count_edges
from trodden.plan.covering import CoveringProgram, finite
from trodden.plan.probes import Plan


def vprof_by_edges_optimal(graph: Graph, costs: Sequence[float], time_limit: float = 60.0) -> Plan:
    """The cheapest edge counters from which every block count follows.

    Raises :class:`OptimumError` if ``time_limit`` seconds do not suffice.  Prices are compared to about
    a millionth of the largest; where the solver cannot distinguish the heuristic's answer from a better
    one, the cheaper of the two is taken.
    """
    live = live_edges(graph)
    candidates = [index for index in live if graph.edges[index].kind is EdgeKind.FLOW]
    finite_costs = finite(costs, candidates)
    program = CoveringProgram(
        graph.name, [finite_costs[index] for index in candidates], time.monotonic() + time_limit
    )
    column = {index: position for position, index in enumerate(candidates)}
    counted: set[int] = set()
    while cycles := _uncounted_cycles(graph, live, counted, finite_costs):
        for cycle in cycles:
            program.require_one_of(column[index] for index in cycle)
        counted = {candidates[position] for position in program.minimise()}
    heuristic = set(vprof_by_edges(graph, costs).on_edges)
    if sum(finite_costs[index] for index in heuristic) < sum(finite_costs[index] for index in counted):
        counted = heuristic
    uncounted = sorted((index for index in live if index not in counted), key=lambda index: -costs[index])
    tree = maximum_spanning_tree(graph, costs, [graph.closing, *uncounted])
    free = frozenset(index for index in uncounted if index not in tree)
    return count_edges("vprof-optimal", sorted(counted), free)


def _uncounted_cycles(
    graph: Graph, live: Sequence[int], counted: set[int], finite_costs: Mapping[int, float]
) -> list[list[int]]:
    """Simple piped cycles without a counter, none if ``counted`` is sufficient.

    After a handful has been found, the cheapest edge of each is assumed to be counted and the search goes
    on, so that one iteration of solving learns about cycles all over the graph.
    """
    found: list[list[int]] = []
    assumed = set(counted)
    while True:
        cycles = list(piped_cycles(graph, [index for index in live if index not in assumed]))
        if not cycles:
            return found
        for cycle in cycles:
            choices = [index for index in cycle if index in finite_costs]
            found.append(choices)
            if assumed.isdisjoint(choices):
                assumed.add(min(choices, key=finite_costs.__getitem__))
