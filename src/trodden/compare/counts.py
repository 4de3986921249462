"""Comparison without paths: the edges of one function in two runs, or its blocks if edges were not counted.

Edges out of a block are compared as paths from one start are.  A block may be executed several times a call,
so its rate is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trodden.compare.block_facts import block_facts
from trodden.compare.decisions import Decisions
from trodden.compare.evidence import per_call, rate_ratio
from trodden.compare.model import Difference, Kind, Shares
from trodden.compare.pairing import Pair
from trodden.graph.cfg import Edge
from trodden.profile.model import FunctionProfile


def has_edge_counts(function: FunctionProfile) -> bool:
    """Whether the counts of all edges are known."""
    return None not in function.edge_counts


def compare_edges(pair: Pair, only: Callable[[Edge], bool] = lambda edge: True) -> Iterator[Difference]:
    """Every edge that took another share of its block; both runs must have counted edges."""
    decisions, graph = Decisions(pair), pair.second.facts.graph
    for block, position in decisions.order.items():
        for edge in decisions.edges_from(block):
            if not only(graph.edges[edge]) or not any(decisions.taken(edge)):
                continue
            branching = decisions.branching(edge)
            what, ran = branching.shares, all(decisions.ran(block))
            if (ran and what.equal) or (not ran and _follows_from_others(decisions, block)):
                continue
            both = all(decisions.taken(edge))
            yield Difference(
                name=pair.name,
                function=pair.second,
                kind=Kind.SHIFTS if both else Kind.PARTS if ran else Kind.FOLLOWS,
                what=what,
                evidence=decisions.evidence(edge),
                branching=branching,
                edge=edge,
                entries=decisions.entries,
                calls_before=pair.second.facts.blocks[block].calls,
                position=position,
            )


def _follows_from_others(decisions: Decisions, block: int) -> bool:
    """Whether a block that one run never reached says nothing by its edges.

    It has only one, or lies in a function that this run never entered and whose entry says so.
    """
    inside = decisions.order[block] > 0
    return inside and (len(decisions.edges_from(block)) < 2 or not all(decisions.entries))


def compare_blocks(pair: Pair) -> Iterator[Difference]:
    """Every block that was executed at another rate a call."""
    first, second, decisions = pair.first, pair.second, Decisions(pair)
    graph, entries = second.facts.graph, decisions.entries
    facts = block_facts(pair)
    for block, position in decisions.order.items():
        if block == graph.exit:
            continue
        a, b = first.block_counts[block], second.block_counts[block]
        what = Shares(a, entries[0], b, entries[1])
        if (not a and not b) or (what.equal and all(entries)):
            continue
        sources = [graph.edges[edge].src for edge in graph.in_edges[block]]
        beside = any(first.block_counts[v] and second.block_counts[v] for v in sources)
        kind = Kind.SHIFTS if a and b else Kind.PARTS if beside and all(entries) else Kind.FOLLOWS
        yield Difference(
            name=pair.name,
            function=second,
            kind=kind,
            what=what,
            evidence=rate_ratio(a, entries[0], b, entries[1]) * per_call((a, b), entries),
            block=block,
            representative=facts[block],
            entries=entries,
            position=position,
        )
