"""Strongly connected components."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def strong_components(successors: Sequence[Sequence[int]], vertices: Iterable[int]) -> list[list[int]]:
    """The components of what can be reached from ``vertices`` (Tarjan, without recursion).

    A component comes after all those that are reachable from it.  Its members are in reverse postorder of
    the search: the one visited first comes first, and an edge inside a component goes backwards in that
    order only if it closes a cycle.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    done: dict[int, int] = {}
    placed: set[int] = set()
    components: list[list[int]] = []
    pending: list[int] = []
    for start in vertices:
        if start in order:
            continue
        work: list[tuple[int, int]] = [(start, 0)]
        while work:
            vertex, position = work.pop()
            if position == 0:
                order[vertex] = low[vertex] = len(order)
                pending.append(vertex)
            descended = False
            for index in range(position, len(successors[vertex])):
                target = successors[vertex][index]
                if target not in order:
                    work.append((vertex, index + 1))
                    work.append((target, 0))
                    descended = True
                    break
                if target not in placed:
                    low[vertex] = min(low[vertex], order[target])
            if descended:
                continue
            done[vertex] = len(done)
            if low[vertex] == order[vertex]:
                cut = len(pending) - 1
                while pending[cut] != vertex:
                    cut -= 1
                members = sorted(pending[cut:], key=done.__getitem__, reverse=True)
                del pending[cut:]
                placed.update(members)
                components.append(members)
            if work:
                parent = work[-1][0]
                low[parent] = min(low[parent], low[vertex])
    return components
