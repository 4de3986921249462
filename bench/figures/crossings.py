"""What a profile of overlapping paths knows of each back edge, call and return, at any lower degree too.

A crossing has sums over rows and columns of pairs: what was done before it, and what was done behind it.  A
degree says how far what was behind it is known together with what was before; with -1 only the paths are
known and how often it was crossed (TZG04 §2.2, §3.2).  Parts that were cut short, because the program ended
or an exception left the function, are no paths here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, Literal, TypeAlias

from trodden.plan.overlapping.calls import CallNumbering, entry_numbers, return_numbers
from trodden.plan.overlapping.loops import LoopNest, largest_degree
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath, numbering_of_plan
from trodden.plan.overlapping.protocol import plain_dag
from trodden.plan.overlapping.region import Owner, Ways
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.routes import PathEnd, Route
from trodden.profile.crossings import Crossings, SiteCrossings
from trodden.profile.model import Profile
from trodden.program.facts import UnitFacts
from trodden.recover.bounds.calls import CallFacts, Part
from trodden.recover.bounds.loops import LoopFacts, LoopReading, loop_facts, loop_margins
from trodden.recover.bounds.margins import Margins
from trodden.recover.bounds.system import First, Range
from trodden.recover.crossings import Numbered
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.overlaps import overlapping_counts
from trodden.recover.unit import RecoveredFunction, recover_unit
from trodden.recover.unit_counts import UnitCounts

Kind: TypeAlias = Literal["loop", "call", "return"]
KINDS: tuple[Kind, ...] = ("loop", "call", "return")

ONLY_PATHS = -1
"""The degree of a profile without overlaps."""

Tables: TypeAlias = "list[Margins[Any, Any]]"


@dataclass(frozen=True)
class Crossed:
    """A crossing: how often it was crossed, the largest degree of its overlaps, and its sums by degree."""

    kind: Kind
    times: int
    largest: int
    tables: Callable[[int | None], Tables]


class Function:
    """A function whose paths were counted."""

    def __init__(self, unit: UnitFacts, number: int, counts: UnitCounts) -> None:
        self.facts = unit.functions[number]
        self.graph = self.facts.graph
        self.plan = self.facts.plan
        self._unit, self._number, self._counts = unit, number, counts
        self._call_numbers: dict[tuple[bool, int | None], CallNumbering] = {}

    @cached_property
    def counted(self) -> FunctionCounts:
        """Its counters."""
        ((_, found),) = self._counts.functions(self._unit, {self._number})
        return found

    @cached_property
    def recovered(self) -> RecoveredFunction:
        """All its counts."""
        (found,) = recover_unit(self._unit, self._counts, only={self._number})
        return found

    @cached_property
    def routes(self) -> dict[Route, int]:
        """Its paths that were not cut short, and how often each was executed."""
        found: Counter[Route] = Counter()
        for path in self.recovered.paths or ():
            if len(path.edges) == len(path.blocks) and path.count > 0:
                found[Route(path.blocks, path.edges, path.starts, path.ends)] += path.count
        return dict(found)

    @cached_property
    def cut_short(self) -> dict[Route, int]:
        """Those that were."""
        found: Counter[Route] = Counter()
        for path in self.recovered.paths or ():
            if len(path.edges) < len(path.blocks) and path.count > 0:
                found[Route(path.blocks, path.edges, path.starts, path.ends)] += path.count
        return dict(found)

    @cached_property
    def numbering(self) -> Numbering:
        """The numbers of its paths."""
        return numbering_of_plan(self.graph, self.plan, LARGEST)

    @cached_property
    def ways(self) -> Ways:
        """The edges out of each block."""
        return Ways(plain_dag(self.numbering))

    @cached_property
    def nest(self) -> LoopNest:
        """Its loops."""
        numbering = self.numbering
        return numbering.nest if isinstance(numbering, OverlapNumbering) else LoopNest(self.graph)

    @cached_property
    def overlaps(self) -> Mapping[OverlappingPath, int]:
        """Its paths with what is known of the one that followed."""
        if isinstance(self.numbering, OverlapNumbering):
            return overlapping_counts(self.graph, self.plan, self.counted, self.numbering)
        return {OverlappingPath(route): count for route, count in self.routes.items()}

    def loops(self, degree: int | None) -> Mapping[int, LoopFacts]:
        """What is known of its loops, by header."""
        if isinstance(self.numbering, OverlapNumbering):
            return loop_facts(self.numbering, self.overlaps, self.cut_short, degree)
        assert self.plan.paths is not None
        reading = LoopReading(self.ways.dag, self.plan.paths, self.nest)
        for path, count in self.overlaps.items():
            reading.add(path, count)
        for route, count in self.cut_short.items():
            reading.add_start(route, count)
        return reading.facts

    def largest_of_loop(self, header: int) -> int:
        """The largest degree that an overlap over its back edges can have."""
        return largest_degree(self.ways, self.nest.owner(self.ways.dag, header, None))

    @cached_property
    def largest_of_calls(self) -> int:
        """The same of one that begins at its entry; none behind a call can be longer."""
        return largest_degree(self.ways, Owner(self.graph.root, 1, None, lambda _: True))

    def call_numbers(self, returned: bool, degree: int | None) -> CallNumbering:
        """The numbers of overlaps behind its calls, or from its entry on."""
        if (returned, degree) not in self._call_numbers:
            calls = self.plan.calls
            assert calls is not None
            calls = replace(calls, entered=degree, returned=degree)
            self._call_numbers[returned, degree] = (
                return_numbers(self.plan, self.numbering, calls)
                if returned
                else entry_numbers(self.numbering, calls)
            )
        return self._call_numbers[returned, degree]

    def ended(self, where: PathEnd) -> int:
        """How often its paths ended like this."""
        return sum(count for route, count in self.routes.items() if route.ends is where)

    @property
    def self_loops(self) -> int:
        """How often it took edges from a block to itself, which end no paths."""
        edges = enumerate(self.graph.edges)
        return sum(self.recovered.edges[number] or 0 for number, edge in edges if edge.src == edge.dst)


class Functions:
    """All functions of a profile whose paths were counted, and what they cross."""

    def __init__(self, profile: Profile) -> None:
        counts = {each.unit: each for each in profile.unit_counts}
        self.by_number: dict[Numbered, Function] = {
            (unit.id, number): Function(unit, number, counts[unit.id])
            for unit in profile.units
            for number, facts in enumerate(unit.functions)
            if facts.plan.paths is not None and unit.id in counts
        }
        self._crossings = Crossings(profile)

    @cached_property
    def executed(self) -> list[Function]:
        """Those of which a path was executed."""
        return [each for each in self.by_number.values() if each.routes or each.cut_short]

    def crossed(self) -> Iterator[Crossed]:
        """Everything that was crossed."""
        for function in self.executed:
            yield from _loops(function)
        for site in self._crossings.sites:
            owner = site.in_caller if site.returned else site.in_callee
            yield _call(self._crossings, site, self.by_number[owner])


def _loops(function: Function) -> Iterator[Crossed]:
    by_degree: dict[int | None, Mapping[int, LoopFacts]] = {None: function.loops(None)}

    def tables(header: int, degree: int | None) -> Tables:
        if degree not in by_degree:
            # One degree after the other is asked for; each is read once, and then dropped.
            by_degree.clear()
            by_degree[degree] = function.loops(degree)
        return loop_margins(function.ways, by_degree[degree][header])

    for header, facts in by_degree[None].items():
        if facts.crossings:
            largest = function.largest_of_loop(header)
            yield Crossed("loop", facts.real_flow, largest, partial(tables, header))


def _call(crossings: Crossings, site: SiteCrossings, owner: Function) -> Crossed:
    """The calls of one callee at one call site, or their returns; ``owner`` has the part behind them."""
    block = site.site.block if site.returned else owner.graph.root
    known = cache(lambda: replace(crossings.facts(site), missing=0))

    def tables(degree: int | None) -> Tables:
        facts = known()
        if degree is None:
            return facts.margins()
        if degree < 0:
            return [_by_counts(facts, site.times)]
        numbers = owner.call_numbers(site.returned, degree)
        overlaps: Counter[tuple[Route, Part]] = Counter()
        for (first, part), count in facts.overlaps.items():
            overlaps[first, numbers.beginning(block, part)] += count
        return replace(facts, overlaps=overlaps, beginning=partial(numbers.beginning, block)).margins()

    return Crossed("return" if site.returned else "call", site.times, owner.largest_of_calls, tables)


def _by_counts(facts: CallFacts, times: int) -> Margins[Route, Part]:
    """What follows from the counts of both parts and from how often the call was made."""
    return Margins(
        _of_so_many(facts.firsts, times, facts.bounded),
        _of_so_many(facts.seconds, times),
        Range(times, times),
    )


def _of_so_many(counts: Mapping[First, int], times: int, bounded: bool = True) -> dict[First, Range]:
    """How often each part was at a crossing that was crossed so many times."""
    elsewhere = max(sum(counts.values()) - times, 0)
    if not bounded:
        return {part: Range(0, times) for part in counts}
    return {part: Range(max(count - elsewhere, 0), min(count, times)) for part, count in counts.items()}
