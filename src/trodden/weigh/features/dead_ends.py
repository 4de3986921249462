"""Loop exits that are not meant to be taken: what follows them never returns."""

from __future__ import annotations

from collections.abc import Callable

from trodden.graph.cfg import Graph


def is_dead_end(graph: Graph, vertex: int, never_returns: Callable[[int], bool]) -> bool:
    """Whether a block does not return, or jumps unconditionally to one that does not; EXIT does return."""
    if vertex == graph.exit:
        return False
    following = [graph.edges[index].dst for index in graph.out_edges[vertex]]
    straight = following if len(following) == 1 and following[0] != graph.exit else []
    return any(map(never_returns, [vertex, *straight]))
