"""What a profile knows of paths over calls and returns: for each call site and callee what was counted.

The two parts of what was counted may belong to different units.  :class:`Crossings` finds the functions,
decodes the numbers, and gives the equations of which bounds follow (:mod:`trodden.recover.bounds.calls`).

*What is missing.*  A part that is cut short, because a callee ends the program or an exception leaves the
function, is not counted, nor is one for which there were no counters left.  How many these may be is known
from the paths that were cut short and the calls that were made, and every sum may be larger by so many; so
bounds hold in any case.  Calls of which it is not known who was called, or who called, are no pairs:
:attr:`Crossings.unknown_calls` and :attr:`Crossings.unknown_entries` say how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from trodden.errors import BadFile
from trodden.plan.overlap_probes import CallOverlaps, CallSite
from trodden.plan.overlapping.calls import entry_numbers, return_numbers
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.routes import PathCount, PathEnd, PathStart, Route
from trodden.profile.call_paths import function_names
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.recover.bounds.calls import (
    CallFacts,
    Crossing,
    Executed,
    entered_facts,
    entered_pairs,
    returned_facts,
    returned_pairs,
)
from trodden.recover.crossings import NOT_COUNTED, Numbered, inherited
from trodden.recover.unit import RecoveredFunction, recover_unit


@dataclass(frozen=True)
class SiteCrossings:
    """What was counted over the calls of one callee at one call site: before them (type I), or ``returned``
    (type II).

    ``caller`` and ``callee`` are names in the profile; ``in_caller`` and ``in_callee`` say where the
    functions are: a unit, and an index in it.  ``crossings`` are the counts; so many more may be ``missing``.
    """

    returned: bool
    caller: str
    callee: str
    in_caller: Numbered
    in_callee: Numbered
    site: CallSite
    crossings: tuple[Crossing, ...]
    missing: int = 0

    @property
    def times(self) -> int:
        """How many calls were counted."""
        return sum(each.times for each in self.crossings)


def _rank(each: SiteCrossings) -> tuple[int, str, int, str, bool]:
    return -each.times, each.caller, each.site.site, each.callee, each.returned


def _cut_short(path: PathCount) -> bool:
    """Whether a path was cut short; one that ends in front of a call which never returns has been counted."""
    return path.ends is PathEnd.UNWOUND and len(path.edges) < len(path.blocks) and path.count > 0


class Crossings:
    """The paths over calls and returns of a profile."""

    def __init__(self, profile: Profile) -> None:
        self._units = {unit.id: unit for unit in profile.units}
        self._counted = {each.unit: each for each in profile.unit_counts}
        self._names = function_names(profile)
        self._where = profile.program
        self._numberings: dict[Numbered, Numbering] = {}
        self._executed: dict[Numbered, RecoveredFunction] = {}
        self._not_counted: set[tuple[bool, Numbered, Numbered]] = set()

    @cached_property
    def sites(self) -> tuple[SiteCrossings, ...]:
        """All call sites, each with one of its callees; those with most calls first.

        A callee, or a caller, that is in no unit of the profile is left out; its calls are unknown.
        """
        found: dict[tuple[bool, Numbered, Numbered], list[Crossing]] = {}
        for counted in self._counted.values():
            for key, times in counted.crossings.items():
                if key.callee[0] in self._units and key.site[0] in self._units:
                    if key == inherited(key.callee):
                        continue
                    if key.in_callee == NOT_COUNTED:
                        self._not_counted.add(key[:3])
                        found.setdefault(key[:3], [])
                        continue
                    crossing = Crossing(key.in_callee, key.in_caller, times)
                    found.setdefault(key[:3], []).append(crossing)
        each = [self._site(*where, crossings) for where, crossings in found.items()]
        return tuple(sorted(each, key=_rank))

    @cached_property
    def unknown_calls(self) -> Mapping[tuple[Numbered, CallSite], int]:
        """For each call site how often it called code without probes, or nobody knows whom."""
        known: Counter[tuple[Numbered, CallSite]] = Counter()
        for each in self.sites:
            if not each.returned:
                known[each.in_caller, each.site] += each.times
        found: dict[tuple[Numbered, CallSite], int] = {}
        for unit in self._units.values():
            for function, site in unit.crossed.values():
                where = (unit.id, function), site
                calls = self._calls(*where)
                if calls > known[where]:
                    found[where] = calls - known[where]
        return found

    @cached_property
    def unknown_entries(self) -> Mapping[Numbered, int]:
        """For each function how often it was entered by code without probes, or nobody knows from where."""
        known: Counter[Numbered] = Counter()
        for each in self.sites:
            if not each.returned:
                known[each.in_callee] += each.times
        found: dict[Numbered, int] = {}
        for unit in self._units.values():
            for number, facts in enumerate(unit.functions):
                if facts.plan.calls is not None:
                    entries = self._recovered((unit.id, number)).edges[facts.graph.closing] or 0
                    if entries > known[unit.id, number]:
                        found[unit.id, number] = entries - known[unit.id, number]
        return found

    def name(self, function: Numbered) -> str:
        """The name of a function in the profile."""
        return self._names[function]

    def plan(self, at: SiteCrossings) -> CallOverlaps:
        """What was counted there: by the code of the second part."""
        calls = self._facts(at.in_caller if at.returned else at.in_callee).plan.calls
        assert calls is not None
        return calls

    def facts(self, at: SiteCrossings) -> CallFacts:
        """What is known of the pairs of a prefix in the caller and a path of the callee; or of a path of the
        callee and what the caller did then.

        Where whole paths were counted in pairs they are known, but for those that are missing.
        """
        caller, callee = self._done(at.in_caller), self._done(at.in_callee)
        own = at.in_caller if at.returned else at.in_callee
        plan = self._facts(own).plan
        assert plan.calls is not None
        numbering, calls = self._numbering(own), plan.calls
        if not calls.extended:
            calls = replace(calls, entered=None, returned=None)
        of_pairs, of_overlaps = (
            (returned_pairs, returned_facts) if at.returned else (entered_pairs, entered_facts)
        )
        facts = of_overlaps if calls.extended else of_pairs
        try:
            numbers = (
                return_numbers(plan, numbering, calls) if at.returned else entry_numbers(numbering, calls)
            )
            return facts(at.crossings, at.site, caller, callee, numbers, at.missing)
        except ValueError as error:
            raise BadFile(f"{self._where}: corrupt: {error}") from error

    def _site(
        self, returned: bool, callee: Numbered, at: Numbered, crossings: list[Crossing]
    ) -> SiteCrossings:
        function, site = self._units[at[0]].crossed[at[1]]
        caller = at[0], function
        missing = self._missing_behind(caller, site) if returned else self._missing_in(callee)
        if (returned, callee, at) in self._not_counted:
            missing += self._calls(caller, site)
        return SiteCrossings(
            returned,
            self._names[caller],
            self._names[callee],
            caller,
            callee,
            site,
            tuple(sorted(crossings)),
            missing,
        )

    def _missing_in(self, callee: Numbered) -> int:
        """How many first paths of a function were cut short."""
        paths = self._recovered(callee).paths or ()
        return sum(path.count for path in paths if path.starts is PathStart.ENTRY and _cut_short(path))

    def _missing_behind(self, caller: Numbered, site: CallSite) -> int:
        """How many paths that lead on from a call were cut short."""
        paths = self._recovered(caller).paths or ()
        return sum(path.count for path in paths if site.block in path.blocks[:-1] and _cut_short(path))

    def _calls(self, caller: Numbered, site: CallSite) -> int:
        """How often a call was made."""
        return self._recovered(caller).blocks[site.block]

    def _facts(self, at: Numbered) -> FunctionFacts:
        return self._units[at[0]].functions[at[1]]

    def _recovered(self, at: Numbered) -> RecoveredFunction:
        if at not in self._executed:
            unit: UnitFacts = self._units[at[0]]
            numbers = [n for n, function in enumerate(unit.functions) if function.plan.calls is not None]
            for number, found in zip(
                sorted(numbers), recover_unit(unit, self._counted[at[0]], only=set(numbers)), strict=True
            ):
                self._executed[at[0], number] = found
        return self._executed[at]

    def _numbering(self, at: Numbered) -> Numbering:
        if at not in self._numberings:
            facts = self._facts(at)
            assert facts.plan.paths is not None
            self._numberings[at] = (
                Numbering(facts.graph, facts.plan.paths, LARGEST)
                if facts.plan.overlaps is None
                else OverlapNumbering(facts.graph, facts.plan.paths, facts.plan.overlaps, LARGEST)
            )
        return self._numberings[at]

    def _done(self, at: Numbered) -> Executed:
        """The paths of a function, whole or cut short; counts of inherited frames may be negative."""
        paths: Counter[Route] = Counter()
        for path in self._recovered(at).paths or ():
            paths[Route(path.blocks, path.edges, path.starts, path.ends)] += path.count
        calls = self._facts(at).plan.calls
        executed = {path: count for path, count in paths.items() if count > 0}
        more = self._counted[at[0]].crossings.get(inherited(at), 0)
        return Executed(self._numbering(at), executed, calls.sites if calls is not None else (), more)
