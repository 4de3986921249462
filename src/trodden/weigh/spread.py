"""From branch odds to a weighting: how often each edge runs if every branch keeps to given odds.

Works on reducible graphs in one pass from the innermost loops outwards and one along the topological
order.  What a loop passes on through each of its exits is summed up once, so a loop inside another is a
single step of the outer one.  The result obeys the flow law wherever EXIT can be reached.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.graph.cfg import Graph
from trodden.graph.forest import LoopForest

HIGHEST_WEIGHT = 1e280
"""Far above any real frequency, far enough below the largest float that sums and products stay finite."""


def spread(
    graph: Graph, odds: Sequence[float], order: Sequence[int], forest: LoopForest, endless_stay: float
) -> list[float]:
    """The weights that follow when the root is entered once.

    ``odds[e]`` is the probability that control leaves the source of ``e`` along ``e`` (0 for virtual
    edges); ``order`` is a topological order.  A loop that is never left is given ``endless_stay`` rounds.
    """
    stays = _stays(graph, odds, order, forest, endless_stay)
    weights = [0.0] * len(graph.edges)
    arriving = [0.0] * len(graph.labels)
    arriving[graph.root] = 1.0
    for vertex in order:
        running = arriving[vertex]
        loop = forest.of_header.get(vertex)
        if loop is not None:
            running = min(running * stays[loop], HIGHEST_WEIGHT)
        for index in graph.out_edges[vertex]:
            weights[index] = running * odds[index]
            arriving[graph.edges[index].dst] += weights[index]
    return weights


def _stays(
    graph: Graph, odds: Sequence[float], order: Sequence[int], forest: LoopForest, endless_stay: float
) -> list[float]:
    """How often each loop goes round for each time it is entered."""
    steps = _steps(order, forest)
    stays = [endless_stay] * len(forest.loops)
    passed: list[list[tuple[int, float]]] = [[] for _ in forest.loops]
    for loop in range(len(forest.loops) - 1, -1, -1):
        header = forest.loops[loop].header
        arriving = {header: 1.0}
        leaving: dict[int, float] = {}
        for vertex in steps[loop]:
            amount = arriving.get(vertex, 0.0)
            inner = forest.of_header.get(vertex, loop)
            if inner == loop:
                moves = [(index, odds[index]) for index in graph.out_edges[vertex]]
            else:
                moves, passed[inner] = passed[inner], []
            for index, share in moves:
                target = graph.edges[index].dst
                if target == header or not share:
                    continue
                if _directly_in(forest, target, loop):
                    arriving[target] = arriving.get(target, 0.0) + amount * share
                else:
                    leaving[index] = leaving.get(index, 0.0) + amount * share
        total = sum(leaving.values())
        if total > 1 / HIGHEST_WEIGHT:
            stays[loop] = 1 / total
            passed[loop] = [(index, share / total) for index, share in leaving.items()]
    return stays


def _steps(order: Sequence[int], forest: LoopForest) -> list[list[int]]:
    """For each loop what it directly consists of, in topological order; inner loops by their entries."""
    steps: list[list[int]] = [[] for _ in forest.loops]
    for vertex in order:
        loop = forest.innermost[vertex]
        if loop < 0:
            continue
        steps[loop].append(vertex)
        if vertex in forest.of_header and forest.loops[loop].parent >= 0:
            steps[forest.loops[loop].parent].append(vertex)
    return steps


def _directly_in(forest: LoopForest, vertex: int, loop: int) -> bool:
    """Whether a vertex lies in a loop, either in no smaller one or as the entry of the next smaller one."""
    inner = forest.innermost[vertex]
    if inner == loop:
        return True
    return inner >= 0 and forest.loops[inner].header == vertex and forest.loops[inner].parent == loop
