"""Random programs of several procedures, and what one thread of them does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tests.graphs import costs_for, dense_graph, leaving_graph
from tests.plan.splitting import dead_ends
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.overlap_probes import CallSite
from trodden.plan.overlapping.call_pairs import with_call_pairs
from trodden.plan.overlapping.calls import CallNumbering, with_entries, with_returns
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan


class Enter(NamedTuple):
    procedure: int


class LeaveProbes(NamedTuple):
    """A call of code without probes."""


class ComeBack(NamedTuple):
    """Code without probes returns."""


class Take(NamedTuple):
    edge: int


class Lose(NamedTuple):
    """The innermost frame is left in the middle."""


Event = Enter | LeaveProbes | ComeBack | Take | Lose


class Executor(Protocol):
    """Whoever is told what a thread does."""

    def enter(self, number: int) -> None: ...
    def leave_probes(self) -> None: ...
    def come_back(self) -> None: ...
    def take(self, edge: int) -> None: ...
    def lose(self) -> None: ...


def replay(events: Sequence[Event], executor: Executor) -> None:
    for event in events:
        match event:
            case Enter(number):
                executor.enter(number)
            case LeaveProbes():
                executor.leave_probes()
            case ComeBack():
                executor.come_back()
            case Take(edge):
                executor.take(edge)
            case Lose():
                executor.lose()


@dataclass
class Procedure:
    graph: Graph
    plan: Plan
    numbering: Numbering
    sites: list[CallSite]
    may_be_cut_short: set[int]
    entries: CallNumbering
    returns: CallNumbering
    degrees: tuple[int | None, int | None]

    def site_at(self, block: int) -> CallSite | None:
        return next((site for site in self.sites if site.block == block), None)


def procedure(graph: Graph, seed: int, free_site: int, pairs: bool = False) -> Procedure:
    rng = random.Random(seed)
    may_be_cut_short = dead_ends(graph) | {
        block for block in range(graph.exit) if rng.random() < rng.choice([0.0, 0.5])
    }
    resume_edges = [
        index
        for index in graph.flow_edges()
        if graph.edges[index].dst != graph.exit and rng.random() < rng.choice([0.0, 0.0, 0.1])
    ]
    sites: list[CallSite] = []
    for block in range(graph.exit):
        out = [edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW]
        if out and rng.random() < 0.4:
            ways = tuple(sorted(rng.sample(out, rng.choice([1, len(out)]))))
            sites.append(CallSite(free_site + len(sites), block, ways))
            may_be_cut_short.add(block)
    weights = costs_for(graph, seed)
    limit = rng.choice([None, None, 5])
    cut = frozenset(may_be_cut_short)
    if rng.random() < 0.5 and not pairs:
        degree = rng.choice([1, 2, None])
        plan = overlapping_plan(
            graph, weights, degree, limit=limit, may_be_cut_short=cut, resume_edges=resume_edges
        )
        assert plan.overlaps is not None
        assert plan.paths is not None
        numbering: Numbering = OverlapNumbering(graph, plan.paths, plan.overlaps)
    else:
        plan = path_plan(graph, weights, limit=limit, may_be_cut_short=cut, resume_edges=resume_edges)
        assert plan.paths is not None
        numbering = Numbering(graph, plan.paths)
    degrees = rng.choice([0, 1, 2, None]), rng.choice([0, 1, 2, None])
    entered, entries = with_entries(plan, numbering, weights, sites, degrees[0], cut)
    both, returns = with_returns(entered, numbering, weights, sites, degrees[1], cut)
    plan = with_call_pairs(plan, numbering, sites) if pairs else both
    return Procedure(graph, plan, numbering, sites, may_be_cut_short, entries, returns, degrees)


def random_procedures(seed: int, pairs: bool = False) -> list[Procedure]:
    rng = random.Random(seed)
    found: list[Procedure] = []
    for _ in range(rng.randint(1, 3)):
        make = rng.choice([leaving_graph, leaving_graph, dense_graph])
        graph = make(rng.randrange(1, 10**7), rng.randint(2, 8), rng.randint(4, 18))
        free_site = sum(len(each.sites) for each in found)
        found.append(procedure(graph, rng.randrange(1, 10**7), free_site, pairs))
    return found


@dataclass
class Frame:
    procedure: int
    block: int
    called: bool = False
    resumable: list[int] = field(default_factory=list)


class Execution:
    """What a thread does at random, as events; it ends where all frames may be left in the middle."""

    def __init__(self, procedures: Sequence[Procedure], seed: int, steps: int = 120) -> None:
        self.procedures = procedures
        self.rng = random.Random(seed)
        self.stack: list[Frame | None] = [None]
        self.events: list[Event] = [LeaveProbes()]
        whole, depth = 1, 1
        while len(self.events) < steps and self.stack:
            self.step()
            if self.may_end():
                whole, depth = len(self.events), len(self.stack)
        self.events = [*self.events[:whole], *[Lose()] * depth]

    def may_end(self) -> bool:
        top = self.stack[-1] if self.stack else None
        return top is None or top.block in self.procedures[top.procedure].may_be_cut_short

    def step(self) -> None:
        top = self.stack[-1]
        if self.may_end() and self.rng.random() < 0.07:
            self.rng.choice([self.throw, self.jump])()
        elif top is None:
            if self.rng.random() < 0.6 and len(self.stack) < 8:
                self.call(self.rng.randrange(len(self.procedures)))
            elif len(self.stack) > 1:
                self.stack.pop()
                self.events.append(ComeBack())
            else:
                self.call(0)
        else:
            self.go_on(top)

    def go_on(self, frame: Frame) -> None:
        own = self.procedures[frame.procedure]
        site = own.site_at(frame.block)
        if site is not None and not frame.called and len(self.stack) < 8 and self.rng.random() < 0.9:
            frame.called = True
            if self.rng.random() < 0.2:
                self.stack.append(None)
                self.events.append(LeaveProbes())
            else:
                self.call(self.rng.randrange(len(self.procedures)))
            return
        out = [e for e in own.graph.out_edges[frame.block] if own.graph.edges[e].kind is EdgeKind.FLOW]
        ways = list(site.ways) if site is not None else out
        if ways:
            self.take(frame, self.rng.choice(ways))
        else:
            self.throw()

    def call(self, number: int) -> None:
        self.stack.append(Frame(number, self.procedures[number].graph.root))
        self.events.append(Enter(number))

    def take(self, frame: Frame, edge: int) -> None:
        own = self.procedures[frame.procedure]
        assert own.plan.paths is not None
        self.events.append(Take(edge))
        frame.block, frame.called = own.graph.edges[edge].dst, False
        if edge in own.plan.paths.resume_edges:
            frame.resumable.append(edge)
        if frame.block == own.graph.exit:
            self.stack.pop()

    def throw(self) -> None:
        """Leave frames up to one with a landing pad."""
        while len(self.stack) > 1:
            self.lose()
            top = self.stack[-1]
            if top is not None:
                own = self.procedures[top.procedure]
                site = own.site_at(top.block)
                pads = [
                    edge
                    for edge in own.graph.out_edges[top.block]
                    if site is not None
                    and edge not in site.ways
                    and own.graph.edges[edge].kind is EdgeKind.FLOW
                ]
                if pads and self.rng.random() < 0.6:
                    self.take(top, self.rng.choice(pads))
                    return

    def jump(self) -> None:
        """Go back to behind a call that returns twice."""
        targets = [frame for frame in self.stack if frame is not None and frame.resumable]
        if targets:
            frame = self.rng.choice(targets)
            while self.stack[-1] is not frame:
                self.lose()
            self.take(frame, self.rng.choice(frame.resumable))

    def lose(self) -> None:
        self.stack.pop()
        self.events.append(Lose())
