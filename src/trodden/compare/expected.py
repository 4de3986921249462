"""An estimate of a function beside a run of it, or beside another estimate: the shares of its branches.

What an estimate says of a branch is a share, however often it expects to come there, so shares are all that
is compared.  Where the other side has run, its executions are the evidence: they speak for or against the
expected share.  An estimate's own fractions are no evidence of anything.
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
    """Every branch that goes another way than expected, by the edge whose share the second has more of."""
    first, second, decisions = pair.first, pair.second, Decisions(pair)
    for block, place in decisions.places.items():
        ways = decisions.ways(block)
        if len(ways) < 2:
            continue
        sides = _passed(first, block), _passed(second, block)
        if min(sides) <= 0:
            continue
        shares = {edge: Shares(_took(first, edge), sides[0], _took(second, edge), sides[1]) for edge in ways}
        edge = max(ways, key=lambda way: shares[way].second_share - shares[way].first_share)
        what = shares[edge]
        if what.second_share - what.first_share < _ROUNDING:
            continue
        others = tuple((way, shares[way].first, shares[way].second) for way in ways if way != edge)
        yield Difference(
            name=pair.name,
            function=second,
            kind=Kind.EXPECTS,
            what=what,
            evidence=_evidence(pair, what),
            branching=Branching(block, edge, what, others, along=False),
            edge=edge,
            entries=decisions.entries,
            place=place,
            off=(what.second_share - what.first_share) * _weight(pair, block),
        )


def _passed(function: FunctionProfile, block: int) -> Count:
    """How often a block is passed: in all, or in one call as an estimate has it."""
    if not function.estimated:
        return function.block_counts[block]
    return sum(function.per_call[edge] for edge in function.facts.graph.in_edges[block])


def _took(function: FunctionProfile, edge: int) -> Count:
    if not function.estimated:
        return function.edge_counts[edge] or 0
    return function.per_call[edge]


def _weight(pair: Pair, block: int) -> Count:
    """What a wrong share matters by: how often the branch was passed, or is expected to be by the second."""
    counted = pair.second if pair.first.estimated else pair.first
    return counted.block_counts[block]


def _evidence(pair: Pair, what: Shares) -> float:
    """How strongly the run speaks against what was expected; nothing speaks if there is none."""
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
