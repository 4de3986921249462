"""Paths over calls and returns, from a profile of paths alone (TZG04 §3.2, equations 9 to 14).

How often a call was made follows from the paths through its block, and how often each path of the callee was
executed is known.  If the callee is called from nowhere else, its paths all follow one of these calls; if it
is, as many of them may follow the other calls as there are.

What a caller did behind a call is followed up to its next call of a function with probes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from trodden.plan.overlapping.loop_paths import up_to_degree
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.profile.longer.call_sites import CallIn, may_be_left
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.listing import bounded_paths
from trodden.profile.longer.loops import Found
from trodden.profile.longer.model import (
    Crossing,
    LongerKind,
    NotTold,
    PathPart,
    Solver,
    Source,
    part_of,
)
from trodden.program.facts import BranchKind
from trodden.recover.bounds.margins import Margins
from trodden.recover.bounds.system import Range


def calls_of(
    ends: Ends,
    everything: Mapping[str, FunctionPaths],
    chosen: Collection[str],
    counted: Collection[str],
    solver: Solver,
    most: int,
) -> Iterator[Found | NotTold]:
    """The longer paths over each call that was made by, or of, one of the chosen functions.

    Between two functions of ``counted`` longer paths were counted.
    """
    known = {key: _Called(own) for key, own in everything.items()}
    for key, own in everything.items():
        if own.function.violations:
            continue
        sites = [site for site in ends.callees.calls(own.function) if own.function.block_counts[site.block]]
        pointers = sum(own.function.counted_blocks[site.block] for site in sites if site.pointer)
        if pointers and key in chosen:
            what = f"{pointers:,} calls lead through pointers, and paths do not say to whom"
            yield NotTold(LongerKind.CALL, key, what)
        calling = _Calling(own, ends.callees.calling(key))
        left = 0
        for site in sites:
            if site.last and not site.pointer and not ends.callees.comes_back(key, site.block):
                left += own.function.counted_blocks[site.block]
                continue
            callee = known.get(site.callee or "")
            if key in counted and site.callee in counted:
                continue
            if callee is None or not (key in chosen or site.callee in chosen):
                continue
            if callee.own.function.violations:
                continue
            yield from _over(calling, site, callee, ends, solver, most)
        if left and key in chosen:
            yield NotTold(LongerKind.CALL, key, f"{left:,} calls may be jumps, or do not return")


def _over(
    calling: _Calling, site: CallIn, callee: _Called, ends: Ends, solver: Solver, most: int
) -> Iterator[Found | NotTold]:
    """Both kinds of longer paths over one call."""
    own, other = calling.own, callee.own
    crossing = Crossing(LongerKind.CALL, own.key, other.key, site.block)
    rows, calls = calling.before(site)
    columns = callee.entered(calls)

    def entered(edges: tuple[int, ...]) -> PathPart:
        return part_of(other.graph, other.graph.root, edges, PathStart.ENTRY)

    tables = [Margins(rows, columns, calls)]
    found = bounded_paths(crossing, tables, (_part, entered), ends.of(crossing), Source.PATHS, solver, most)
    yield found or NotTold(LongerKind.CALL, own.key, _contradicts(own, site, other), nothing=True)
    if not site.last:
        return

    def behind(edges: tuple[int, ...]) -> PathPart:
        return part_of(own.graph, site.block, edges)

    rests = calling.behind(site)
    returns = sum(each.most for each in rests.values())
    if not returns:
        return
    crossing = replace(crossing, kind=LongerKind.RETURN)
    rows, jumps = callee.returned(returns)
    rests = {part: Range(max(each.least - jumps, 0), each.most) for part, each in rests.items()}
    found = bounded_paths(
        crossing,
        [Margins(rows, rests)],
        (_part, behind),
        ends.of(crossing),
        Source.PATHS,
        solver,
        most,
    )
    yield found or NotTold(LongerKind.RETURN, own.key, _contradicts(own, site, other), nothing=True)


def _contradicts(own: FunctionPaths, site: CallIn, callee: FunctionPaths) -> str:
    label = own.graph.labels[site.block]
    return f"its calls of {callee.key} at {label} are not those that {callee.key} has counted"


def _part(route: Route) -> PathPart:
    return PathPart(route.blocks, route.edges[: len(route.blocks) - 1], route.starts)


class _Called:
    """A function as others call it."""

    def __init__(self, own: FunctionPaths) -> None:
        self.own = own
        self._entered: Counter[tuple[int, ...]] | None = None
        self._returned: Counter[Route] | None = None

    def entered(self, calls: Range) -> dict[tuple[int, ...], Range]:
        """How often its paths from the entry on may have followed so many calls."""
        if self._entered is None:
            self._entered = Counter()
            for route, count in self.own.routes():
                if route.starts is PathStart.ENTRY:
                    self._entered[up_to_degree(self.own.ways, self.own.whole, route.edges)] += count
        entries = max(self.own.function.entries, self._entered.total())
        elsewhere = max(int(entries) - calls.least, 0)
        return {part: Range(max(count - elsewhere, 0), count) for part, count in self._entered.items()}

    def returned(self, returns: int) -> tuple[dict[Route, Range], int]:
        """How often the paths with which it returns may have been followed by one of so many returns.

        Some may have ended in a jump to another function, which returned instead: how many that may be, is
        the second result.
        """
        own = self.own.function
        if self._returned is None:
            self._returned = Counter()
            for route, count in self.own.routes():
                last = own.facts.blocks[route.blocks[-1]]
                if route.ends is PathEnd.EXIT and last.kind is not BranchKind.UNWIND:
                    self._returned[route] += count
        elsewhere = max(self._returned.total() - returns, 0)
        rows: dict[Route, Range] = {}
        jumps = 0
        for route, count in self._returned.items():
            jumps_away = any(may_be_left(own, block) for block in route.blocks[-2:])
            jumps += count * jumps_away
            rows[route] = Range(0 if jumps_away else max(count - elsewhere, 0), count)
        return rows, jumps


class _Calling:
    """A function with calls in these blocks."""

    def __init__(self, own: FunctionPaths, blocks: Collection[int]) -> None:
        self.own = own
        self._blocks = frozenset(blocks)
        self._through: dict[int, list[tuple[Route, int, int]]] | None = None

    def _paths_through(self, block: int) -> list[tuple[Route, int, int]]:
        """The paths through a block with a call, each with its count and the position of the block."""
        if self._through is None:
            self._through = {}
            for route, count in self.own.routes():
                for position, each in enumerate(route.blocks):
                    if each in self._blocks:
                        self._through.setdefault(each, []).append((route, count, position))
        return self._through.get(block, [])

    def before(self, site: CallIn) -> tuple[dict[Route, Range], Range]:
        """How often a call was made after each prefix of a path, and how often at all.

        A path that was cut short in the block may have been so before the call.  Around a self loop the
        call is made again on the same path.
        """
        least: Counter[Route] = Counter()
        most: Counter[Route] = Counter()
        for route, count, at in self._paths_through(site.block):
            prefix = Route(route.blocks[: at + 1], route.edges[:at], route.starts, PathEnd.UNWOUND)
            most[prefix] += site.times * count
            least[prefix] += site.times * count if at < len(route.edges) else 0
        function, graph = self.own.function, self.own.graph
        again = sum(
            function.counted_edges[edge] or 0
            for edge in graph.out_edges[site.block]
            if graph.edges[edge].dst == site.block
        )
        rows = {prefix: Range(least[prefix], count + site.times * again) for prefix, count in most.items()}
        turns = site.times * again
        return rows, Range(least.total() + turns, most.total() + turns)

    def behind(self, site: CallIn) -> dict[tuple[int, ...], Range]:
        """What it did behind the last call of a block, and how often it returned there."""
        own = self.own
        onward = own.returning_on(site.block)
        owner = replace(own.whole, stays=lambda edge: own.graph.edges[edge].src not in self._blocks)
        found: Counter[tuple[int, ...]] = Counter()
        for route, count, at in self._paths_through(site.block):
            if at < len(route.edges) and route.edges[at] in onward:
                found[up_to_degree(own.ways, owner, route.edges[at:], behind_call=True)] += count
        return {part: Range(count, count) for part, count in found.items()}
