"""From what is known of a crossing to its longer paths: all of them counted, the hottest of them listed."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Generic

from trodden.profile.longer.model import Crossing, CrossingFlow, LongerPath, PathPart, Solver, Source
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.margins import Margins
from trodden.recover.bounds.system import First, Range, Second

MOST_EQUATIONS = 1 << 16
"""Tables with more pairs than this are not solved pair by pair."""

_Pair = tuple[First, Second, Range]


def exact_paths(
    crossing: Crossing,
    counts: Mapping[tuple[PathPart, PathPart], int],
    source: Source,
    complete: Callable[[PathPart], bool],
    more: int = 0,
    others: int = 0,
) -> tuple[CrossingFlow, list[LongerPath]]:
    """The longer paths of a crossing whose counts are known; ``complete`` says which second parts are.

    So many ``more`` executions may have been of any of them, and as many as ``others`` were of paths that are
    not among them.
    """
    total = sum(counts.values())
    listed = [LongerPath(crossing, *parts, count, count + more, source) for parts, count in counts.items()]
    number = len(listed)
    flow = CrossingFlow(
        crossing=crossing,
        source=source,
        least=total,
        most=total + more + others,
        definite=total,
        potential=sum(path.upper for path in listed),
        paths=number,
        exact=0 if more else number,
        listed=number,
        complete=(whole := sum(complete(path.second) for path in listed)),
        certain=whole,
        unlisted=more + others,
        degree=None,
    )
    return flow, listed


def bounded_paths(
    crossing: Crossing,
    tables: Sequence[Margins[First, Second]],
    parts: tuple[Callable[[First], PathPart], Callable[[Second], PathPart]],
    complete: Callable[[PathPart], bool],
    source: Source,
    solver: Solver,
    most: int,
    degree: int | None = -1,
) -> tuple[CrossingFlow, list[LongerPath]] | None:
    """The longer paths of a crossing from tables of sums; ``None`` if no counts have these sums.

    ``parts`` make parts of rows and columns, ``complete`` says which second parts are not cut short.

    Listed are all that were certainly executed, and of the others the ``most`` with the largest upper bounds.
    """
    solved = [_Solved(table, solver) for table in tables]
    if any(each.contradictory for each in solved):
        return None
    chosen: dict[tuple[First, Second], Range] = {}
    for each in solved:
        chosen |= each.certain
    hottest = heapq.merge(*(each.hottest() for each in solved), key=lambda pair: -pair[2].most)
    for first, second, bounds in islice(hottest, most):
        chosen[first, second] = bounds
    following = next(hottest, None)
    whole = {part for table in tables for part in table.columns if complete(parts[1](part))}
    listed = [
        LongerPath(crossing, parts[0](first), parts[1](second), *bounds, source)
        for (first, second), bounds in chosen.items()
    ]
    flow = CrossingFlow(
        crossing=crossing,
        source=source,
        least=sum(table.sum.least for table in tables),
        most=sum(table.sum.most for table in tables),
        definite=sum(each.definite for each in solved),
        potential=sum(each.potential for each in solved),
        paths=sum(each.pairs for each in solved),
        exact=sum(each.exact for each in solved),
        listed=len(listed),
        complete=sum(each.pairs_with(whole) for each in solved),
        certain=sum(second in whole for each in solved for _, second in each.certain),
        unlisted=0 if following is None else following[2].most,
        degree=degree,
    )
    return flow, listed


class _Solved(Generic[First, Second]):
    """One table with the bounds that are asked for.

    The equations of the paper have to look at every pair; for a table that is too large for that there are
    the tightest bounds, which cost less.
    """

    def __init__(self, table: Margins[First, Second], solver: Solver) -> None:
        self.contradictory = table.contradictory
        self._table = table
        self._known: dict[tuple[First, Second], Range] | None = None
        if solver is Solver.FIXED and table.pairs <= MOST_EQUATIONS and not table.contradictory:
            found = fixed_point(table.system())
            self.contradictory = found.contradictory
            self._known = {pair: bounds for pair, bounds in found.by_pair().items() if bounds.most}

    @property
    def certain(self) -> Mapping[tuple[First, Second], Range]:
        if self._known is None:
            return self._table.certain
        return {pair: bounds for pair, bounds in self._known.items() if bounds.least}

    def hottest(self) -> Iterator[_Pair[First, Second]]:
        if self._known is None:
            return self._table.hottest()
        ranked = sorted(self._known.items(), key=lambda each: -each[1].most)
        return ((first, second, bounds) for (first, second), bounds in ranked)

    @property
    def definite(self) -> int:
        if self._known is None:
            return self._table.definite_flow
        return sum(bounds.least for bounds in self._known.values())

    @property
    def potential(self) -> int:
        if self._known is None:
            return self._table.potential_flow
        return sum(bounds.most for bounds in self._known.values())

    @property
    def pairs(self) -> int:
        return self._table.pairs if self._known is None else len(self._known)

    def pairs_with(self, seconds: Collection[Second]) -> int:
        if self._known is None:
            return self._table.pairs_with(seconds)
        return sum(second in seconds for _, second in self._known)

    @property
    def exact(self) -> int:
        if self._known is None:
            return self._table.exact
        return sum(bounds.least == bounds.most for bounds in self._known.values())
