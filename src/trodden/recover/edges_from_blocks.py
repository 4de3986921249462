"""The edge counts that follow from block counts.

A block count is the sum of the edges into the block and the sum of the edges out of it.  If blocks are split
into an entering and a leaving half, the edges whose counts follow are those on no cycle of unknown edges, and
all edges of a half whose unknown edges add up to zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.recover.forest import solve


@dataclass(frozen=True)
class Ends:
    """Early ends as flow without edges: ``out[v]`` leaves block ``v``, ``into[v]`` enters EXIT."""

    out: list[int]
    into: list[int]
    early: frozenset[int]

    @classmethod
    def of(cls, graph: Graph, early: Mapping[int, int]) -> Ends:
        """The flow of exit counters, by the vertices of a graph."""
        out = [early.get(vertex, 0) for vertex in range(len(graph.labels))]
        into = [0] * len(graph.labels)
        into[graph.exit] = sum(out)
        return cls(out, into, frozenset(vertex for vertex, count in early.items() if count))


def edge_name(graph: Graph, index: int) -> str:
    """The labels of an edge, for messages."""
    return f"{graph.labels[graph.edges[index].src]} -> {graph.labels[graph.edges[index].dst]}"


def edges_from_blocks(graph: Graph, blocks: Sequence[int], edges: list[int | None], ends: Ends) -> list[str]:
    """Fill in the edge counts that follow from block counts; returns the contradictions that are found."""
    if None not in edges:
        return []
    halves = _Halves(graph, blocks, edges, ends)
    halves.propagate(range(2 * len(blocks)))
    while True:
        unknown = [index for index, count in enumerate(edges) if count is None]
        solution = solve(halves.left, [halves.ends(index) for index in unknown], +1)
        certain = [position for position in range(len(unknown)) if solution.certain[position]]
        if not certain:
            return [
                f"block {graph.labels[half % len(blocks)]}: its edges miss its count by {abs(amount)}"
                for half, amount in solution.residues
            ]
        for position in certain:
            halves.set(unknown[position], solution.values[position])
        halves.propagate([half for position in certain for half in halves.ends(unknown[position])])


class _Halves:
    """The halves of all blocks: what is left of each count without the known edges."""

    def __init__(self, graph: Graph, blocks: Sequence[int], edges: list[int | None], ends: Ends) -> None:
        self._graph = graph
        self._edges = edges
        self._size = len(blocks)
        self._incident = [*graph.out_edges, *graph.in_edges]
        self.left = [count - early for count, early in zip(blocks, ends.out, strict=True)]
        self.left += [count - early for count, early in zip(blocks, ends.into, strict=True)]
        self._unknown = [len(incident) for incident in self._incident]
        for index, count in enumerate(edges):
            if count is not None:
                self.set(index, count)

    def ends(self, index: int) -> tuple[int, int]:
        """The leaving half of the source and the entering half of the target."""
        edge = self._graph.edges[index]
        return edge.src, self._size + edge.dst

    def set(self, index: int, count: int) -> None:
        """Subtract a known edge from both its halves."""
        self._edges[index] = count
        for half in self.ends(index):
            self.left[half] -= count
            self._unknown[half] -= 1

    def propagate(self, halves: Sequence[int]) -> None:
        """Determine single unknown edges, and all of a half with nothing left."""
        work = list(halves)
        while work:
            half = work.pop()
            if self._unknown[half] == 0 or (self._unknown[half] > 1 and self.left[half] != 0):
                continue
            for index in self._incident[half]:
                if self._edges[index] is None:
                    self.set(index, self.left[half])
                    work += self.ends(index)
