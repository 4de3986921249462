"""Edges that were taken more often than the known paths tell, taken apart into walks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trodden.graph.cfg import Graph

_MOST_WALKS = 4096


class Unwalked:
    """Edges that were taken more often than the paths tell; walks are taken off them."""

    def __init__(self, graph: Graph, removed: frozenset[int], ahead: Counter[int]) -> None:
        self._graph, self._removed, self._ahead = graph, removed, ahead

    def leaving(self, vertex: int) -> int:
        """How many more left a vertex than came to it or began there."""
        flow = self._flow(self._graph.out_edges[vertex]) - self._flow(self._graph.in_edges[vertex])
        return max(flow, 0)

    def walks(self, start: int, times: int) -> Iterator[tuple[list[int], int]]:
        """Ways that ``times`` walks from a vertex may have gone."""
        for _ in range(_MOST_WALKS):
            if not times:
                return
            walk: list[int] = []
            block, count = start, times
            while (edge := self._on(block)) is not None:
                walk.append(edge)
                count = min(count, self._ahead[edge])
                block = self._graph.edges[edge].dst
            # Where fewer went on than came some have stopped on the way; any of them may be cut there.
            for edge in walk:
                self._ahead[edge] -= count
            times -= count
            yield walk, count

    def _on(self, block: int) -> int | None:
        for edge in self._graph.out_edges[block]:
            if self._ahead[edge] > 0 and edge not in self._removed and self._graph.edges[edge].dst != block:
                return edge
        return None

    def _flow(self, edges: Sequence[int]) -> int:
        return sum(self._ahead[edge] for edge in edges if edge not in self._removed)
