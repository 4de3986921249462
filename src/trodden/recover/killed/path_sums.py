"""The sums of values along walks that nobody has summed up (BL96 §3.2).

The path register adds up the values of the arcs that a path takes.  For an execution of which only the edges
are known, the same sum is formed here, edge by edge.
"""

from __future__ import annotations

from trodden.graph.cfg import Graph
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import Numbering


class PathSums:
    """The values of one numbering, by the edges of the graph."""

    def __init__(self, graph: Graph, numbering: Numbering) -> None:
        self._graph = graph
        self._dag, self._value = numbering.dag, numbering.value
        kinds = (ArcKind.REAL, ArcKind.END)
        self._arcs = {arc.of: number for number, arc in enumerate(self._dag.arcs) if arc.kind in kinds}
        self.ends = frozenset(
            edge for edge in self._arcs if edge in self._dag.removed or graph.edges[edge].dst == graph.exit
        )
        """The edges on which paths end."""

    def takes(self, edge: int) -> bool:
        """Whether paths take an edge: not a self loop, nor what control can never reach."""
        return edge in self._arcs

    def along(self, edge: int) -> int:
        """What a path adds to its sum when it takes an edge."""
        value = self._value[self._arcs[edge]]
        return value if edge in self.ends else value + self._entering(self._graph.edges[edge].dst)

    def at_entry(self) -> int:
        """The sum with which a path starts that enters the procedure."""
        dag = self._dag
        (arc,) = (number for number in dag.outs[dag.entry] if dag.arcs[number].kind is ArcKind.ENTRY)
        return self._value[arc] + self._entering(self._graph.root)

    def at_start(self, block: int) -> int | None:
        """The sum with which a path starts in a block after an edge that ended another, if any does.

        A path in context (MR98 §7) continues the context in which its loop was entered.  Which one that was
        is not known, and any will do: the edges of the context do not count as taken again.
        """
        dag = self._dag
        node = dag.into(block)
        for number in dag.ins[node]:
            if dag.arcs[number].kind is ArcKind.START:
                return self._value[number] + self._entering(block)
        if block not in dag.arrival:
            return None
        total = sum(self._value[n] for n in dag.outs[node] if dag.arcs[n].kind is ArcKind.SURROGATE)
        while node != dag.entry:
            arc = dag.ins[node][0]
            total += self._value[arc]
            node = dag.arcs[arc].src
        return total

    def only_edge(self, block: int) -> int | None:
        """The edge that every path takes out of a block, if there is just one."""
        outs = self._dag.outs[block]
        return self._dag.arcs[outs[0]].of if len(outs) == 1 else None

    def _entering(self, block: int) -> int:
        """What entering a loop from outside adds, where paths are numbered in context (MR98 §7)."""
        if block not in self._dag.arrival:
            return 0
        outs = self._dag.outs[self._dag.arrival[block]]
        return sum(self._value[n] for n in outs if self._dag.arcs[n].kind is ArcKind.PASS)
