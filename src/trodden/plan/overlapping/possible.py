"""How many longer paths there are, whether they are executed or not: by counting ways through acyclic graphs.

A second part is counted if it comes to an end: where its path may end, or leave the loop, or reach the next
call.  What is cut short in the middle of a block is no path of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from trodden.plan.overlapping.region import Owner, Ways


def ends_at(ways: Ways, owner: Owner, block: int) -> bool:
    """Whether a second part may come to its end in a block."""
    out = ways.out(block)
    return not out or any(edge not in ways.onward(block) or not owner.stays(edge) for edge in out)


def parts_from(ways: Ways, owner: Owner, block: int) -> int:
    """How many second parts begin at a block."""
    return _parts(ways, owner, ways.dag.order)(block)


def parts_behind(ways: Ways, owner: Owner, edges: Iterable[int]) -> int:
    """How many second parts begin with one of these edges behind a call."""
    graph, count = ways.dag.graph, _parts(ways, owner, ways.dag.order)
    total, ends = 0, False
    for edge in edges:
        source, target, _ = graph.edges[edge]
        if edge in ways.onward(source):
            total += count(target)
        else:
            ends = True
    return total + ends


def _parts(ways: Ways, owner: Owner, order: Collection[int]) -> Callable[[int], int]:
    edges = ways.dag.graph.edges
    found: dict[int, int] = {}
    for block in reversed(list(order)):
        if block < ways.dag.graph.exit:
            onward = (edge for edge in ways.onward(block) if owner.stays(edge))
            found[block] = sum(found[edges[edge].dst] for edge in onward) + ends_at(ways, owner, block)
    return lambda block: found[block]


def paths_to_blocks(ways: Ways) -> dict[int, int]:
    """How many paths, by their start and their edges, lead to each block."""
    dag = ways.dag
    found = {dag.entry: 1}
    for node in dag.order:
        for number in dag.outs[node]:
            target = dag.arcs[number].dst
            found[target] = found.get(target, 0) + found.get(node, 0)
    return found


def iterations(ways: Ways, header: int, sources: Collection[int]) -> int:
    """How many first parts end on the back edges to a header, which leave the blocks of ``sources``.

    They begin at the header, or where their path starts if that is behind it.
    """
    dag = ways.dag
    found: dict[int, int] = {dag.graph.root: 1, **dict.fromkeys(dag.first_of, 1)}
    for block in dag.order:
        if block == header:
            found[block] = 1
        for edge in ways.onward(block) if found.get(block) and block < dag.graph.exit else ():
            target = dag.graph.edges[edge].dst
            found[target] = found.get(target, 0) + found[block]
    return sum(found.get(block, 0) for block in set(sources))
