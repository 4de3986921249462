"""Values for the arcs of an acyclic graph, whose sum over a path is its number (BL96 §3.2, Figure 5).

The successors of a node are visited by their number of paths, the largest last, so that large values are
few and small (§5.2).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from trodden.plan.paths.dag import Dag


class ArcValues:
    """The values of all arcs, and the way back from sums to paths.

    ``paths_from[n]`` is the number of paths from a node to the end, ``sorted_outs[n]`` are its arcs, smallest
    value first.  With ``separate_starts`` the arcs from ENTRY all have the value 0: then a number says which
    path it is among those with the same start.  If a node has more than ``most`` paths, :class:`ValueError`
    is raised.  ``followed`` is how many arcs decoding has followed so far.
    """

    def __init__(self, dag: Dag, most: int | None = None, separate_starts: bool = False) -> None:
        """Figure 5: values in reverse topological order."""
        self.dag = dag
        self.value = [0] * len(dag.arcs)
        self.paths_from = [1] * len(dag.outs)
        self.sorted_outs: list[list[int]] = [[] for _ in dag.outs]
        self._values: list[list[int]] = [[] for _ in dag.outs]
        self.followed = 0
        for node in reversed(dag.order[separate_starts:]):
            if dag.outs[node]:
                self._assign(node)
                if most is not None and self.paths_from[node] > most:
                    raise ValueError(f"{dag.graph.name}: there are more than {most} paths")

    def _assign(self, node: int) -> None:
        arcs, paths_from = self.dag.arcs, self.paths_from
        self.sorted_outs[node] = sorted(self.dag.outs[node], key=lambda arc: paths_from[arcs[arc].dst])
        total = 0
        for arc in self.sorted_outs[node]:
            self.value[arc] = total
            self._values[node].append(total)
            total += paths_from[arcs[arc].dst]
        paths_from[node] = total

    def follow(self, node: int, number: int) -> Iterator[tuple[int, int]]:
        """The arcs of a path from a node, each with the remainder of the number after it."""
        while values := self._values[node]:
            position = bisect_right(values, number) - 1
            number -= values[position]
            arc = self.sorted_outs[node][position]
            self.followed += 1
            yield arc, number
            node = self.dag.arcs[arc].dst
