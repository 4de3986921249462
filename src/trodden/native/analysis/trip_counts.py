"""Loops of LLVM IR that turn a certain number of times: from one constant to another in even steps.

The counter has to be a value of its own, as in optimised code; one that lives in memory is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trodden.graph.cfg import Graph
from trodden.graph.loop_forest import Loop, LoopForest
from trodden.native.analysis.comparisons import Values
from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.weigh.features.dead_ends import is_dead_end

_PHI = re.compile(r"phi i\d+ (\[.*)$")
_INCOMING = re.compile(rf"\[ ([^\s,]+), %({NAME}) \]")
_STEP = re.compile(rf"add (?:nuw |nsw )*i\d+ %({NAME}), (-?\d+)")
_TEST = re.compile(rf"icmp (?:samesign )?(\w+) i(\d+) %({NAME}), (-?\d+)")
_BRANCH = re.compile(rf"  br i1 %({NAME}), label %({NAME}), label %({NAME})")
_MOST = 1 << 40


def certain_trips(graph: Graph, ir: IRFunction, forest: LoopForest, values: Values) -> Mapping[int, int]:
    """How often each such loop turns for each time it is entered, by its header.

    Besides the way out at its end it may have others, behind which nothing returns: checks that fail.
    """
    found: dict[int, int] = {}
    for loop in forest.loops:
        exits = loop.exits if len(loop.exits) == 1 else _meant(graph, ir, loop)
        if len(exits) != 1 or len(loop.back_edges) != 1:
            continue
        leaving = graph.edges[exits[0]]
        latch = graph.edges[loop.back_edges[0]].src
        if leaving.src not in (loop.header, latch):
            continue
        trips = _trips(ir, values, loop.header, latch, leaving.src, leaving.dst)
        if 0 < trips < _MOST:
            found[loop.header] = trips
    return found


def _meant(graph: Graph, ir: IRFunction, loop: Loop) -> Sequence[int]:
    """The ways out of a loop but those to where nothing returns."""
    return [
        edge
        for edge in loop.exits
        if not is_dead_end(
            graph, graph.edges[edge].dst, lambda block: ir.blocks[block].opcode == "unreachable"
        )
    ]


def _trips(ir: IRFunction, values: Values, header: int, latch: int, leaving: int, outside: int) -> int:
    block = ir.blocks[leaving]
    branch = _BRANCH.match(block.text, block.terminator_start)
    test = _TEST.match(values.made(branch.group(1))) if branch is not None else None
    if branch is None or test is None or outside >= len(ir.blocks):
        return 0
    relation, width, name, limit = test.group(1), int(test.group(2)), test.group(3), int(test.group(4))
    holds_to_leave = branch.group(2) == ir.blocks[outside].label
    step_line = _STEP.match(values.made(name))
    counter = name if _PHI.match(values.made(name)) else step_line.group(1) if step_line else ""
    start, step = _course(values, counter, ir.blocks[latch].label)
    if start is None or not step:
        return 0
    first = start if counter == name else start + step
    if relation.startswith("u"):
        # All numbers are printed as if they had a sign.
        first, limit = first % (1 << width), limit % (1 << width)
    # Wherever in the loop it stands, the header was passed as often as the test was made.
    return _turns(relation, holds_to_leave, first, step, limit)


def _course(values: Values, counter: str, latch: str) -> tuple[int | None, int]:
    """Where a counter starts and by how much it changes, if both are constants."""
    phi = _PHI.match(values.made(counter))
    if phi is None:
        return None, 0
    incoming = {source: value for value, source in _INCOMING.findall(phi.group(1))}
    around = incoming.pop(latch, "")
    starts = set(incoming.values())
    step = _STEP.match(values.made(around[1:])) if around.startswith("%") else None
    if len(starts) != 1 or step is None or step.group(1) != counter:
        return None, 0
    start = starts.pop()
    return (int(start), int(step.group(2))) if re.fullmatch(r"-?\d+", start) else (None, 0)


def _turns(relation: str, holds_to_leave: bool, first: int, step: int, limit: int) -> int:
    """How often the test is made until it says to leave; 0 if that cannot be told."""
    if holds_to_leave:
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
    opposites = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
    return relation[:1] + opposites.get(relation[1:], relation[1:])
