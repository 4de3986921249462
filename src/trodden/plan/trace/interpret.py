"""The reference interpreter of programs that are traced: what really ran, and the records of it.

It is what reading a trace is compared with: random executions of several procedures in several threads, with
calls that are certain or not, code without probes that calls back, jumps over frames (longjmp), exceptions
that unwind frame by frame, switches between stacks, and ends of all sorts.  Time stamps come in between.
It is made for correctness, and knows no signals: what interrupts a thread writes chunks of its own.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.trace.activation import Activation
from trodden.plan.trace.execution import MODULE, Ending, Program, Step, ThreadRun, site_address
from trodden.plan.trace.records import (
    CodeAddress,
    Event,
    EventKind,
    Land,
    Left,
    Record,
    Resume,
    Sync,
)
from trodden.plan.trace.region_graph import flow_out


def run(program: Program, seed: int, threads: int = 1, steps: int = 200) -> list[ThreadRun]:
    """A random execution, the same for the same seed.

    After ``steps`` blocks a thread makes for its end; after three times as many it is killed.
    """
    return [_Thread(program, random.Random(f"{seed}/{number}"), steps).run() for number in range(threads)]


@dataclass
class _Outside:
    """Code without probes, which is going to call back some times; the outermost frame of a stack is one."""

    calls_left: int = 0
    returns: bool = True


class _Thread:
    def __init__(self, program: Program, rng: random.Random, steps: int) -> None:
        self.program = program
        self.rng = rng
        self.steps = steps
        self.done = ThreadRun()
        self.main = _Outside(rng.choice([1, 1, 2]))
        self.stack: list[Activation | _Outside] = [self.main]
        self.suspended: list[list[Activation | _Outside]] = []
        self.nearer = [ways_out(procedure.graph) for procedure in program.procedures]
        self.ended = False

    def run(self) -> ThreadRun:
        """Run to the end."""
        while not self.ended:
            top = self.stack[-1]
            if isinstance(top, Activation):
                self.go_on(top)
            elif len(self.stack) == 1:
                self.outermost(top)
            else:
                self.outside(top)
            if len(self.done.steps) >= 3 * self.steps:
                self.end(Ending.KILLED)
        return self.done

    @property
    def tired(self) -> bool:
        return len(self.done.steps) >= self.steps

    def write(self, record: Record) -> None:
        if self.rng.random() < 0.02:
            self.done.records.append(Event(EventKind.TIME, len(self.done.steps)))
        self.done.records.append(record)

    def end(self, how: Ending) -> None:
        """The thread ends; who waits in a call is seen on its stack."""
        if not self.ended:
            self.ended = True
            self.done.ending = how
            waiting = self.stack[:-1] if how is Ending.KILLED else self.stack
            self.done.frames = tuple((frame.number, frame.block) for frame in _activations(waiting))

    def call(self, number: int) -> None:
        """A procedure is entered."""
        procedure = self.program.procedures[number]
        counters = self.done.counters.setdefault(number, [0] * procedure.plan.slots)
        activation = Activation(number, procedure, self.done.records, counters)
        self.stack.append(activation)
        self.step(activation)
        activation.enter()

    def step(self, activation: Activation) -> None:
        depth = len(_activations(self.stack)) - 1
        self.done.steps.append(Step(depth, activation.number, activation.block))

    def go_on(self, activation: Activation) -> None:
        """The innermost activation, which has executed its block, takes an edge or calls."""
        procedure, block = activation.procedure, activation.block
        if block in procedure.trace.calls:
            self.make_call(activation)
            return
        ways = flow_out(procedure.graph, block)
        if not ways:
            self.end(Ending.KILLED)
            return
        onward = self.nearer[activation.number].get(block)
        self.take(activation, onward if self.tired and onward is not None else self.rng.choice(ways))
        if activation.block == procedure.graph.exit:
            self.stack.pop()
            if block in procedure.resuming:
                self.write(Left(CodeAddress(MODULE, 1)))
                self.throw()
            else:
                self.returned()

    def take(self, activation: Activation, edge: int) -> None:
        target = activation.procedure.graph.edges[edge].dst
        if target in activation.procedure.trace.landings:
            self.write(Land(target))
        activation.take(edge)
        if target != activation.procedure.graph.exit:
            self.step(activation)
            activation.arrive()

    def make_call(self, activation: Activation) -> None:
        """The call at the end of the innermost activation's block."""
        procedure, block = activation.procedure, activation.block
        known = procedure.trace.calls[block]
        direct = procedure.callees.get(block, ())
        outside = block in procedure.outside
        returns = True
        if block in procedure.trace.tails:
            self.stack.pop()
        else:
            returns = procedure.way_back(block) is not None
        if known is not None:
            self.call(known)
        elif returns and direct and not (outside and (self.tired or self.rng.random() < 0.3)):
            self.call(self.rng.choice(direct))
        else:
            self.stack.append(_Outside(self.rng.choice([0, 0, 1, 2]) if outside else 0, returns))

    def returned(self) -> None:
        """What the innermost frame has called returns to it."""
        activation = self.stack[-1]
        if isinstance(activation, Activation):
            edge = activation.procedure.way_back(activation.block)
            if edge is None:
                raise ValueError(
                    f"{activation.procedure.graph.name}: block {activation.block} calls for good"
                )
            self.go_back(activation, edge)

    def go_back(self, activation: Activation, edge: int) -> None:
        if activation.block in activation.procedure.trace.resumes:
            self.write(Resume(activation.block))
            if activation.block not in activation.resumable:
                activation.resumable.append(activation.block)
        self.take(activation, edge)

    def outermost(self, frame: _Outside) -> None:
        """What has started this stack calls a procedure, or is done."""
        if frame.calls_left:
            frame.calls_left -= 1
            self.call(self.rng.choice(self.program.roots))
        elif frame is self.main:
            self.end(Ending.RETURNED)
        else:
            self.stack = self.suspended.pop(self.rng.randrange(len(self.suspended)))
            self.write(self.active())

    def outside(self, frame: _Outside) -> None:
        """Code without probes does something, or returns."""
        chance = self.rng.random()
        if frame.calls_left and self.program.callbacks and not self.tired:
            frame.calls_left -= 1
            self.call(self.rng.choice(self.program.callbacks))
        elif chance < 0.02 and not self.tired:
            self.switch()
        elif chance < 0.1 or (not frame.returns and chance < 0.4):
            self.throw()
        elif chance < 0.2 or (not frame.returns and chance < 0.8):
            self.jump()
        elif chance < 0.21 or not frame.returns:
            self.end(Ending.EXITED)
        else:
            self.stack.pop()
            self.returned()

    def throw(self) -> None:
        """Unwind the stack, frame by frame, up to a landing pad or to code without probes that catches."""
        while len(self.stack) > 1:
            frame = self.stack[-1]
            if isinstance(frame, _Outside):
                if self.rng.random() < 0.1:
                    return
                self.stack.pop()
                continue
            landing = frame.procedure.way_to_land(frame.block)
            if landing is not None and self.rng.random() < 0.7:
                self.take(frame, landing)
                return
            self.leave()
        if self.stack[0] is self.main:
            self.end(Ending.LEFT)

    def leave(self) -> None:
        """The innermost frame is left."""
        frame = self.stack.pop()
        if isinstance(frame, Activation):
            self.write(Left(site_address(frame.number, frame.block)))

    def jump(self) -> None:
        """Jump to where a call that returns twice has returned to a frame, if there is one."""
        targets = [
            (frame, block)
            for frame in self.stack
            if isinstance(frame, Activation)
            for block in frame.resumable
        ]
        if not targets:
            return
        target, block = self.rng.choice(targets)
        while self.stack[-1] is not target:
            self.leave()
        target.block = block
        edge = target.procedure.way_back(block)
        assert edge is not None
        self.go_back(target, edge)

    def switch(self) -> None:
        """Go on on another stack, which may be a new one."""
        choice = self.rng.randrange(len(self.suspended) + 1)
        other: list[Activation | _Outside] = [_Outside(1)]
        if choice < len(self.suspended):
            other = self.suspended.pop(choice)
        self.suspended.append(self.stack)
        self.stack = other
        self.write(self.active())

    def active(self) -> Sync:
        """The frames of this stack."""
        return Sync(tuple(site_address(frame.number, frame.block) for frame in _activations(self.stack)))


def _activations(stack: Sequence[Activation | _Outside]) -> list[Activation]:
    """The activations of a stack, innermost first."""
    return [frame for frame in reversed(stack) if isinstance(frame, Activation)]


def ways_out(graph: Graph) -> dict[int, int]:
    """For each block from which EXIT can be reached, an edge that is on a shortest way there."""
    onward: dict[int, int] = {}
    work = [graph.exit]
    for vertex in work:
        for index in graph.in_edges[vertex]:
            edge = graph.edges[index]
            if edge.kind is EdgeKind.FLOW and edge.src not in onward:
                onward[edge.src] = index
                work.append(edge.src)
    return onward
