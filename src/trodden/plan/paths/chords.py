"""Which arcs carry increments, and which increments (BL96 §3.3, event counting after [Bal94]).

The values of Figure 5 would need an addition at every branch.  Event counting finds others with the same sum
on every path from ENTRY to EXIT that are zero on a spanning tree, so the tree is made of the most frequent
arcs.  Summed along the tree from ENTRY, the values give each node a *potential*; the increment of an arc is
its value less the difference of potentials.  That takes linear time, and it determines what the register
holds at every node: the sum of values up to there less the potential.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind
from trodden.graph.unionfind import UnionFind
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.dag import ArcKind, Dag

_FREE = -1.0
"""A removed edge carries a probe in any case, which the dummy arc shares: such arcs enter the tree last."""

_NO_PLACE = math.inf
"""Where an overlap has stopped nothing is executed that could add: such arcs enter the tree first."""


@dataclass(frozen=True)
class Increments:
    """``chords[arc]`` is the increment of a chord; ``potential[node]`` is the sum less the register there."""

    chords: dict[int, int]
    potential: list[int]


def chord_increments(numbering: ArcValues, weights: Sequence[float]) -> Increments:
    """The chords of a maximum spanning tree that contains EXIT -> ENTRY, with their increments."""
    dag = numbering.dag
    tree = _spanning_tree(dag, weights)
    potential = _potentials(numbering, tree)
    chords = {
        number: potential[arc.src] + numbering.value[number] - potential[arc.dst]
        for number, arc in enumerate(dag.arcs)
        if number not in tree
    }
    return Increments(chords, potential)


def _spanning_tree(dag: Dag, weights: Sequence[float]) -> set[int]:
    cost = [_cost(dag, number, weights) for number in range(len(dag.arcs))]
    trees = UnionFind(len(dag.outs))
    trees.union(dag.graph.exit, dag.entry)
    by_cost = sorted(range(len(dag.arcs)), key=lambda number: -cost[number])
    return {number for number in by_cost if trees.union(dag.arcs[number].src, dag.arcs[number].dst)}


def _cost(dag: Dag, number: int, weights: Sequence[float]) -> float:
    """How often the probe of an arc would be executed."""
    arc = dag.arcs[number]
    match arc.kind:
        case ArcKind.REAL | ArcKind.AHEAD:
            return weights[arc.of]
        case ArcKind.STOP:
            return _NO_PLACE
        case ArcKind.ENTRY:
            return weights[dag.graph.closing]
        case ArcKind.PASS:
            return math.fsum(
                weights[edge]
                for edge in dag.graph.in_edges[arc.of]
                if not (edge in dag.removed and dag.returns_in_context(edge))
                and dag.graph.edges[edge].kind is not EdgeKind.ENDLESS
            )
        case _:
            return _FREE


def _potentials(numbering: ArcValues, tree: set[int]) -> list[int]:
    dag = numbering.dag
    incident: list[list[int]] = [[] for _ in dag.outs]
    for number in tree:
        incident[dag.arcs[number].src].append(number)
        incident[dag.arcs[number].dst].append(number)
    potential = [0] * len(dag.outs)
    visited = [False] * len(dag.outs)
    visited[dag.entry] = visited[dag.graph.exit] = True
    work = [dag.entry, dag.graph.exit]
    while work:
        node = work.pop()
        for number in incident[node]:
            arc = dag.arcs[number]
            other = arc.dst if arc.src == node else arc.src
            if not visited[other]:
                visited[other] = True
                step = numbering.value[number]
                potential[other] = potential[node] + (step if arc.src == node else -step)
                work.append(other)
    return potential
