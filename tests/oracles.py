"""The definitions of the papers, worked out the slow way, for small graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from trodden.graph.cfg import EdgeKind, Graph


def reach_without(graph: Graph, banned: int | None, backwards_from: int | None = None) -> set[int]:
    """What control can reach from the root (or what can reach a vertex) without passing ``banned``."""
    start = graph.root if backwards_from is None else backwards_from
    if start == banned:
        return set()
    seen = {start}
    grown = True
    while grown:
        grown = False
        for edge in graph.edges:
            if edge.kind is not EdgeKind.FLOW:
                continue
            here, there = (edge.src, edge.dst) if backwards_from is None else (edge.dst, edge.src)
            if here in seen and there not in seen and there != banned:
                seen.add(there)
                grown = True
    return seen


def dominates(graph: Graph, upper: int, lower: int) -> bool:
    return upper == lower or lower not in reach_without(graph, upper)


def natural_loop(graph: Graph, back_edges: Iterable[int], header: int) -> set[int]:
    """BL94 §5, word by word."""
    reached = reach_without(graph, None)
    members = {header}
    for index in back_edges:
        members |= reach_without(graph, header, backwards_from=graph.edges[index].src) & reached
    return members


def acyclic(graph: Graph, edges: Iterable[int]) -> bool:
    """Whether no undirected cycle lies in a set of edges."""
    group = list(range(len(graph.labels)))
    for index in edges:
        first, second = group[graph.edges[index].src], group[graph.edges[index].dst]
        if first == second:
            return False
        group = [first if g == second else g for g in group]
    return True


def spanning_trees(graph: Graph, live: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """All sets of ``size`` edges without a cycle."""
    return (chosen for chosen in combinations(live, size) if acyclic(graph, chosen))


def simple_cycles(graph: Graph, edges: Sequence[int]) -> Iterator[list[tuple[int, bool]]]:
    """All simple undirected cycles: edges in order, with whether each is walked in its direction."""
    for first in sorted(edges):
        edge = graph.edges[first]
        if edge.src == edge.dst:
            yield [(first, True)]
            continue
        work: list[tuple[int, list[tuple[int, bool]], set[int]]] = [(edge.dst, [(first, True)], {edge.dst})]
        while work:
            vertex, path, seen = work.pop()
            if vertex == edge.src:
                yield path
                continue
            for index in edges:
                if index <= first or any(index == used for used, _ in path):
                    continue
                step = graph.edges[index]
                for here, there, forward in ((step.src, step.dst, True), (step.dst, step.src, False)):
                    if here == vertex and there not in seen and step.src != step.dst:
                        work.append((there, [*path, (index, forward)], seen | {there}))


def has_pipe(cycle: Sequence[tuple[int, bool]]) -> bool:
    """Whether two edges that follow each other point the same way round."""
    return any(cycle[position - 1][1] == cycle[position][1] for position in range(len(cycle)))


def solves_vprof(graph: Graph, live: Sequence[int], counted: Iterable[int]) -> bool:
    """BL94's theorem of §3.3.1: no simple cycle without a counter has a pipe."""
    bare = [index for index in live if index not in set(counted)]
    return not any(has_pipe(cycle) for cycle in simple_cycles(graph, bare))


def flow_gap(graph: Graph, weights: Sequence[float], vertex: int) -> float:
    """By how much a weighting breaks the flow law at a vertex, relative to what passes there."""
    entering = sum(weights[index] for index in graph.in_edges[vertex])
    leaving = sum(weights[index] for index in graph.out_edges[vertex])
    return abs(entering - leaving) / max(entering, leaving, 1e-300)
