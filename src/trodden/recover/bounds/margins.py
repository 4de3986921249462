"""Bounds of pairs of which only sums over rows and columns are known, without listing the pairs.

The facts of a loop or a call fall apart into tables: an overlapping path p!a says how many pairs p!q begin
with p and go on like a, and the starts of q how many end with it.  In one table are all q that begin with the
same a; each p is a row, each q a column, and every pair is possible.  So there may be as many pairs as rows
times columns: for a function with a million paths too many to look at.

The least and the largest count of each pair still follow at once, as a flow from rows to columns (Hoffman's
theorem, in which all cuts but a few cross an unlimited pair): these are the bounds that linear programs find
(:mod:`trodden.recover.bounds.linear`), and where the sums are exact the fixed point of the paper's equations
finds them too.  An upper bound is the smaller of a number of the row and one of the column, so that pairs
are found in the order of their upper bounds.  A lower bound is positive where row and column have more than
half of everything between them: of no more pairs than there are rows and columns, for each of four reasons.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from typing import Generic

from trodden.recover.bounds.system import First, Range, Second, System, pair_system


@dataclass(frozen=True)
class Margins(Generic[First, Second]):
    """The range of the sum of each row, of each column, and of everything, if more is known of that."""

    rows: Mapping[First, Range]
    columns: Mapping[Second, Range]
    total: Range | None = None

    @cached_property
    def _sums(self) -> tuple[Range, Range, Range]:
        """The sums of all rows and of all columns, and the total."""
        rows, columns = _sum(self.rows.values()), _sum(self.columns.values())
        least, most = max(rows.least, columns.least), min(rows.most, columns.most)
        if self.total is not None:
            least, most = max(least, self.total.least), min(most, self.total.most)
        return rows, columns, Range(least, most)

    @property
    def sum(self) -> Range:
        """How often all pairs together were executed."""
        return self._sums[2]

    @property
    def contradictory(self) -> bool:
        """Whether no counts have these sums."""
        return self.sum.least > self.sum.most

    def bounds(self, first: First, second: Second) -> Range:
        """The least and the largest count of a pair."""
        row, column = self.rows[first], self.columns[second]
        reasons = zip(self._low_row(row), self._low_column(column), strict=True)
        low = max(0, *(add + other for add, other in reasons))
        return Range(low, min(self._high_row(row), self._high_column(column)))

    def _high_row(self, row: Range) -> int:
        rows, _, total = self._sums
        return max(min(row.most, total.most - (rows.least - row.least)), 0)

    def _high_column(self, column: Range) -> int:
        _, columns, total = self._sums
        return max(min(column.most, total.most - (columns.least - column.least)), 0)

    def _low_row(self, row: Range) -> tuple[int, int, int, int]:
        """What a row adds to each of four lower bounds: of the column, of both, of the total, of the row."""
        rows, columns, total = self._sums
        return (
            row.most - rows.most,
            row.least,
            total.least - rows.most + row.most,
            row.least - columns.most,
        )

    def _low_column(self, column: Range) -> tuple[int, int, int, int]:
        _, columns, total = self._sums
        return (
            column.least,
            column.least - total.most,
            column.most - columns.most,
            column.most,
        )

    @cached_property
    def _sorted(self) -> tuple[list[tuple[int, First]], list[tuple[int, Second]]]:
        """Rows and columns that have pairs, by what they allow these at most; the largest first."""
        return (
            [each for each in _descending(self.rows, self._high_row) if each[0] > 0],
            [each for each in _descending(self.columns, self._high_column) if each[0] > 0],
        )

    def hottest(self) -> Iterator[tuple[First, Second, Range]]:
        """All pairs that may have been executed, those with the largest upper bounds first."""
        rows, columns = self._sorted
        if not rows or not columns:
            return
        frontier = [(-min(rows[0][0], columns[0][0]), 0, 0)]
        while frontier:
            _, row, column = heapq.heappop(frontier)
            first, second = rows[row][1], columns[column][1]
            yield first, second, self.bounds(first, second)
            if column + 1 < len(columns):
                heapq.heappush(frontier, (-min(rows[row][0], columns[column + 1][0]), row, column + 1))
            if not column and row + 1 < len(rows):
                heapq.heappush(frontier, (-min(rows[row + 1][0], columns[0][0]), row + 1, 0))

    @cached_property
    def certain(self) -> dict[tuple[First, Second], Range]:
        """The pairs that were certainly executed."""
        found: dict[tuple[First, Second], Range] = {}
        for reason in range(4):
            rows = _descending(self.rows, partial(_nth, self._low_row, reason))
            columns = _descending(self.columns, partial(_nth, self._low_column, reason))
            for add, first in rows:
                if not columns or add + columns[0][0] <= 0:
                    break
                for other, second in columns:
                    if add + other <= 0:
                        break
                    found[first, second] = self.bounds(first, second)
        return found

    @property
    def definite_flow(self) -> int:
        """The sum of all lower bounds."""
        return sum(bounds.least for bounds in self.certain.values())

    @property
    def potential_flow(self) -> int:
        """The sum of all upper bounds."""
        rows, columns = ([high for high, _ in reversed(part)] for part in self._sorted)
        up_to = [0, *accumulate(columns)]
        total = 0
        for high in rows:
            smaller = bisect_right(columns, high)
            total += up_to[smaller] + high * (len(columns) - smaller)
        return total

    @property
    def pairs(self) -> int:
        """How many pairs may have been executed."""
        rows, columns = self._sorted
        return len(rows) * len(columns)

    def pairs_with(self, seconds: Collection[Second]) -> int:
        """How many of these have one of some second parts."""
        rows, columns = self._sorted
        return len(rows) * sum(second in seconds for _, second in columns)

    @property
    def exact(self) -> int:
        """Of how many of these the count is known exactly."""
        return sum(bounds.least == bounds.most for bounds in self.certain.values())

    def system(self) -> System[First, Second]:
        """The same with all pairs listed, for the equations of the paper."""
        rows, columns = self._sorted
        seconds = [second for _, second in columns]
        facts = [([(first, second) for second in seconds], self.rows[first]) for _, first in rows]
        if self.total is not None:
            facts.append(([(first, second) for _, first in rows for second in seconds], self.total))
        return pair_system(facts, {}, {second: self.columns[second] for second in seconds})


def _sum(ranges: Iterable[Range]) -> Range:
    known = list(ranges)
    return Range(sum(each.least for each in known), sum(each.most for each in known))


def _descending(parts: Mapping[First, Range], number: Callable[[Range], int]) -> list[tuple[int, First]]:
    """Parts with a number of each, the largest first."""
    return sorted(((number(known), part) for part, known in parts.items()), key=lambda each: -each[0])


def _nth(numbers: Callable[[Range], tuple[int, ...]], reason: int, known: Range) -> int:
    return numbers(known)[reason]
