"""Branches on a phi: the edge by which control arrives may decide where it goes.

A compiler that does not optimise evaluates ``while (a && b)`` to a truth value before it branches: the block
of the branch begins with a phi that is false on the edge from the test of ``a``.  The value is followed from
the branch back to the phi through what is put between them (negations, conversions, comparisons with a
constant), and from there to phis of predecessors, which nested operators have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.operands import is_integer
from trodden.program.facts import TruthPhi

_MOST_STEPS = 16
"""How far a condition is followed back within its block."""

_TRUTH = {"true": 1, "false": 0}
_Step = Callable[[int], int]


class _Derived(NamedTuple):
    """A value that follows from a phi of its block, by these ``steps`` from the last to the first."""

    phi: Instruction
    steps: tuple[_Step, ...]

    def value(self, of_phi: int) -> bool:
        for step in reversed(self.steps):
            of_phi = step(of_phi)
        return bool(of_phi)


def truth_phis(read: FunctionCfg) -> dict[int, TruthPhi]:
    """The blocks whose branch depends on a phi, and those whose phi it takes its value from."""
    blocks = read.ir.blocks
    derived: dict[int, _Derived] = {}
    for vertex, block in enumerate(blocks):
        if block.opcode == "br" and len(block.successors) == 2 and " = phi " in block.text:
            name = block.terminator.condition
            found = None if name is None else _derived(block, name)
            if found is not None:
                derived[vertex] = found
    tested = frozenset(derived)
    phis: dict[int, TruthPhi] = {}
    work = list(derived)
    while work:
        vertex = work.pop()
        own = derived[vertex]
        known: dict[int, bool] = {}
        passed: dict[int, tuple[int, bool]] = {}
        incoming = {label: value for value, label in own.phi.incoming}
        for edge in read.in_edges(vertex):
            source = read.graph.edges[edge].src
            value = incoming.get(blocks[source].label, "")
            constant = _constant(value)
            if constant is not None:
                known[edge] = own.value(constant)
            elif value.startswith("%") and source != vertex and own.phi.phi_type == "i1":
                inner = _derived(blocks[source], value[1:])
                if inner is None or inner.phi.phi_type != "i1":
                    continue
                if source not in derived:
                    derived[source] = _Derived(inner.phi, ())
                    work.append(source)
                if derived[source].phi.result == inner.phi.result:
                    through = [own.value(inner.value(each)) for each in (0, 1)]
                    theirs = [derived[source].value(each) for each in (0, 1)]
                    if through[0] != through[1] and theirs[0] != theirs[1]:
                        passed[edge] = source, through != theirs
        phis[vertex] = TruthPhi(known, passed, vertex in tested, own.phi.phi_type == "i1")
    return _deciding(phis)


def _deciding(phis: Mapping[int, TruthPhi]) -> dict[int, TruthPhi]:
    """Those of which at least one edge decides something, directly or through others, in their order."""
    users: dict[int, list[int]] = {}
    for vertex, phi in phis.items():
        for source, _ in phi.passed.values():
            users.setdefault(source, []).append(vertex)
    found: set[int] = set()
    work = [vertex for vertex, phi in phis.items() if phi.known]
    while work:
        vertex = work.pop()
        if vertex not in found:
            found.add(vertex)
            work += users.get(vertex, ())
    return {
        vertex: replace(
            phis[vertex],
            passed={edge: source for edge, source in phis[vertex].passed.items() if source[0] in found},
        )
        for vertex in sorted(found)
    }


def _derived(block: IRBlock, name: str) -> _Derived | None:
    """How a value follows from a phi of the block, if it does."""
    steps: list[_Step] = []
    for _ in range(_MOST_STEPS):
        definition = block.definition(name)
        if definition is None:
            return None
        if definition.is_phi:
            return _Derived(definition, tuple(steps))
        found = _step(definition)
        if found is None:
            return None
        step, name = found
        steps.append(step)
    return None


def _step(definition: Instruction) -> tuple[_Step, str] | None:
    """What an instruction computes from one other value, and the name of that value."""
    if definition.opcode in ("zext", "freeze"):
        (operand,) = definition.operands
        return None if operand.local is None else (_same, operand.local)
    if definition.opcode in ("xor", "icmp"):
        left, right = definition.operands
        constant = _constant(right.value)
        if left.local is None or constant is None:
            return None
        if definition.opcode == "xor":
            return (_negation, left.local) if (left.type, constant) == ("i1", 1) else None
        if definition.predicate == "eq":
            return (lambda value: int(value == constant)), left.local
        if definition.predicate == "ne":
            return (lambda value: int(value != constant)), left.local
    if definition.opcode == "trunc" and definition.type == "i1":
        (operand,) = definition.operands
        return None if operand.local is None else (_lowest_bit, operand.local)
    return None


def _same(value: int) -> int:
    return value


def _negation(value: int) -> int:
    return 1 - value


def _lowest_bit(value: int) -> int:
    return value & 1


def _constant(value: str) -> int | None:
    """An integer constant of IR text; None for anything else, ``undef`` and ``poison`` included."""
    if value in _TRUTH:
        return _TRUTH[value]
    return int(value) if is_integer(value) else None
