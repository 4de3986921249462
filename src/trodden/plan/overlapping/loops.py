"""The loops whose paths are extended, and how far that can go (TZG04 §2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trodden.graph.cfg import Graph
from trodden.graph.loop_forest import nesting_intervals
from trodden.graph.loops import find_nested_loops
from trodden.plan.overlapping.region import Owner, Ways, explore
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.probes import Paths


class LoopNest:
    """The loops of a graph, which nest also where they are irreducible."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.forest = find_nested_loops(graph)
        self._first, self._last = nesting_intervals([loop.parent for loop in self.forest.loops])

    def contains(self, header: int, vertex: int) -> bool:
        """Whether the loop of a header contains a vertex."""
        loop, inner = self.forest.of_header[header], self.forest.innermost[vertex]
        return inner >= 0 and self._first[loop] <= self._first[inner] <= self._last[loop]

    def depth(self, header: int) -> int:
        """The depth of the loop of a header, which is 1 for an outermost one."""
        return self.forest.loops[self.forest.of_header[header]].depth

    def owner(self, dag: Dag, header: int, degree: int | None) -> Owner:
        """The loop of a header, as what overlaps of this degree belong to."""
        edges = dag.graph.edges
        return Owner(header, self.depth(header), degree, lambda edge: self.contains(header, edges[edge].dst))


def extended_edges(dag: Dag, headers: Iterable[int], paths: Paths) -> dict[int, int]:
    """The back edges behind which paths are extended, each with its header.

    These are all of a header's back edges but self loops, which end no path; edges that are resume edges as
    well, because control may arrive on those from anywhere; and cuts, on which joins are given up.
    """
    others = {*paths.cuts, *paths.resume_edges}
    wanted = set(headers)
    ends = [arc.of for arc in dag.arcs if arc.kind is ArcKind.END]
    return {
        edge: dag.graph.edges[edge].dst
        for edge in ends
        if edge in dag.back_edges and edge not in others and dag.graph.edges[edge].dst in wanted
    }


def joining_edges(dag: Dag, paths: Paths) -> dict[int, int]:
    """All back edges that a path may be extended over, each with its header."""
    return extended_edges(dag, (edge.dst for edge in dag.graph.edges), paths)


def loop_headers(dag: Dag, paths: Paths) -> list[int]:
    """The headers of all loops whose paths can be extended."""
    return sorted(set(joining_edges(dag, paths).values()))


_EFFORT = 64
"""How many blocks all loops that are extended may have together, for each edge of the procedure."""


def affordable(nest: LoopNest, headers: Iterable[int]) -> list[int]:
    """Those loops whose overlapping graphs can be built in linear time: all of them, unless they nest deeply.

    Each has to be looked at as a whole, so smaller loops, which are further inside, come first.
    """
    size = [0] * len(nest.forest.loops)
    for loop in nest.forest.innermost:
        if loop >= 0:
            size[loop] += 1
    for number in range(len(size) - 1, -1, -1):
        parent = nest.forest.loops[number].parent
        if parent >= 0:
            size[parent] += size[number]
    left = _EFFORT * len(nest.graph.edges)
    found = []
    for header in sorted(headers, key=lambda header: size[nest.forest.of_header[header]]):
        left -= size[nest.forest.of_header[header]]
        if left < 0:
            break
        found.append(header)
    return sorted(found)


def largest_degree(ways: Ways, owner: Owner) -> int:
    """The largest degree that an overlap can have: one less than there are predicates on its longest way."""
    edges = ways.dag.graph.edges
    longest = dict.fromkeys(explore(ways, owner, {owner.vertex: 1}), 0)
    most = 0
    for block in longest:
        passed = longest[block] + ways.predicate(block)
        most = max(most, passed)
        for edge in ways.onward(block):
            if owner.stays(edge):
                longest[edges[edge].dst] = max(longest[edges[edge].dst], passed)
    return max(most - 1, 0)


def degrees_for(dag: Dag, nest: LoopNest, paths: Paths, degree: int | None) -> Mapping[int, int | None]:
    """The same degree for all loops; a loop whose overlaps have degree 0 is not extended."""
    return {} if degree == 0 else dict.fromkeys(loop_headers(dag, paths), degree)
