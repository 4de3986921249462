"""Loops of LLVM IR with a constant trip count: a variable runs from one constant to another in equal steps.

The variable has to be an SSA value, as in optimised code; one that lives in memory is not followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.graph.cfg import Graph
from trodden.graph.loop_forest import Loop, LoopForest
from trodden.native.analysis.comparisons import Values
from trodden.native.analysis.induction import constant_step
from trodden.native.ir.function import IRFunction
from trodden.native.ir.syntax.operands import is_integer
from trodden.weigh.features.dead_ends import is_dead_end

_MOST = 1 << 40
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def constant_trip_counts(
    graph: Graph, ir: IRFunction, forest: LoopForest, values: Values
) -> Mapping[int, int]:
    """How often the header of each such loop runs each time the loop is entered, by header.

    Besides the exit at its end the loop may have others after which nothing returns: checks that fail.
    """
    found: dict[int, int] = {}
    for loop in forest.loops:
        exits = loop.exits if len(loop.exits) == 1 else _returning_exits(graph, ir, loop)
        if len(exits) != 1 or len(loop.back_edges) != 1:
            continue
        leaving = graph.edges[exits[0]]
        latch = graph.edges[loop.back_edges[0]].src
        if leaving.src not in (loop.header, latch):
            continue
        count = _iterations(ir, values, latch, leaving.src, leaving.dst)
        if 0 < count < _MOST:
            found[loop.header] = count
    return found


def _returning_exits(graph: Graph, ir: IRFunction, loop: Loop) -> Sequence[int]:
    """The exits of a loop, except those after which nothing returns."""
    return [
        edge
        for edge in loop.exits
        if not is_dead_end(
            graph, graph.edges[edge].dst, lambda block: ir.blocks[block].opcode == "unreachable"
        )
    ]


def _iterations(ir: IRFunction, values: Values, latch: int, leaving: int, outside: int) -> int:
    block = ir.blocks[leaving]
    if block.opcode != "br" or len(block.successors) != 2 or outside >= len(ir.blocks):
        return 0
    test = values.definition(block.terminator.condition)
    if test is None or test.opcode != "icmp" or not test.operands[0].type.startswith("i"):
        return 0
    tested, bound = test.operands
    if tested.local is None or not is_integer(bound.value):
        return 0
    relation, width, limit = test.predicate or "", int(tested.type[1:]), int(bound.value)
    exits_if_true = block.successors[0] == ir.blocks[outside].label
    variable = _variable(values, tested.local)
    start, step = _course(values, variable, ir.blocks[latch].label)
    if start is None or not step:
        return 0
    first = start if variable == tested.local else start + step
    if relation.startswith("u"):
        # All integers are printed as signed ones.
        first, limit = first % (1 << width), limit % (1 << width)
    # Wherever in the loop it is, the test is executed as often as the header.
    return _tests(relation, exits_if_true, first, step, limit)


def _variable(values: Values, tested: str) -> str:
    """The phi whose value is tested, before or after its step; empty if it is none."""
    definition = values.definition(tested)
    if definition is None:
        return ""
    if definition.is_phi:
        return tested
    base = definition.operands[0].local if definition.opcode == "add" else None
    return base if base is not None and constant_step(definition, base) is not None else ""


def _course(values: Values, variable: str, latch: str) -> tuple[int | None, int]:
    """The start and the step of a variable, if both are constants."""
    phi = values.definition(variable)
    if phi is None or not phi.is_phi or not (phi.type or "").startswith("i"):
        return None, 0
    incoming = {label: value for value, label in phi.incoming}
    following = incoming.pop(latch, "")
    starts = set(incoming.values())
    definition = values.definition(following[1:]) if following.startswith("%") else None
    step = None if definition is None else constant_step(definition, variable)
    if len(starts) != 1 or step is None:
        return None, 0
    start = starts.pop()
    return (int(start), step) if is_integer(start) else (None, 0)


def _tests(relation: str, exits_if_true: bool, first: int, step: int, limit: int) -> int:
    """How often the test is executed until it exits; 0 if that is unknown."""
    if exits_if_true:
        relation = {"eq": "ne", "ne": "eq"}.get(relation, _opposite(relation))
    distance = limit - first
    if relation == "ne":
        return distance // step + 1 if distance % step == 0 and distance // step >= 0 else 0
    kind = relation[1:]
    if kind in ("lt", "le") and step > 0:
        reach = distance if kind == "lt" else distance + 1
        return max(-(-reach // step), 0) + 1
    if kind in ("gt", "ge") and step < 0:
        reach = -distance if kind == "gt" else -distance + 1
        return max(-(-reach // -step), 0) + 1
    return 0


def _opposite(relation: str) -> str:
    return relation[:1] + _OPPOSITE.get(relation[1:], relation[1:])
