"""How well one profile predicts another: Wall's matching scores (WL94 §7).

Both profiles rank the same items by frequency.  Of the most frequent ones of the measured profile, the score
is the part that the other ranks as high: unweighted by their number, weighted by their measured counts.
Only the order of an estimate matters, not the length of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, floor, isclose, lgamma
from typing import Any, TypeVar

from trodden.compare.counts import has_edge_counts
from trodden.compare.pairing import Pair, Unpaired, pair
from trodden.errors import UsageError
from trodden.profile.analysis.calling import calls_in
from trodden.profile.model import FunctionProfile, Profile

PERCENTS = (10, 20, 30, 40, 50)
_TOLERANCE = 1e-9
"""Estimates that should be equal may differ by this part of them: they were added up in different orders."""

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Match:
    """How the top ``m`` of an estimate match the top ``m`` of what was measured, in parts of one."""

    weighted: float
    unweighted: float
    m: int


def match(estimated: Mapping[_Key, float], measured: Mapping[_Key, float], share: float) -> Match | None:
    """The scores of the top ``share`` of the executed items; ``None`` if there are none.

    Items that the estimate does not have get frequency 0.  Items with equal measured counts at the end of the
    top are interchangeable.  Where estimated frequencies are equal, the score is the mean over all orders of
    them, so that it does not depend on their order in a file.
    """
    ran = sorted((count for count in measured.values() if count > 0), reverse=True)
    if not ran:
        return None
    m = max(1, floor(round(share * len(ran), 6) + 0.5))
    lowest = ran[m - 1]
    certain = sum(1 for count in ran[:m] if count > lowest)
    chosen, tied = _top(estimated, measured, m)
    part = (m - len(chosen)) / len(tied)
    above = [(1.0, _counts(chosen, measured, lowest)), (part, _counts(tied, measured, lowest))]
    number = sum(chance * len(counts) for chance, counts in above)
    weight = sum(chance * sum(counts) for chance, counts in above)
    at_the_end = _expected(
        sure=sum(measured.get(key, 0) == lowest for key in chosen),
        good=sum(measured.get(key, 0) == lowest for key in tied),
        tied=len(tied),
        drawn=m - len(chosen),
        ranks=m - certain,
    )
    return Match(
        weighted=min(1.0, (weight + at_the_end * lowest) / sum(ran[:m])),
        unweighted=min(1.0, (number + at_the_end) / m),
        m=m,
    )


def _counts(keys: Iterable[_Key], measured: Mapping[_Key, float], lowest: float) -> list[float]:
    """The measured counts of those that are certainly in the measured top."""
    return [measured[key] for key in keys if measured.get(key, 0) > lowest]


def _top(
    estimated: Mapping[_Key, float], measured: Mapping[_Key, float], m: int
) -> tuple[Sequence[_Key], Sequence[_Key]]:
    """The items that are in the top ``m`` of an estimate, and those that tie for its last ranks."""
    keys = [*estimated, *(key for key in measured if key not in estimated)]
    order = sorted(keys, key=lambda key: estimated.get(key, 0), reverse=True)
    values = [estimated.get(key, 0) for key in order]
    first, last = m - 1, m
    while first > 0 and _tied(values[first - 1], values[first]):
        first -= 1
    while last < len(values) and _tied(values[last - 1], values[last]):
        last += 1
    return order[:first], order[first:last]


def _tied(one: float, other: float) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    return isclose(one, other, rel_tol=_TOLERANCE)


def _expected(sure: int, good: int, tied: int, drawn: int, ranks: int) -> float:
    """How many of ``ranks`` are filled on average by ``sure`` items and by good ones among those drawn.

    ``drawn`` of ``tied`` items are drawn at random, and ``good`` of them are good: what is drawn of these
    follows a hypergeometric distribution.
    """
    fewest, most = max(0, drawn - (tied - good)), min(good, drawn)
    if sure + most <= ranks:
        return sure + drawn * good / tied
    if sure + fewest >= ranks:
        return ranks
    return sum(
        min(sure + found, ranks)
        * exp(_choices(good, found) + _choices(tied - good, drawn - found) - _choices(tied, drawn))
        for found in range(fewest, most + 1)
    )


def _choices(of: int, some: int) -> float:
    """The logarithm of a binomial coefficient."""
    return lgamma(of + 1) - lgamma(some + 1) - lgamma(of - some + 1)


Matches = Mapping[int, Match | None]
"""A score for each percentage of the executed items; none where there are no such items."""


@dataclass(frozen=True)
class Scores:
    """The six scores of WL94 §7.

    Those of local blocks and edges rank them within each function, for one call of it; all others rank the
    whole program.  ``pairs`` is how many functions both profiles have, ``unpaired`` are left out.
    """

    local_blocks: Matches
    local_edges: Matches
    invocations: Matches
    calls: Matches
    global_blocks: Matches
    global_edges: Matches
    pairs: int
    unpaired: tuple[Unpaired, ...]

    @property
    def kinds(self) -> dict[str, Matches]:
        """The scores by what they are about."""
        return {
            "local_blocks": self.local_blocks,
            "local_edges": self.local_edges,
            "invocations": self.invocations,
            "calls": self.calls,
            "global_blocks": self.global_blocks,
            "global_edges": self.global_edges,
        }


def score(
    estimate: Profile,
    measured: Profile,
    percents: Sequence[int] = PERCENTS,
) -> Scores:
    """Score a profile, estimated or not, against a measured one.

    In the local scores all executed functions have the same weight, those of a single block too, which no
    estimate can get wrong: so it is in the paper.
    """
    pairs, unpaired = pair(estimate.functions, measured.functions)
    if not pairs:
        raise UsageError("no function in common; score profiles of one program, built in the same way")
    counted = [each for each in pairs if has_edge_counts(each.first) and has_edge_counts(each.second)]
    return Scores(
        local_blocks=_local(_items(pairs, _blocks_a_call), percents),
        local_edges=_local(_items(counted, _edges_a_call), percents),
        invocations=_whole(_items(pairs, _entries), percents),
        calls=_whole(_items(pairs, calls_in), percents),
        global_blocks=_whole(_items(pairs, _blocks), percents),
        global_edges=_whole(_items(counted, _edges), percents),
        pairs=len(pairs),
        unpaired=tuple(unpaired),
    )


_Items = Mapping[Any, float]


def _items(pairs: Iterable[Pair], items: Callable[[FunctionProfile], _Items]) -> list[tuple[_Items, _Items]]:
    return [(items(each.first), items(each.second)) for each in pairs]


def _local(lists: Sequence[tuple[_Items, _Items]], percents: Sequence[int]) -> Matches:
    found = {percent: [match(*each, percent / 100) for each in lists] for percent in percents}
    return {percent: mean([each for each in some if each]) for percent, some in found.items()}


def mean(matches: Sequence[Match]) -> Match | None:
    """The mean score of some functions, all with the same weight."""
    if not matches:
        return None
    return Match(
        weighted=sum(each.weighted for each in matches) / len(matches),
        unweighted=sum(each.unweighted for each in matches) / len(matches),
        m=sum(each.m for each in matches),
    )


def _whole(lists: Sequence[tuple[_Items, _Items]], percents: Sequence[int]) -> Matches:
    """Items of all functions in one list, distinguished by the number of their function."""
    first, second = (
        {(number, key): value for number, each in enumerate(lists) for key, value in each[side].items()}
        for side in (0, 1)
    )
    return {percent: match(first, second, percent / 100) for percent in percents}


def _entries(function: FunctionProfile) -> _Items:
    return {"": function.entries}


def _blocks(function: FunctionProfile) -> _Items:
    return dict(enumerate(function.block_counts[: function.facts.graph.exit]))


def _edges(function: FunctionProfile) -> _Items:
    return {edge: function.edge_counts[edge] or 0 for edge in function.facts.graph.flow_edges()}


def _blocks_a_call(function: FunctionProfile) -> _Items:
    """How often blocks are executed in one call; counts of any number of calls have the same order."""
    graph, per_call = function.facts.graph, function.per_call
    if not per_call:
        return _blocks(function)
    return {vertex: sum(per_call[edge] for edge in graph.in_edges[vertex]) for vertex in range(graph.exit)}


def _edges_a_call(function: FunctionProfile) -> _Items:
    if not function.per_call:
        return _edges(function)
    return {edge: function.per_call[edge] for edge in function.facts.graph.flow_edges()}
