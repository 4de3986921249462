"""Paths over calls and returns, found by their definition (TZG04 §3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.plan.overlapping.programs import Procedure
from tests.plan.overlapping.walked import Definitions
from tests.plan.splitting import Split, Splitting
from trodden.plan.overlap_probes import CallSite
from trodden.plan.routes import PathEnd, Route


class Entered(NamedTuple):
    """Type I: a prefix of the caller, and the first part of a path of the callee."""

    callee: int
    site: int
    prefix: Route
    ahead: tuple[int, ...]
    stop: int


class Returned(NamedTuple):
    """Type II: a path of the callee, and what the caller did behind the call."""

    callee: int
    site: int
    path: Route
    ahead: tuple[int, ...]
    stop: int


class _Behind(NamedTuple):
    """The call of a site has returned; the rest is in a path of the caller, from block ``position``."""

    site: CallSite
    callee: int
    path: Route
    number: int
    position: int


@dataclass
class _Activation:
    number: int
    splitting: Splitting
    split: Split
    entered: tuple[int, Route] | None
    returned: tuple[int, Route] | None = None
    behind: list[_Behind] = field(default_factory=list)


@dataclass
class Truth:
    """Told what a thread does, it finds the overlapping paths; ``whole``: of the largest degree."""

    procedures: Sequence[Procedure]
    whole: bool = False
    entered: Counter[Entered] = field(default_factory=Counter)
    returned: Counter[Returned] = field(default_factory=Counter)
    paths: Counter[tuple[int, Route]] = field(default_factory=Counter)
    short: Counter[tuple[int, Route]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.stack: list[_Activation | None] = []
        self.words = [
            Definitions(each.graph, each.plan.paths)
            for each in self.procedures
            if each.plan.paths is not None
        ]

    def enter(self, number: int) -> None:
        caller = self.stack[-1] if self.stack else None
        entered = None
        if caller is not None:
            prefix = caller.splitting.path
            site = self.procedures[caller.number].site_at(prefix.blocks[-1])
            assert site is not None
            entered = site.site, prefix
        split = Split(sequences=[[]])
        words = self.words[number]
        self.stack.append(_Activation(number, Splitting(words.graph, words.paths, split), split, entered))

    def leave_probes(self) -> None:
        self.stack.append(None)

    def come_back(self) -> None:
        self.stack.pop()

    def take(self, edge: int) -> None:
        activation = self.stack[-1]
        assert activation is not None
        words = self.words[activation.number]
        if activation.returned is not None:
            path = activation.splitting.path
            site = self.site(activation.number, path.blocks[-1])
            if site is not None and edge in site.ways:
                index, position = len(activation.split.sequences[-1]), len(path.blocks) - 1
                activation.behind.append(_Behind(site, *activation.returned, index, position))
            activation.returned = None
        activation.splitting.take(edge)
        if words.graph.edges[edge].dst == words.graph.exit:
            self.stack.pop()
            self.finish(activation)
            caller = self.stack[-1] if self.stack else None
            if caller is not None:
                caller.returned = activation.number, activation.split.sequences[-1][-1]

    def lose(self) -> None:
        activation = self.stack.pop()
        if activation is not None:
            activation.splitting.cut_short()
            self.finish(activation)

    def site(self, number: int, block: int) -> CallSite | None:
        """The call site of a block, without ways on which no overlap begins."""
        own, words = self.procedures[number], self.words[number]
        site = own.site_at(block)
        if site is None:
            return None
        ways = set(site.ways).intersection(words.ways(block)) - set(words.paths.resume_edges)
        return site._replace(ways=tuple(sorted(ways))) if ways else None

    def finish(self, activation: _Activation) -> None:
        routes = activation.split.sequences[-1]
        for route in routes:
            counter = self.short if route.ends is PathEnd.UNWOUND else self.paths
            counter[activation.number, route] += 1
        if activation.entered is not None:
            part = self.first_part(activation.number, routes[0])
            self.entered[Entered(activation.number, *activation.entered, *part)] += 1
        for behind in activation.behind:
            route = routes[behind.number]
            part = self.behind_call(activation.number, behind.site, route, behind.position)
            self.returned[Returned(behind.callee, behind.site.site, behind.path, *part)] += 1

    def first_part(self, callee: int, route: Route) -> tuple[tuple[int, ...], int]:
        """The part of a path of a callee that belongs to an overlap of type I."""
        degree = None if self.whole else self.procedures[callee].degrees[0]
        return self.words[callee].first_part(route, degree, lambda _: True)

    def behind_call(self, number: int, site: CallSite, route: Route, at: int) -> tuple[tuple[int, ...], int]:
        """The part of a path of a caller that belongs to an overlap of type II; its call is block ``at``."""
        own, words = self.procedures[number], self.words[number]
        degree = None if self.whole else own.degrees[1]
        calling = {site.block for site in own.sites}
        ways = site.ways
        passed = 0
        ahead: list[int] = []
        for position in range(at, len(route.blocks)):
            block = route.blocks[position]
            first = position == at
            if first:
                passed += len(ways) != 1 or all(words.ends_paths(edge) for edge in ways)
            else:
                passed += words.predicate(block)
            stopped = degree is not None and passed == degree + 1
            if stopped or position == len(route.edges) or (block in calling and not first):
                return tuple(ahead), block
            edge = route.edges[position]
            if words.ends_paths(edge):
                return tuple(ahead), block
            ahead.append(edge)
        raise AssertionError("a path has a last block")
