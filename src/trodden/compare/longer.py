"""Longer paths of two runs: those whose bounds show that the runs differ.

As everywhere in comparisons it is shares that are compared, here of the times that a loop was gone around, or
a call made or returned from.  A share has bounds as well; where those of the two runs do not overlap, it has
certainly changed, whatever the counts are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from trodden.compare.pairing import Unpaired, pair
from trodden.profile.longer.model import Crossing, CrossingFlow, LongerPaths, PathPart
from trodden.profile.model import FunctionProfile
from trodden.recover.bounds.system import Range

OTHER_PATHS = "its paths are cut elsewhere in the other profile"
_Parts = tuple[PathPart, PathPart]


@dataclass(frozen=True, slots=True)
class Counted:
    """How often a run executed a longer path, and crossed the same place in all."""

    count: Range
    of: Range

    @property
    def share(self) -> tuple[Fraction, Fraction]:
        """The least and the largest share; nothing if the place was never crossed."""
        if not self.of.most:
            return Fraction(0), Fraction(0)
        least = Fraction(self.count.least, self.of.most)
        return least, min(Fraction(self.count.most, max(self.of.least, 1)), Fraction(1))


@dataclass(frozen=True, slots=True)
class LongerDifference:
    """A longer path in both runs; its functions are named as in the second."""

    crossing: Crossing
    first_part: PathPart
    second_part: PathPart
    first: Counted
    second: Counted

    @property
    def certain(self) -> bool:
        """Whether the runs have certainly executed different shares."""
        return self.gap != 0

    @property
    def certainly_none(self) -> bool:
        """Whether the shares are known, and equal."""
        return self.first.share == self.second.share and self.first.share[0] == self.first.share[1]

    @property
    def gap(self) -> Fraction:
        """By how much the shares differ at least: positive if the second is larger, 0 if they may not."""
        (least, most), (other_least, other_most) = self.first.share, self.second.share
        if other_least > most:
            return other_least - most
        return min(other_most - least, Fraction(0))

    @property
    def alone(self) -> bool:
        """Whether one of the runs certainly never executed it."""
        return not self.first.count.most or not self.second.count.most


@dataclass(frozen=True)
class LongerComparison:
    """The longer paths of two runs compared.

    ``same`` were executed in shares that are known to be equal, of ``unknown`` the bounds overlap.
    ``unpaired`` are functions whose longer paths could not be compared.
    """

    differences: tuple[LongerDifference, ...]
    same: int
    unknown: int
    unpaired: tuple[Unpaired, ...]


def compare_longer(first: LongerPaths, second: LongerPaths) -> LongerComparison:
    """Compare the longer paths of the functions that both profiles have, the hottest differences first."""
    pairs, unpaired = pair(first.functions, second.functions)
    alike = [each for each in pairs if _same_paths(each.first, each.second)]
    keys = {id(function): key for key, function in first.functions.items()}
    sides = (
        _Side(first, {keys[id(each.first)]: each.name for each in alike}),
        _Side(second, {each.name: each.name for each in alike}),
    )
    differences: list[LongerDifference] = []
    same = unknown = 0
    for crossing in dict.fromkeys([*sides[0].flows, *sides[1].flows]):
        if not all(side.tells(crossing) for side in sides):
            continue
        for parts in dict.fromkeys([*sides[0].parts(crossing), *sides[1].parts(crossing)]):
            found = LongerDifference(crossing, *parts, *(side.counted(crossing, parts) for side in sides))
            if found.certain:
                differences.append(found)
            elif found.certainly_none:
                same += 1
            else:
                unknown += 1
    others = [Unpaired(each.name, True, OTHER_PATHS) for each in pairs if each not in alike]
    ranked = sorted(differences, key=partial(_rank, second))
    return LongerComparison(tuple(ranked), same, unknown, (*unpaired, *others))


class _Side:
    """The longer paths of one run, with the functions named as in the second."""

    def __init__(self, longer: LongerPaths, names: Mapping[str, str]) -> None:
        self._paths: dict[Crossing, dict[_Parts, Range]] = {}
        self.flows: dict[Crossing, CrossingFlow] = {}
        for flow in longer.crossings:
            crossing = _renamed(flow.crossing, names)
            if crossing is not None:
                self.flows[crossing] = flow
        for path in longer.paths:
            crossing = _renamed(path.crossing, names)
            if crossing is not None:
                bounds = Range(path.lower, path.upper)
                self._paths.setdefault(crossing, {})[path.first, path.second] = bounds
        self._silent = {
            (each.kind, names[each.function])
            for each in longer.not_told
            if each.nothing and each.function in names
        }

    def tells(self, crossing: Crossing) -> bool:
        """Whether a crossing of which nothing is said was never crossed."""
        if crossing in self.flows:
            return True
        owners = (crossing.function, crossing.callee or crossing.function)
        return not any((kind, key) in self._silent for kind in (None, crossing.kind) for key in owners)

    def parts(self, crossing: Crossing) -> Mapping[_Parts, Range]:
        """What is listed of a crossing."""
        return self._paths.get(crossing, {})

    def counted(self, crossing: Crossing, parts: _Parts) -> Counted:
        """The bounds of a path, listed or not."""
        flow = self.flows.get(crossing)
        if flow is None:
            return Counted(Range(0, 0), Range(0, 0))
        known = self.parts(crossing).get(parts, Range(0, flow.unlisted))
        return Counted(known, Range(flow.least, flow.most))


def _renamed(crossing: Crossing, names: Mapping[str, str]) -> Crossing | None:
    """A crossing by the names of the second profile; none if a function of it cannot be compared."""
    if crossing.function not in names or (crossing.callee or crossing.function) not in names:
        return None
    callee = None if crossing.callee is None else names[crossing.callee]
    return replace(crossing, function=names[crossing.function], callee=callee)


def _rank(longer: LongerPaths, each: LongerDifference) -> tuple[bool, float, str, tuple[int, ...]]:
    """What only one run did first, then by the instructions along it that have changed."""
    times = max(each.first.of.most, each.second.of.most)
    size = longer.instructions_along(each.crossing, each.first_part, each.second_part)
    where = each.crossing.function, each.first_part.blocks + each.second_part.blocks
    return not each.alone, -float(abs(each.gap)) * times * size, *where


def _same_paths(one: FunctionProfile, other: FunctionProfile) -> bool:
    plans = one.facts.plan.paths, other.facts.plan.paths
    return plans[0] is not None and plans[1] is not None and plans[0].same_numbers(plans[1])
