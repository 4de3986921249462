"""What the registers of an overlap hold, block by block, before any code is emitted for them.

As the path register (:mod:`trodden.plan.paths.path_register`), ``ro``, ``ol`` and the depth are never
variables of their own: each is a constant, or a phi plus a constant, or a value that a probe has chosen plus
a constant.  What is a constant needs no code, and a question about it no test.  So where a block is executed
only after so many predicates, or only by overlaps of one loop, tests of ``ol`` and of the depth vanish.
(What the stack slot of the path register holds does not stay there: it is read where an overlap begins.)

A channel may have fictitious overlaps (:mod:`trodden.plan.overlapping.fictitious`).  Then one is active
wherever an overlap may be, and its end is counted without a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import topological_order
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    Channel,
    ClearOverlap,
    CountPredicate,
    StartOverlap,
    StartOverlapAt,
)
from trodden.plan.overlapping.fictitious import Fictitious, Start
from trodden.plan.paths.path_register import STACK_SLOT, Base, Chosen, OverlapPhi, Part, Register, Value
from trodden.plan.paths.placement import signed
from trodden.plan.probes import Plan, Probe


class Condition(NamedTuple):
    """Whether a value is greater than a number, both with a sign."""

    value: Value
    above: int


class Counted(NamedTuple):
    """The overlap that a probe counts: its number, and the condition on which it has ended, if any."""

    number: Value
    condition: Condition | None


class Choice(NamedTuple):
    """One of two values: ``yes`` if the condition holds."""

    condition: Condition
    yes: Value
    no: Value


PARTS = (Part.REGISTER, Part.PASSED, Part.DEPTH)
"""The registers of a channel."""


class State(NamedTuple):
    """The three registers of a channel."""

    register: Value
    passed: Value
    depth: Value


OUTSIDE = None
"""The state where no overlap can be active."""


@dataclass
class AlongEdge:
    """What the probes of an edge do to the registers of a channel.

    ``choices`` are values that are computed on the edge, in their order; ``counted`` what is counted, by the
    number of the probe.
    """

    state: State | None
    choices: dict[Chosen, Choice] = field(default_factory=dict)
    counted: dict[int, Counted] = field(default_factory=dict)


Phis = dict[Base, tuple[int, dict[int, Value]]]
"""The block of each phi, and its incoming values by edge."""


@dataclass
class Needed:
    """The phis and, by edge, the choices that need code; ``others`` are values of other registers."""

    phis: Phis = field(default_factory=dict)
    chosen: dict[int, list[Chosen]] = field(default_factory=dict)
    others: list[Value] = field(default_factory=list)


class OverlapRegisters:
    """The registers of one channel of a plan: their state at the start of each block (``at``).

    ``path`` is the path register of the same graph.
    """

    def __init__(
        self, graph: Graph, plan: Plan, path: Register, channel: Channel, fictitious: Fictitious
    ) -> None:
        self.graph, self.plan, self.path = graph, plan, path
        self.channel, self.fictitious = channel, fictitious
        self.at: list[State | None] = [OUTSIDE] * len(graph.labels)
        self.edges: dict[int, AlongEdge] = {}
        self.phis: Phis = {}
        self._order = topological_order(graph)
        self._merged: set[Base] = set()
        self._propagate()

    def counted(self, edge: int, probe: int, numbers: int) -> Counted | None:
        """What a probe of an edge counts, if it may be an overlap that is not fictitious.

        Those have numbers below ``numbers``.
        """
        known = self.edges.get(edge)
        counted = None if known is None else known.counted.get(probe)
        if counted is None or (counted.number.base is None and not 0 <= counted.number.add < numbers):
            return None
        return counted

    def needed(self, used: Iterable[Value]) -> Needed:
        """What the values in use follow from, and what that follows from in turn."""
        waiting = [value.base for value in used if value.base is not None]
        found = Needed()
        known: set[Base] = set()
        while waiting:
            base = waiting.pop()
            if base in known:
                continue
            known.add(base)
            values: list[Value] = []
            if isinstance(base, Chosen) and base.channel is self.channel:
                choice = self.edges[base.edge].choices[base]
                found.chosen.setdefault(base.edge, []).append(base)
                values = [choice.condition.value, choice.yes, choice.no]
            elif isinstance(base, OverlapPhi) and base.channel is self.channel:
                found.phis[base] = self.phis[base]
                values = list(self.phis[base][1].values())
            else:
                found.others.append(Value(base, 0))
            waiting += [value.base for value in values if value.base is not None]
        for edge, chosen in found.chosen.items():
            found.chosen[edge] = [each for each in self.edges[edge].choices if each in chosen]
        return found

    def _propagate(self) -> None:
        """Passes in topological order until nothing changes; a block that has a phi keeps it."""
        graph, reached = self.graph, set(self._order)
        arriving = {
            vertex: [
                edge
                for edge in graph.in_edges[vertex]
                if graph.edges[edge].kind is EdgeKind.FLOW and graph.edges[edge].src in reached
            ]
            for vertex in self._order
        }
        known: set[int] = set()
        changed = True
        while changed:
            changed = False
            for vertex in self._order:
                for edge in arriving[vertex]:
                    if graph.edges[edge].src in known:
                        self.edges[edge] = self._follow(edge)
                states = [self.edges[edge].state for edge in arriving[vertex] if edge in self.edges]
                if vertex == graph.root:
                    states.append(self._arrive(OUTSIDE, vertex))
                joined = self._meet(vertex, states)
                changed |= joined != self.at[vertex] or vertex not in known
                self.at[vertex] = joined
                known.add(vertex)
        for vertex in self._order:
            self._add_phis(vertex, arriving[vertex])

    def _meet(self, vertex: int, states: Sequence[State | None]) -> State | None:
        here = [state for state in states if state is not None]
        if not here:
            return OUTSIDE
        return State(
            *(self._join(part, vertex, {state[n] for state in here}) for n, part in enumerate(PARTS))
        )

    def _join(self, part: Part, vertex: int, values: set[Value]) -> Value:
        phi = OverlapPhi(self.channel, part, vertex)
        if phi not in self._merged and len(values) == 1:
            only = next(iter(values))
            if only.base != STACK_SLOT:
                return only
        self._merged.add(phi)
        return Value(phi, 0)

    def _add_phis(self, vertex: int, arriving: Sequence[int]) -> None:
        state = self.at[vertex]
        for n, part in enumerate(PARTS):
            phi = OverlapPhi(self.channel, part, vertex)
            if state is not None and state[n] == Value(phi, 0):
                brought = ((edge, self.edges[edge].state) for edge in arriving)
                self.phis[phi] = (vertex, {e: brings[n] for e, brings in brought if brings is not None})

    def _arrive(self, state: State | None, target: int) -> State | None:
        """The state in a block where no overlap arrives, or this one."""
        start = self.fictitious.starts.get(target)
        if start is None:
            return OUTSIDE
        return _begun(start) if state is OUTSIDE else state

    def _follow(self, edge: int) -> AlongEdge:
        source, target, _ = self.graph.edges[edge]
        return self.follow(
            edge,
            self.plan.on_edges.get(edge, ()),
            self.at[source],
            self.path.at_end(source),
            target,
        )

    def follow(
        self, edge: int, probes: Sequence[Probe], state: State | None, path: Value | None, target: int
    ) -> AlongEdge:
        """What probes on the way to a block do; ``path`` is the path register before them."""
        following = _Following(self, edge, state)
        for number, probe in enumerate(probes):
            following.execute(number, probe, path)
            path = self.path.after(path, (probe,))
        following.arrive(target)
        return following.found


class _Following:
    """The probes of an edge, one after the other."""

    def __init__(self, registers: OverlapRegisters, edge: int, state: State | None) -> None:
        self.found = AlongEdge(state)
        self._registers = registers
        self._channel = registers.channel
        self._edge = edge
        self._ended: Condition | bool = False

    def execute(self, number: int, probe: Probe, path: Value | None) -> None:
        state = self.found.state
        match probe:
            case StartOverlap(add, passed, depth) if self._channel is Channel.LOOP:
                assert path is not None, "an overlap begins with a register that was never set"
                self._begin(State(path.plus(add), Value(None, passed), Value(None, depth)))
            case StartOverlapAt(register, passed, depth) if self._channel is Channel.LOOP:
                self._begin(_begun(Start(register, passed, depth)))
            case BumpOverlap(channel, above) if channel is self._channel and state is not None:
                self._end(number, state, above)
            case ClearOverlap(channel) if channel is self._channel:
                self._begin(None)
            case CountPredicate(channel) if channel is self._channel and state is not None:
                self.found.state = state._replace(passed=state.passed.plus(1))
            case AddOverlap(channel, value, limit) if channel is self._channel and state is not None:
                self.found.state = state._replace(register=self._added(number, state, value, limit))

    def arrive(self, target: int) -> None:
        """Behind the probes there is the overlap that goes on, or a fictitious one."""
        state, start = self.found.state, self._registers.fictitious.starts.get(target)
        if start is None:
            self.found.state = OUTSIDE
        elif state is OUTSIDE or self._ended is True:
            self.found.state = _begun(start)
        elif self._ended:
            known = Value(None, 1) if self._ended.above == 1 else None
            self.found.state = State(
                *(
                    known
                    if part is Part.DEPTH and known
                    else self._choose(part, Choice(self._ended, new, old))
                    for part, new, old in zip(PARTS, _begun(start), state, strict=True)
                )
            )

    def _begin(self, state: State | None) -> None:
        self.found.state, self._ended = state, False

    def _end(self, number: int, state: State, above: int) -> None:
        condition: Condition | None = None
        if state.depth.base is None:
            if state.depth.add <= above:
                return
        elif above > 0:
            condition = Condition(state.depth, above)
        self.found.counted[number] = Counted(state.register, condition)
        self._ended = condition or True

    def _added(self, number: int, state: State, value: int, limit: int | None) -> Value:
        more = state.register.plus(value)
        if limit is None:
            return more
        if state.passed.base is None:
            return more if state.passed.add <= limit else state.register
        chosen = Chosen(self._channel, Part.REGISTER, self._edge, number)
        self.found.choices[chosen] = Choice(Condition(state.passed, limit), state.register, more)
        return Value(chosen, 0)

    def _choose(self, part: Part, choice: Choice) -> Value:
        """The value that is chosen at the end of the edge; what follows from the condition is known."""
        if choice.yes == choice.no:
            return choice.yes
        chosen = Chosen(self._channel, part, self._edge, None)
        self.found.choices[chosen] = choice
        return Value(chosen, 0)


def _begun(start: Start) -> State:
    return State(*(Value(None, signed(number)) for number in start))
