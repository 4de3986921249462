"""Random programs of several procedures, and what one thread of them does."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from tests.graphs import dense_graph, leaving_graph
from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.interprocedural.call_graph import sites_that_can_be_kept
from trodden.plan.interprocedural.program import Procedure, Program, Site


class Enter(NamedTuple):
    procedure: int


class Call(NamedTuple):
    """The innermost activation is about to make its next call."""


class Returned(NamedTuple):
    """The call has returned."""


class LeaveProbes(NamedTuple):
    """Code without probes is entered, by a call or by a signal."""

    signal: bool = False


class ComeBack(NamedTuple):
    """Code without probes returns."""


class Take(NamedTuple):
    edge: int


class Jump(NamedTuple):
    """Control arrives once more behind a call that returns twice."""

    edge: int


class Lose(NamedTuple):
    """The innermost frame is left in the middle."""


Event = Enter | Call | Returned | LeaveProbes | ComeBack | Take | Jump | Lose


class Executor(Protocol):
    """Whoever is told what a thread does."""

    def enter(self, number: int) -> None: ...
    def call(self) -> None: ...
    def returned(self) -> None: ...
    def leave_probes(self, signal: bool) -> None: ...
    def come_back(self) -> None: ...
    def take(self, edge: int) -> None: ...
    def jump(self, edge: int) -> None: ...
    def lose(self) -> None: ...


def replay(events: Sequence[Event], executor: Executor) -> None:
    for event in events:
        match event:
            case Enter(number):
                executor.enter(number)
            case Call():
                executor.call()
            case Returned():
                executor.returned()
            case LeaveProbes(signal):
                executor.leave_probes(signal)
            case ComeBack():
                executor.come_back()
            case Take(edge):
                executor.take(edge)
            case Jump(edge):
                executor.jump(edge)
            case Lose():
                executor.lose()


def flow_out(graph: Graph, block: int) -> list[int]:
    return [edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW]


def procedure(graph: Graph, rng: random.Random, procedures: int) -> Procedure:
    calls: dict[int, tuple[int | None, ...]] = {}
    pads: set[int] = set()
    share = rng.choice([0.0, 0.3, 0.6])
    for block in range(graph.exit):
        if rng.random() < share:
            callees = [*range(procedures), *range(procedures), None]
            calls[block] = tuple(rng.choice(callees) for _ in range(rng.choice([1, 1, 1, 2, 3])))
            ways = [edge for edge in flow_out(graph, block) if graph.edges[edge].dst != graph.exit]
            if ways and rng.random() < 0.4:
                pads.update(rng.sample(ways, rng.randint(1, len(ways))))
    inside = [edge for edge in graph.flow_edges() if graph.edges[edge].dst != graph.exit]
    resume_share, cut_share = rng.choice([0.0, 0.0, 0.1]), rng.choice([0.0, 0.0, 0.2])
    resumes = frozenset(edge for edge in inside if rng.random() < resume_share) - pads
    cuts = frozenset(
        edge for edge in inside if rng.random() < cut_share and graph.edges[edge].src != graph.edges[edge].dst
    )
    return Procedure(
        graph,
        calls,
        frozenset(pads),
        resumes,
        cuts,
        frozenset(rng.sample(sorted(calls), 1)) if calls and rng.random() < 0.1 else frozenset(),
        entered=rng.random() < 0.5,
        local=rng.random() < 0.5,
        file=rng.choice(["a.c", "b.c"]),
    )


def random_program(seed: int, most: int = 4, blocks: int = 7, edges: int = 14) -> list[Procedure]:
    rng = random.Random(seed)
    number = rng.randint(1, most)
    found = []
    for _ in range(number):
        make = rng.choice([leaving_graph, leaving_graph, dense_graph])
        graph = make(rng.randrange(1, 10**7), rng.randint(1, blocks), rng.randint(3, edges))
        found.append(procedure(graph, rng, number))
    return [replace(found[0], entered=True), *found[1:]]


def some_sites(program: Program, seed: int) -> frozenset[Site]:
    """A choice of call sites to keep."""
    rng = random.Random(seed)
    share = rng.choice([0.0, 0.5, 1.0, 1.0])
    return frozenset(site for site, _ in sites_that_can_be_kept(program) if rng.random() < share)


@dataclass
class Frame:
    procedure: int
    block: int
    calls_done: int = 0
    calling: bool = False
    resumable: list[int] = field(default_factory=list)


class Foreign(NamedTuple):
    """Code without probes; a signal handler that came just before ``then`` is entered, or a callee resumes.

    Such a handler returns.
    """

    then: Enter | Returned | None = None


class Execution:
    """What a thread does at random, as events; at the end all frames are left in the middle."""

    def __init__(self, program: Program, seed: int, steps: int = 150, deepest: int = 8) -> None:
        self.program = program
        self.rng = random.Random(seed)
        self.deepest = deepest
        self.entered = [number for number, each in enumerate(program) if each.entered]
        self.stack: list[Frame | Foreign] = [Foreign()]
        self.events: list[Event] = [LeaveProbes()]
        whole, depth = 1, 1
        while len(self.events) < steps and self.stack and self.step():
            if not self.handling():
                whole, depth = len(self.events), len(self.stack)
        self.events = [*self.events[:whole], *[Lose()] * depth]

    def handling(self) -> bool:
        return any(isinstance(frame, Foreign) and frame.then is not None for frame in self.stack)

    def step(self) -> bool:
        top = self.stack[-1]
        if self.rng.random() < 0.04 and not self.handling():
            self.rng.choice([self.throw, self.jump, self.interrupt])()
        elif isinstance(top, Frame):
            return self.go_on(top)
        elif len(self.stack) > 1 and (self.rng.random() < 0.4 or len(self.stack) >= self.deepest):
            self.come_back(top)
        else:
            self.enter(self.rng.choice(self.entered))
        return True

    def come_back(self, frame: Foreign) -> None:
        self.stack.pop()
        self.events.append(ComeBack())
        match frame.then:
            case Enter(number):
                self.enter(number)
            case Returned():
                self.returned()
            case None:
                self.after_call()

    def after_call(self) -> None:
        """A callee has returned, to a caller that was calling or that a signal had interrupted."""
        top = self.stack[-1] if self.stack else None
        if isinstance(top, Frame) and top.calling:
            if self.rng.random() < 0.05:
                self.leave_probes(Returned())
            else:
                self.returned()

    def returned(self) -> None:
        top = self.stack[-1]
        assert isinstance(top, Frame)
        top.calling = False
        top.calls_done += 1
        self.events.append(Returned())

    def go_on(self, frame: Frame) -> bool:
        """Whether the thread can go on at all."""
        own = self.program[frame.procedure]
        calls = own.calls.get(frame.block, ())
        if frame.calls_done < len(calls):
            if len(self.stack) >= self.deepest:
                return self.throw()
            frame.calling = True
            self.events.append(Call())
            callee = calls[frame.calls_done]
            if callee is None and self.rng.random() < 0.5:
                self.leave_probes()
                return True
            callee = self.rng.choice(self.entered) if callee is None else callee
            if self.rng.random() < 0.05:
                self.leave_probes(Enter(callee))
            else:
                self.enter(callee)
            return True
        ways = [edge for edge in flow_out(own.graph, frame.block) if edge not in own.pads or not calls]
        if not ways:
            return self.throw()
        self.take(frame, self.rng.choice(ways))
        return True

    def interrupt(self) -> None:
        """A signal comes, and its handler may call procedures."""
        if isinstance(self.stack[-1], Frame) and len(self.stack) < self.deepest:
            self.leave_probes(signal=True)

    def leave_probes(self, then: Enter | Returned | None = None, signal: bool = False) -> None:
        self.stack.append(Foreign(then))
        self.events.append(LeaveProbes(signal or then is not None))

    def enter(self, number: int) -> None:
        self.stack.append(Frame(number, self.program[number].graph.root))
        self.events.append(Enter(number))

    def take(self, frame: Frame, edge: int) -> None:
        own = self.program[frame.procedure]
        self.events.append(Take(edge))
        self.arrive(frame, edge)
        if edge in own.resume_edges:
            frame.resumable.append(edge)
        if frame.block == own.graph.exit:
            self.stack.pop()
            self.after_call()

    def arrive(self, frame: Frame, edge: int) -> None:
        frame.block = self.program[frame.procedure].graph.edges[edge].dst
        frame.calls_done, frame.calling = 0, False

    def throw(self) -> bool:
        """Leave frames up to one with a landing pad for the call that it was making."""
        if self.handling():
            return False
        while len(self.stack) > 1:
            self.lose()
            top = self.stack[-1]
            if isinstance(top, Frame) and top.calling:
                own = self.program[top.procedure]
                last = top.calls_done == len(own.calls[top.block]) - 1
                pads = [edge for edge in flow_out(own.graph, top.block) if edge in own.pads and last]
                if pads and self.rng.random() < 0.7:
                    self.take(top, self.rng.choice(pads))
                    break
        return True

    def jump(self) -> None:
        """Go back to behind a call that returns twice."""
        targets = [frame for frame in self.stack if isinstance(frame, Frame) and frame.resumable]
        if targets:
            frame = self.rng.choice(targets)
            while self.stack[-1] is not frame:
                self.lose()
            edge = self.rng.choice(frame.resumable)
            self.events.append(Jump(edge))
            self.arrive(frame, edge)

    def lose(self) -> None:
        self.stack.pop()
        self.events.append(Lose())
