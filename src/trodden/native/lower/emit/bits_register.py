"""The register of a function in which the bits of a trace wait to be written (BL94 §6.2).

It holds the bits below a leading 1.  As the path register it is no variable: it is a constant until different
values meet in a phi, or the result of the instructions that have appended the last bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind
from trodden.graph.traverse import topological_order
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.plan.probes import EmitBits, FlushBits, Plan, Probe

MANY = 24
"""From so many bits on they are written at the end of a loop's iteration."""

_MOST = 63


class Held(NamedTuple):
    """What the register holds: a constant or the name of a value, and the most bits that it may have."""

    operand: str
    most: int

    @property
    def constant(self) -> int | None:
        """The constant."""
        return int(self.operand) if self.operand.isdecimal() else None


EMPTY = Held("1", 0)


@dataclass
class BitsRegister:
    """What the register holds at the start of each block (``at``), and at the end of each edge (``along``).

    In the blocks of ``phis`` different values meet.  Some edges cannot be split: what is written on them has
    to be written in their targets, ``merged``, each with those edges.
    """

    at: dict[int, Held] = field(default_factory=dict)
    along: dict[int, Held] = field(default_factory=dict)
    phis: set[int] = field(default_factory=set)
    merged: dict[int, set[int]] = field(default_factory=dict)

    def arriving(self, block: int) -> str:
        """The name of the phi of a block, without its prefix."""
        return f"trodden.bits.{block}.arriving" if block in self.merged else f"trodden.bits.{block}"


def track_bits(read: FunctionCfg, plan: Plan) -> BitsRegister:
    """Propagate the register through a procedure, in passes until nothing changes."""
    graph, register = read.graph, BitsRegister()
    order = topological_order(graph)
    reached = set(order)
    ins = {v: [e for e in read.in_edges(v) if graph.edges[e].src in reached] for v in order}
    ins = {v: [e for e in each if graph.edges[e].kind is EdgeKind.FLOW] for v, each in ins.items()}
    for vertex in order:
        found = {
            e for e in ins[vertex] if not has_room(read, e) and _flushes(bit_probes(plan.on_edges.get(e, ())))
        }
        if found:
            register.merged[vertex] = found
            register.phis.add(vertex)
    changed = True
    while changed:
        changed = False
        for vertex in order:
            for edge in ins[vertex]:
                source = graph.edges[edge].src
                before = register.at.get(source)
                if before is not None:
                    if _flushes(bit_probes(plan.on_blocks.get(source, ()))):
                        before = EMPTY
                    probes = bit_probes(plan.on_edges.get(edge, ()))
                    if edge in register.merged.get(vertex, ()):
                        probes = [*appending(probes)]
                    register.along[edge] = _after(edge, before, probes)
            arriving = [register.along[edge] for edge in ins[vertex] if edge in register.along]
            arriving += [EMPTY] if vertex == graph.root else []
            joined = _meet(register, vertex, arriving)
            changed |= joined != register.at.get(vertex)
            register.at[vertex] = joined
    return register


def bit_probes(probes: Sequence[Probe]) -> list[EmitBits | FlushBits]:
    """The probes that concern the register."""
    return [probe for probe in probes if isinstance(probe, EmitBits | FlushBits)]


def appending(probes: Sequence[EmitBits | FlushBits]) -> list[EmitBits]:
    """Those of them that append bits."""
    return [probe for probe in probes if isinstance(probe, EmitBits)]


def has_room(read: FunctionCfg, edge: int) -> bool:
    """Whether code can be executed on an edge alone."""
    return read.needs_no_block(edge) or read.splittable(edge)


def after_bits(held: Held, probe: EmitBits) -> Held:
    """The register after more bits; it is a constant only if it was one."""
    most = min(held.most + probe.bits, _MOST)
    if held.constant is None or held.most + probe.bits > _MOST:
        return Held("", most)
    return Held(str(held.constant << probe.bits | probe.value), most)


def after_flush(held: Held) -> Held:
    """The register after its bits have been written if there were many."""
    if held.most < MANY:
        return held
    return EMPTY if held.constant is not None else Held("", MANY - 1)


def _flushes(probes: Sequence[EmitBits | FlushBits]) -> bool:
    return any(isinstance(probe, FlushBits) for probe in probes)


def _after(edge: int, held: Held, probes: Sequence[EmitBits | FlushBits]) -> Held:
    before = held
    for probe in probes:
        if isinstance(probe, EmitBits):
            held = after_bits(held, probe)
        elif probe.forced:
            held = EMPTY
        else:
            held = after_flush(held)
    if held.operand or held == before:
        return held
    return Held(f"%trodden.bits.after.{edge}", held.most)


def _meet(register: BitsRegister, vertex: int, arriving: Sequence[Held]) -> Held:
    most = max((held.most for held in arriving), default=0)
    if vertex in register.merged:
        # Along other edges nothing is written, however many bits wait.
        return Held(f"%trodden.bits.{vertex}", most)
    if len({held.operand for held in arriving}) > 1:
        register.phis.add(vertex)
    if vertex in register.phis or not arriving:
        return Held(f"%trodden.bits.{vertex}", most) if arriving else EMPTY
    return Held(arriving[0].operand, most)


def needed_phis(register: BitsRegister, read: FunctionCfg) -> Mapping[int, Mapping[int, Held]]:
    """The phis by their blocks: what the register holds on arrival by each edge."""
    return {
        block: {edge: register.along.get(edge, EMPTY) for edge in read.in_edges(block)}
        for block in sorted(register.phis)
    }
