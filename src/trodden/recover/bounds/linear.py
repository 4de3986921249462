"""The tightest bounds that what was counted allows, by linear programming.

The bounds of :mod:`trodden.recover.bounds.fixed_point` look at one sum at a time.  Here each pair is
minimised and maximised subject to all sums together.  Facts lie inside the sums of their first parts, and the
sums of second parts are disjoint: a matrix of two such families is totally unimodular, so that the answers
are whole numbers, which whole counts that satisfy all sums reach.

Pairs that are linked by no sum do not constrain each other.  What a single sum allows the fixed point has
found already, so only groups of pairs that are linked by several sums are solved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from trodden.errors import UsageError
from trodden.graph.unionfind import UnionFind
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.system import Bounds, First, Second, Sum, System, bounds_of

_WITHIN = 1e-5
"""The solver works with tolerances; whole numbers are recovered from what is this close to them."""

_LARGEST = 2**40
"""Counts above this are not solved for: a float would not hold them with a tolerance."""


def tightest_bounds(system: System[First, Second]) -> Bounds[First, Second]:
    """The smallest and the largest count of each pair, by HiGHS."""
    known = fixed_point(system)
    if known.contradictory:
        return known
    lower, upper = list(known.lower), list(known.upper)
    open_pairs = [pair for pair in range(len(lower)) if lower[pair] < upper[pair]]
    open_set = set(open_pairs)
    sums = [each for each in system.sums if open_set.intersection(each.members)]
    for part in _linked(len(lower), sums):
        wanted = [pair for pair in part.pairs if pair in open_set]
        if len(part.sums) == 1 or max(upper[pair] for pair in wanted) > _LARGEST:
            continue
        program = _Program(part.pairs, part.sums, lower, upper)
        for pair in wanted:
            low, high = program.least(pair), program.most(pair)
            if low is None or high is None:
                return bounds_of(system, known.lower, known.upper, contradictory=True)
            lower[pair] = max(lower[pair], math.ceil(low - _WITHIN))
            upper[pair] = min(upper[pair], math.floor(high + _WITHIN))
    return bounds_of(system, lower, upper, contradictory=False)


class _Part:
    """Pairs that are linked by sums."""

    def __init__(self) -> None:
        self.pairs: list[int] = []
        self.sums: list[Sum] = []


def _linked(pairs: int, sums: Sequence[Sum]) -> list[_Part]:
    groups = UnionFind(pairs)
    for each in sums:
        for member in each.members[1:]:
            groups.union(each.members[0], member)
    parts: dict[int, _Part] = {}
    for each in sums:
        parts.setdefault(groups.find(each.members[0]), _Part()).sums.append(each)
    for pair in range(pairs):
        part = parts.get(groups.find(pair))
        if part is not None:
            part.pairs.append(pair)
    return list(parts.values())


class _Program:
    """A linear program whose objective is one pair after the other."""

    def __init__(
        self, pairs: Sequence[int], sums: Sequence[Sum], lower: Sequence[int], upper: Sequence[int]
    ) -> None:
        try:
            import highspy
        except ImportError:
            raise UsageError(
                "the tightest bounds need HiGHS; install it with: pip install 'trodden[optimum]'"
            ) from None
        self._column = {pair: position for position, pair in enumerate(pairs)}
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._minimise, self._maximise = highspy.ObjSense.kMinimize, highspy.ObjSense.kMaximize
        make_model: Any = highspy.Highs
        self._model = make_model()
        self._model.setOptionValue("output_flag", False)
        self._model.setOptionValue("threads", 1)
        for pair in pairs:
            self._model.addCol(0.0, float(lower[pair]), float(upper[pair]), 0, [], [])
        for members, (least, most) in sums:
            columns = sorted(self._column[member] for member in members)
            self._model.addRow(float(least), float(most), len(columns), columns, [1.0] * len(columns))

    def least(self, pair: int) -> float | None:
        """The smallest value of a pair; ``None`` if there is none."""
        return self._solve(pair, self._minimise)

    def most(self, pair: int) -> float | None:
        """The largest value."""
        return self._solve(pair, self._maximise)

    def _solve(self, pair: int, sense: object) -> float | None:
        column = self._column[pair]
        self._model.changeColCost(column, 1.0)
        self._model.changeObjectiveSense(sense)
        self._model.run()
        solved = self._model.getModelStatus() == self._optimal
        value = float(self._model.getSolution().col_value[column])
        self._model.changeColCost(column, 0.0)
        return value if solved else None
