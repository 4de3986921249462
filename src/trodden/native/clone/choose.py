"""Which blocks get copies for a known path register (see :mod:`trodden.plan.paths.block_cloning`).

How often a block is come to with which value follows from the weights: what comes to a block goes on from it
by its branches, whatever the register holds, and paths start anew with a known value behind every edge that
ended one.  The values that are expected most get copies, as long as the procedure does not grow by too much.
A copy pays only where the value is made use of: in a bump of the table, or in the frame's cell before a call.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import depth_first
from trodden.native.analysis.call_effects import invokes_unduplicable
from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.clone.clone_text import can_be_cloned
from trodden.native.ir.attributes import Attributes
from trodden.native.planning.plan_function import Planned
from trodden.plan.paths.block_cloning import Copy
from trodden.plan.paths.path_register import UNSET, Register, Value
from trodden.plan.probes import Bump, Plan, Restore, Set

GROWTH = 0.5
"""By which part of its instructions a function may grow."""

LEAST = 60
"""So many instructions may be added to any function."""

MOST_VALUES = 16
"""How many values of the register are told apart in a block."""

WORTH = 0.25
"""How often a copy is walked for each call of its procedure, at least."""


def chosen(
    read: FunctionRead, planned: Planned, register: Register, attributes: Attributes
) -> dict[Copy, float]:
    """The copies that are worth their code, in the order of the blocks, and how often each should run."""
    open_blocks = _open_blocks(read, planned, register, attributes)
    if not open_blocks:
        return {}
    expected = _expected(read.graph, planned.plan, register, planned.weights)
    return {
        (block, value): expected[block][value]
        for block, value in _fitting(read, planned.weights, open_blocks, expected)
    }


def _open_blocks(
    read: FunctionRead, planned: Planned, register: Register, attributes: Attributes
) -> list[int]:
    """The blocks in which the register is wanted and unknown, and that can be copied."""
    wanted = sorted(_wanted(read.graph, planned.plan, planned.ambiguous))
    unknown = [block for block in wanted if (register.at[block] or UNSET).base is not None]
    return [block for block in unknown if _copiable(read, block, attributes)]


def _fitting(
    read: FunctionRead,
    weights: Sequence[float],
    open_blocks: Collection[int],
    expected: Mapping[int, Mapping[int, float]],
) -> list[Copy]:
    """The copies that run most often, as many as there is room for, in the order of the blocks."""
    room = max(LEAST, GROWTH * sum(block.size for block in read.ir.blocks))
    least = max(weights[read.graph.closing] * WORTH, sys.float_info.min)
    candidates = [
        (-often, block, value)
        for block in open_blocks
        for value, often in expected.get(block, {}).items()
        if often >= least
    ]
    fitting: list[Copy] = []
    for _, block, value in sorted(candidates):
        size = read.ir.blocks[block].size
        if size <= room:
            room -= size
            fitting.append((block, value))
    return sorted(fitting)


def _copiable(read: FunctionRead, block: int, attributes: Attributes) -> bool:
    """Whether a block can be copied and all that leads to it can be sent elsewhere."""
    ir = read.ir.blocks[block]
    if block == read.graph.root or block in read.returning_twice or not can_be_cloned(ir):
        return False
    if invokes_unduplicable(ir, attributes):
        return False
    if any(call.unduplicable or call.returns_twice for call in read.calls[block]):
        return False
    return all(map(read.splittable, read.in_edges(block)))


def _wanted(graph: Graph, plan: Plan, ambiguous: Collection[int]) -> set[int]:
    """The blocks in which somebody still looks at the register that holds on entering them."""
    wanted = set(ambiguous)
    waiting = list(wanted)
    for edge, probes in plan.on_edges.items():
        if _looks(probes) and graph.edges[edge].src not in wanted:
            wanted.add(graph.edges[edge].src)
            waiting.append(graph.edges[edge].src)
    while waiting:
        block = waiting.pop()
        for edge in graph.in_edges[block]:
            source = graph.edges[edge].src
            if graph.edges[edge].kind is not EdgeKind.FLOW or source in wanted:
                continue
            if not any(isinstance(probe, Set | Restore) for probe in plan.on_edges.get(edge, ())):
                wanted.add(source)
                waiting.append(source)
    return wanted


def _looks(probes: Sequence[object]) -> bool:
    """Whether the probes of an edge make use of the register as it is before them."""
    for probe in probes:
        if isinstance(probe, Bump):
            return True
        if isinstance(probe, Set | Restore):
            return False
    return False


def _expected(
    graph: Graph, plan: Plan, register: Register, weights: Sequence[float]
) -> dict[int, dict[int, float]]:
    """How often each block is expected to be come to with which known value of the register."""
    search = depth_first(graph)
    order = search.postorder[::-1]
    found: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    start = register.after(None, plan.on_entry)
    if start is not None and start.base is None:
        found[graph.root][start.add] += weights[graph.closing]
    for edge in search.back_edges:
        source, target, _ = graph.edges[edge]
        after = register.after(register.at[source], plan.on_edges.get(edge, ()))
        if after is not None and after.base is None:
            found[target][after.add] += weights[edge]
    for block in order:
        if block == graph.exit:
            continue
        leaving = [
            edge
            for edge in graph.out_edges[block]
            if graph.edges[edge].kind is EdgeKind.FLOW and graph.edges[edge].dst != block
        ]
        going = sum(weights[edge] for edge in leaving)
        held = register.at[block]
        if held is not None and held.base is None:
            found[block] = {held.add: sum(weights[edge] for edge in graph.in_edges[block])}
        if going <= 0:
            continue
        values = sorted(found[block].items(), key=lambda pair: -pair[1])[:MOST_VALUES]
        found[block] = dict(values)
        for value, often in values:
            for edge in leaving:
                target = graph.edges[edge].dst
                if edge in search.back_edges or target == graph.exit or not weights[edge]:
                    continue
                after = register.after(Value(None, value), plan.on_edges.get(edge, ()))
                if after is not None and after.base is None:
                    found[target][after.add] += often * weights[edge] / going
    return found
