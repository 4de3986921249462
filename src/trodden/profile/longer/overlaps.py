"""Longer paths from overlapping paths, and over calls from pairs of paths too (TZG04 §2.2, §3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trodden.plan.overlap_probes import CallOverlaps
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.profile.call_paths import function_names
from trodden.profile.crossings import Crossings
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.listing import bounded_paths
from trodden.profile.longer.loops import Found, loops_read
from trodden.profile.longer.model import (
    Crossing,
    LongerKind,
    NotTold,
    PathPart,
    Solver,
    Source,
    part_of,
)
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts
from trodden.recover.bounds.calls import CallFacts, Part
from trodden.recover.bounds.loops import LoopReading
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.overlaps import overlapping_counts


@dataclass(frozen=True)
class Extended:
    """A copy of a function whose paths were extended over back edges, or counted in tuples; its counts."""

    facts: FunctionFacts
    counted: FunctionCounts


def extended_functions(profile: Profile) -> dict[str, list[Extended]]:
    """The functions with overlapping paths or tuples of paths, all copies of each."""
    names = function_names(profile)
    found: dict[str, list[Extended]] = {}
    for unit, counted in zip(profile.units, profile.unit_counts, strict=False):
        numbers = {
            number
            for number, each in enumerate(unit.functions)
            if each.plan.overlaps is not None or each.plan.tuples is not None
        }
        if numbers:
            for number, own in counted.functions(unit, numbers):
                found.setdefault(names[unit.id, number], []).append(Extended(unit.functions[number], own))
    return found


def extended_loops_of(
    own: FunctionPaths, copies: Sequence[Extended], ends: Ends, solver: Solver, most: int
) -> Iterator[Found | NotTold]:
    """The longer paths of the loops of a function some of whose paths were extended.

    Copies may have been extended by different degrees: then what all of them tell is used.
    """
    degrees: dict[int, int | None] = {}
    for number, copy in enumerate(copies):
        assert copy.facts.plan.overlaps is not None
        others = dict(copy.facts.plan.overlaps.degrees)
        if number:
            others = {
                header: _lower(degrees[header], others[header]) for header in degrees if header in others
            }
        degrees = others
    reading = LoopReading(own.ways.dag, own.paths, own.nest, degrees)
    for copy in copies:
        plan = copy.facts.plan
        assert plan.paths is not None
        assert plan.overlaps is not None
        numbering = OverlapNumbering(own.graph, plan.paths, plan.overlaps)
        for found, count in overlapping_counts(own.graph, plan, copy.counted, numbering).items():
            reading.add(found, count)
    for route, count in own.routes():
        if route.ends is PathEnd.UNWOUND:
            reading.add_start(route, count)
    yield from loops_read(own, reading, Source.OVERLAPS, ends, solver, most)


def _lower(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


class CountedCalls:
    """The longer paths over calls that were counted, by overlaps or in pairs."""

    def __init__(self, profile: Profile, everything: Mapping[str, FunctionPaths], ends: Ends) -> None:
        self._everything = everything
        self._ends = ends
        self._crossings = Crossings(profile)
        names = function_names(profile)
        self.functions = frozenset(
            names[unit.id, number]
            for unit in profile.units
            for number, facts in enumerate(unit.functions)
            if facts.plan.calls is not None
        )

    def of(self, chosen: Collection[str], solver: Solver, most: int) -> Iterator[Found | NotTold]:
        """Those of calls by or of one of the chosen functions."""
        merged: dict[tuple[Crossing, CallOverlaps], CallFacts] = {}
        for at in self._crossings.sites:
            if at.caller not in self._everything or at.callee not in self._everything:
                continue
            if at.caller in chosen or at.callee in chosen:
                kind = LongerKind.RETURN if at.returned else LongerKind.CALL
                crossing = Crossing(kind, at.caller, at.callee, at.site.block)
                plan = replace(self._crossings.plan(at), sites=())
                facts = self._crossings.facts(at)
                known = merged.get((crossing, plan))
                merged[crossing, plan] = facts if known is None else _joined(known, facts)
        for (crossing, plan), facts in merged.items():
            yield self._over(crossing, plan, facts, solver, most)
        yield from self._untold(chosen)

    def _over(
        self, crossing: Crossing, plan: CallOverlaps, facts: CallFacts, solver: Solver, most: int
    ) -> Found | NotTold:
        other = self._everything[crossing.owners[1]]
        returns = crossing.kind is LongerKind.RETURN
        start = crossing.site if returns else other.graph.root

        def second(edges: Part) -> PathPart:
            return part_of(other.graph, start, edges, None if returns else PathStart.ENTRY)

        source = Source.PAIRS if plan.paired else Source.OVERLAPS
        degree = plan.returned if returns else plan.entered
        found = bounded_paths(
            crossing,
            facts.margins(),
            (_first, second),
            self._ends.of(crossing),
            source,
            solver,
            most,
            None if plan.paired else degree,
        )
        label = self._everything[crossing.function].graph.labels[crossing.site]
        reason = f"the counts over its call of {crossing.callee} at {label} contradict each other"
        return found or NotTold(crossing.kind, crossing.function, reason, nothing=True)

    def _untold(self, chosen: Collection[str]) -> Iterator[NotTold]:
        """Calls that lead to code without probes, or to nobody knows whom."""
        calls: Counter[str] = Counter()
        for (function, _), times in self._crossings.unknown_calls.items():
            calls[self._crossings.name(function)] += times
        for key, times in calls.most_common():
            if key in chosen:
                yield NotTold(
                    LongerKind.CALL, key, f"{times:,} calls led to code without probes, or were not counted"
                )


def _joined(one: CallFacts, other: CallFacts) -> CallFacts:
    """What two copies of a caller, or of a callee, have counted together."""
    return CallFacts(
        Counter(one.overlaps) + Counter(other.overlaps),
        Counter(one.firsts) + Counter(other.firsts),
        Counter(one.seconds) + Counter(other.seconds),
        one.beginning,
        one.missing + other.missing,
        one.bounded and other.bounded,
        one.inherited + other.inherited,
    )


def _first(route: Route) -> PathPart:
    return PathPart(route.blocks, route.edges[: len(route.blocks) - 1], route.starts)
