"""What the path register holds, block by block, before any code is emitted for it.

The register of BL96 is never a variable of its own.  Its value at a program location is either a constant or
``base + constant`` where the base is a phi; setting it and adding to it cost nothing until two different
values meet.  So most of the paper's Figure 8 falls out by itself: what is known needs no register, and an
addition is folded into the address of the counter or into the value that a phi takes on that edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import topological_order
from trodden.plan.overlap_probes import Channel
from trodden.plan.probes import Add, Plan, Probe, Restore, Save, Set


@dataclass(frozen=True, slots=True)
class BlockPhi:
    """The phi of a block at whose start different values of the register meet."""

    block: int


@dataclass(frozen=True, slots=True)
class LoopPhi:
    """The phi, in the header of a loop, of what was saved for the loop."""

    loop: int


@dataclass(frozen=True, slots=True)
class StackSlot:
    """What the stack slot of the frame holds."""


class Part(Enum):
    """The registers of an overlap (TZG04 §2.3): its number, its predicate counter, its depth.

    ``BEFORE`` is the register of the paths before the present one, which are counted with it.
    """

    REGISTER = "ro"
    PASSED = "ol"
    DEPTH = "depth"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class OverlapPhi:
    """The phi of a block at whose start different values of a register of overlaps meet."""

    channel: Channel
    part: Part
    block: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """One of two values of a register of overlaps, chosen by a probe of an edge, or at its end (``None``)."""

    channel: Channel
    part: Part
    edge: int
    probe: int | None


Base = BlockPhi | LoopPhi | StackSlot | OverlapPhi | Chosen
"""What is not a constant in a value of the register."""

STACK_SLOT = StackSlot()


class Value(NamedTuple):
    """A constant plus ``base``, if there is one."""

    base: Base | None
    add: int

    def plus(self, amount: int) -> Value:
        """The value with a constant added."""
        return Value(self.base, self.add + amount)


UNSET = Value(None, 0)
"""What the register holds where it is not used."""


@dataclass
class Register:
    """The register's value at the start of every block (``at``) and at the end of every edge (``along``).

    ``at[v]`` is ``None`` where nothing has been set.  In the blocks of ``reloaded`` an unknown register is
    stored in the frame's stack slot, and loaded from there where it is needed next.  ``saved_for`` is what
    was saved for a loop, by its number (MR98 §7).  ``phis[base]`` is the block of a phi, and its incoming
    values by edge.
    """

    at: list[Value | None]
    reloaded: Collection[int] = frozenset()
    along: dict[int, Value | None] = field(default_factory=dict)
    saved_for: dict[int, Value | None] = field(default_factory=dict)
    phis: dict[Base, tuple[int, dict[int, Value]]] = field(default_factory=dict)

    def at_end(self, block: int) -> Value | None:
        """The register at the end of a block."""
        value = self.at[block]
        if value is not None and value.base is not None and block in self.reloaded:
            return Value(STACK_SLOT, value.add)
        return value

    def after(self, value: Value | None, probes: Iterable[Probe]) -> Value | None:
        """The register after the probes have been executed."""
        for probe in probes:
            match probe:
                case Set(amount):
                    value = Value(None, amount)
                case Add(amount):
                    value = value.plus(amount) if value is not None else None
                case Restore(loop, amount):
                    saved = self.saved_for.get(loop)
                    value = saved.plus(amount) if saved is not None else None
        return value

    def saved(self, value: Value | None, probes: Sequence[Probe]) -> Iterable[tuple[int, Value | None]]:
        """What the probes of an edge save for loops."""
        for position, probe in enumerate(probes):
            if isinstance(probe, Save):
                yield probe.loop, self.after(value, probes[:position])

    def needed(self, used: Iterable[Value | None]) -> dict[Base, tuple[int, dict[int, Value]]]:
        """The phis of the values in use, and of the incoming values of those in turn."""
        waiting = [value.base for value in used if value is not None and value.base is not None]
        known: set[Base] = {STACK_SLOT}
        found: dict[Base, tuple[int, dict[int, Value]]] = {}
        while waiting:
            base = waiting.pop()
            if base not in known:
                known.add(base)
                found[base] = self.phis[base]
                waiting += [value.base for value in found[base][1].values() if value.base is not None]
        return found


def track(graph: Graph, plan: Plan, reloaded: Collection[int] = frozenset()) -> Register:
    """Propagate the register through the procedure: where different values meet there is a phi.

    Passes over the blocks in topological order are repeated until nothing changes.  A block that has a phi
    keeps it, so each block changes only a few times, and one pass propagates most changes at once.
    """
    register = Register([None] * len(graph.labels), reloaded)
    order = topological_order(graph)
    reached = set(order)
    in_edges = {
        vertex: [
            e
            for e in graph.in_edges[vertex]
            if graph.edges[e].kind is EdgeKind.FLOW and graph.edges[e].src in reached
        ]
        for vertex in order
    }
    merged: set[Base] = set()
    start = register.after(None, plan.on_entry)
    changed = True
    while changed:
        changed = False
        saved: dict[int, list[tuple[int, Value | None]]] = {}
        for vertex in order:
            for edge in in_edges[vertex]:
                probes = plan.on_edges.get(edge, ())
                before = register.at_end(graph.edges[edge].src)
                for loop, value in register.saved(before, probes):
                    saved.setdefault(loop, []).append((edge, value))
                register.along[edge] = register.after(before, probes)
            arriving = [register.along[edge] for edge in in_edges[vertex]]
            arriving += [start] if vertex == graph.root else []
            joined = _meet(BlockPhi(vertex), arriving, merged)
            changed |= joined != register.at[vertex]
            register.at[vertex] = joined
        for loop, incoming in saved.items():
            values = [value for _, value in incoming]
            if any(value is not None and value.base == STACK_SLOT for value in values):
                merged.add(LoopPhi(loop))
            joined = _meet(LoopPhi(loop), values, merged)
            changed |= joined != register.saved_for.get(loop)
            register.saved_for[loop] = joined
    for vertex in order:
        if register.at[vertex] == Value(BlockPhi(vertex), 0):
            _add_phi(register, BlockPhi(vertex), vertex, {e: register.along[e] for e in in_edges[vertex]})
    for loop, incoming in saved.items():
        unchanged = Value(LoopPhi(loop), 0)
        if register.saved_for[loop] == unchanged:
            header = graph.edges[incoming[0][0]].dst
            entering = dict(incoming)
            by_edge = {e: entering.get(e, unchanged) for e in in_edges[header]}
            _add_phi(register, LoopPhi(loop), header, by_edge)
    return register


def _meet(base: Base, arriving: Sequence[Value | None], merged: set[Base]) -> Value | None:
    """Join the values that arrive at a block or are saved for a loop: different ones become ``base``."""
    values = {value for value in arriving if value is not None}
    if len(values) > 1:
        merged.add(base)
    return Value(base, 0) if base in merged else next(iter(values), None)


def _add_phi(register: Register, base: Base, block: int, incoming: dict[int, Value | None]) -> None:
    register.phis[base] = (block, {edge: value or UNSET for edge, value in incoming.items()})
