"""The control-flow graph of one procedure (BL94 §2).

A graph is a directed multigraph: parallel edges and self loops are ordinary, an edge is known by its
index and never by its ends.  Vertices are the numbers ``0 .. n-1``; ``EXIT`` is always the last one.

Besides the edges that control really takes, a graph carries virtual ones that the flow law needs:
one ``CLOSING`` edge EXIT -> root, and for every region that cannot be left (an endless loop) one
``ENDLESS`` edge to EXIT.  Neither is ever taken by the program itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from trodden.graph.reach import endless_regions


class EdgeKind(Enum):
    """Why an edge is in the graph."""

    FLOW = "flow"
    CLOSING = "closing"
    ENDLESS = "endless"


class Edge(NamedTuple):
    """A transfer of control from vertex ``src`` to vertex ``dst``."""

    src: int
    dst: int
    kind: EdgeKind = EdgeKind.FLOW


@dataclass(frozen=True, eq=True)
class Graph:
    """One procedure.  Build it with :func:`build`, which adds the virtual edges."""

    name: str
    labels: tuple[str, ...]
    edges: tuple[Edge, ...]
    root: int = 0
    out_edges: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    in_edges: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        outs: list[list[int]] = [[] for _ in self.labels]
        ins: list[list[int]] = [[] for _ in self.labels]
        for index, edge in enumerate(self.edges):
            outs[edge.src].append(index)
            ins[edge.dst].append(index)
        object.__setattr__(self, "out_edges", tuple(map(tuple, outs)))
        object.__setattr__(self, "in_edges", tuple(map(tuple, ins)))

    @property
    def exit(self) -> int:
        """The vertex EXIT."""
        return len(self.labels) - 1

    @property
    def closing(self) -> int:
        """The index of the edge EXIT -> root."""
        return next(i for i in self.in_edges[self.root] if self.edges[i].kind is EdgeKind.CLOSING)

    def flow_edges(self) -> Iterable[int]:
        """The indices of the edges that the program itself can take."""
        return (i for i, e in enumerate(self.edges) if e.kind is EdgeKind.FLOW)


def build(name: str, labels: Sequence[str], flow: Iterable[tuple[int, int]], root: int = 0) -> Graph:
    """Make a graph from the edges of a procedure.

    ``labels`` names the vertices, EXIT last.  The closing edge is appended, and before it an
    endless edge for each region that is reachable from the root and from which EXIT is not.
    """
    pairs = list(flow)
    edges = [Edge(src, dst) for src, dst in pairs]
    exit_vertex = len(labels) - 1
    stuck = endless_regions(len(labels), pairs, root, exit_vertex)
    edges += [Edge(vertex, exit_vertex, EdgeKind.ENDLESS) for vertex in stuck]
    edges.append(Edge(exit_vertex, root, EdgeKind.CLOSING))
    return Graph(name, tuple(labels), tuple(edges), root)
