"""An estimate of a function beside a run of it, or beside another estimate: the shares of its branches.

What an estimate says of a branch is a share, whatever the expected frequency of the branch, so only shares
are compared.  Where the other side is a run, its executions are the evidence for or against the expected
share.  An estimate's own fractions are no evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from trodden.compare.decisions import Decisions
from trodden.compare.evidence import per_call, surprise
from trodden.compare.model import Branching, Difference, Kind, Shares
from trodden.compare.pairing import Pair
from trodden.profile.model import Count, FunctionProfile

_ROUNDING = 1e-9
"""Shares of an estimate are quotients of sums; what differs by less is the same."""


def compare_expected(pair: Pair) -> Iterator[Difference]:
    """Every branch that deviates from the estimate, by the edge whose share grows most in the second."""
    first, second, decisions = pair.first, pair.second, Decisions(pair)
    for block, position in decisions.order.items():
        edges = decisions.edges_from(block)
        if len(edges) < 2:
            continue
        sides = _executed(first, block), _executed(second, block)
        if min(sides) <= 0:
            continue
        shares = {
            edge: Shares(_taken(first, edge), sides[0], _taken(second, edge), sides[1]) for edge in edges
        }
        edge = max(edges, key=lambda each: shares[each].second_share - shares[each].first_share)
        what = shares[edge]
        if what.second_share - what.first_share < _ROUNDING:
            continue
        taken = tuple((each, shares[each].first, shares[each].second) for each in edges)
        yield Difference(
            name=pair.name,
            function=second,
            kind=Kind.EXPECTS,
            what=what,
            evidence=_evidence(pair, what),
            branching=Branching(block, edge, what, taken, along=False),
            edge=edge,
            entries=decisions.entries,
            position=position,
            off=(what.second_share - what.first_share) * _weight(pair, block),
        )


def _executed(function: FunctionProfile, block: int) -> Count:
    """How often a block is executed: in all, or in one call if it is an estimate."""
    if not function.estimated:
        return function.block_counts[block]
    return sum(function.per_call[edge] for edge in function.facts.graph.in_edges[block])


def _taken(function: FunctionProfile, edge: int) -> Count:
    if not function.estimated:
        return function.edge_counts[edge] or 0
    return function.per_call[edge]


def _weight(pair: Pair, block: int) -> Count:
    """The weight of a wrong share: how often the branch was executed, or is expected to be by the second."""
    counted = pair.second if pair.first.estimated else pair.first
    return counted.block_counts[block]


def _evidence(pair: Pair, what: Shares) -> float:
    """How strongly the run speaks against what was expected; 0 between two estimates."""
    if pair.first.estimated and pair.second.estimated:
        return 0.0
    if pair.first.estimated:
        share, taken, trials, calls, sign = (
            what.first_share,
            what.second,
            what.second_of,
            pair.second.entries,
            1,
        )
    else:
        share, taken, trials, calls, sign = (
            what.second_share,
            what.first,
            what.first_of,
            pair.first.entries,
            -1,
        )
    return sign * surprise(share, taken, trials) * per_call((trials, 0), (calls, 0))
