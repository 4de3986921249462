"""What is known of pairs of successive paths, and the bounds that follow (TZG04 §2.2, §3.2).

An interesting path p!q is a pair: p was executed, then q, over a back edge, a call or a return.  Its count is
unknown; sums of such counts were counted.  An overlapping path p!a is such a sum, over all pairs p!q where q
begins with a (equations 2, 3, 15, 16).  Facts of a lower degree are sums of these, so nothing follows from
them that does not follow from the facts of the highest degree: a bound on p!q by the larger sum subtracts
bounds on the smaller sums that are at best equal to those sums.

The paper also has upper bounds for a single pair, such as F_q - E_q (6, 11, 12).  They are sums too: the
pairs p!q with the same q add up to F_q - E_q.  ``facts`` are the sums that the paper uses as such, ``totals``
those that it uses as bounds of each of their members only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

First = TypeVar("First", bound=Hashable)
Second = TypeVar("Second", bound=Hashable)


class Range(NamedTuple):
    """The least and the largest value that a number may have."""

    least: int
    most: int


class Sum(NamedTuple):
    """Some unknowns and the range of their sum."""

    members: tuple[int, ...]
    range: Range


@dataclass(frozen=True)
class System(Generic[First, Second]):
    """Pairs and what is known of their counts: an upper bound of each, and ranges of sums.

    A pair that is not listed was certainly not executed.
    """

    pairs: tuple[tuple[First, Second], ...]
    most: tuple[int, ...]
    facts: tuple[Sum, ...]
    totals: tuple[Sum, ...] = ()

    @property
    def sums(self) -> tuple[Sum, ...]:
        """All sums."""
        return (*self.facts, *self.totals)

    def as_printed(self) -> System[First, Second]:
        """The same without what the paper does not use."""
        return replace(self, totals=())


@dataclass(frozen=True)
class Bounds(Generic[First, Second]):
    """A lower and an upper bound for each pair.

    ``contradictory``: no counts satisfy what was counted, which then is not the whole truth, or was not
    counted by these plans.
    """

    pairs: tuple[tuple[First, Second], ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    contradictory: bool = False

    @property
    def definite_flow(self) -> int:
        """How many executions of pairs there were at least: the sum of the lower bounds."""
        return sum(self.lower)

    @property
    def potential_flow(self) -> int:
        """The sum of the upper bounds."""
        return sum(self.upper)

    @property
    def exact(self) -> int:
        """How many of the pairs have a count that is known exactly."""
        return sum(low == high for low, high in zip(self.lower, self.upper, strict=True))

    def by_pair(self) -> dict[tuple[First, Second], Range]:
        """The bounds of each pair."""
        return {
            pair: Range(low, high) for pair, low, high in zip(self.pairs, self.lower, self.upper, strict=True)
        }


def pair_system(
    facts: Iterable[tuple[Iterable[tuple[First, Second]], Range]],
    firsts: Mapping[First, Range],
    seconds: Mapping[Second, Range],
) -> System[First, Second]:
    """A system of facts and of what is known of all pairs with the same first or second part.

    Pairs whose sum is 0 are left out.
    """
    index: dict[tuple[First, Second], int] = {}
    most: list[int] = []
    sums: list[Sum] = []
    for pairs, known in facts:
        members = []
        for pair in pairs if known.most else ():
            if pair not in index:
                index[pair] = len(index)
                first, second = firsts.get(pair[0], known), seconds.get(pair[1], known)
                most.append(min(known.most, first.most, second.most))
            most[index[pair]] = min(most[index[pair]], known.most)
            members.append(index[pair])
        if members:
            sums.append(Sum(tuple(members), known))
    by_first: dict[First, list[int]] = {}
    by_second: dict[Second, list[int]] = {}
    for pair, number in index.items():
        by_first.setdefault(pair[0], []).append(number)
        by_second.setdefault(pair[1], []).append(number)
    totals = [Sum(tuple(by_first[part]), known) for part, known in firsts.items() if part in by_first]
    totals += [Sum(tuple(by_second[part]), known) for part, known in seconds.items() if part in by_second]
    return System(tuple(index), tuple(most), tuple(sums), tuple(totals))


def bounds_of(
    system: System[First, Second], lower: Sequence[int], upper: Sequence[int], contradictory: bool
) -> Bounds[First, Second]:
    """Bounds for the pairs of a system."""
    return Bounds(system.pairs, tuple(lower), tuple(upper), contradictory)
