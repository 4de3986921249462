"""Which blocks are cloned for a known path register (see :mod:`trodden.plan.paths.block_cloning`).

How often control reaches a block with which value of the register follows from the weights: it leaves a
block along its out-edges in the same proportions for all values of the register, and after every edge that
ends a path another one starts with a known value.  The most frequent values get clones, as long as the
procedure does not grow by too much.  A clone pays only where the value is used: in a bump of the path table,
or in a store to the frame's stack slot before a call.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import depth_first
from trodden.native.analysis.call_effects import invokes_unduplicable
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.clone.clone_text import can_be_cloned
from trodden.native.ir.attributes import Attributes
from trodden.native.planning.plan_function import Planned
from trodden.plan.overlap_probes import StartOverlap
from trodden.plan.paths.block_cloning import Clone
from trodden.plan.paths.path_register import UNSET, Register, Value
from trodden.plan.probes import Bump, Plan, Restore, Set

GROWTH = 0.5
"""By which part of its instructions a function may grow."""

LEAST = 60
"""So many instructions may be added to any function."""

MOST_VALUES = 16
"""How many values of the register are distinguished in a block."""

WORTH = 0.25
"""How often a clone is executed for each call of its procedure, at least."""


def choose_clones(
    read: FunctionCfg, planned: Planned, register: Register, attributes: Attributes
) -> dict[Clone, float]:
    """The clones that are worth their code, in the order of the blocks, with their expected frequencies."""
    candidates = _candidates(read, planned, register, attributes)
    if not candidates:
        return {}
    expected = _expected(read.graph, planned.plan, register, planned.weights)
    return {
        (block, value): expected[block][value]
        for block, value in _fitting(read, planned.weights, candidates, expected)
    }


def _candidates(read: FunctionCfg, planned: Planned, register: Register, attributes: Attributes) -> list[int]:
    """The blocks in which the register is live and unknown, and that can be cloned."""
    live = sorted(_live(read.graph, planned.plan, planned.ambiguous))
    unknown = [block for block in live if (register.at[block] or UNSET).base is not None]
    return [block for block in unknown if _is_clonable(read, block, attributes)]


def _fitting(
    read: FunctionCfg,
    weights: Sequence[float],
    candidates: Collection[int],
    expected: Mapping[int, Mapping[int, float]],
) -> list[Clone]:
    """The most frequent clones, as many as there is room for, in the order of the blocks."""
    room = max(LEAST, GROWTH * sum(block.size for block in read.ir.blocks))
    least = max(weights[read.graph.closing] * WORTH, sys.float_info.min)
    clones = [
        (-frequency, block, value)
        for block in candidates
        for value, frequency in expected.get(block, {}).items()
        if frequency >= least
    ]
    fitting: list[Clone] = []
    for _, block, value in sorted(clones):
        size = read.ir.blocks[block].size
        if size <= room:
            room -= size
            fitting.append((block, value))
    return sorted(fitting)


def _is_clonable(read: FunctionCfg, block: int, attributes: Attributes) -> bool:
    """Whether a block can be cloned and all its in-edges can be redirected."""
    ir = read.ir.blocks[block]
    if block == read.graph.root or block in read.returns_twice or not can_be_cloned(ir):
        return False
    if invokes_unduplicable(ir, attributes):
        return False
    if any(call.unduplicable or call.returns_twice for call in read.calls[block]):
        return False
    return all(map(read.splittable, read.in_edges(block)))


def _live(graph: Graph, plan: Plan, ambiguous: Collection[int]) -> set[int]:
    """The blocks at whose start the register is live: a probe still uses the value that it has there."""
    live = set(ambiguous)
    waiting = list(live)
    for edge, probes in plan.on_edges.items():
        if _uses_register(probes) and graph.edges[edge].src not in live:
            live.add(graph.edges[edge].src)
            waiting.append(graph.edges[edge].src)
    while waiting:
        block = waiting.pop()
        for edge in graph.in_edges[block]:
            source = graph.edges[edge].src
            if graph.edges[edge].kind is not EdgeKind.FLOW or source in live:
                continue
            if not any(isinstance(probe, Set | Restore) for probe in plan.on_edges.get(edge, ())):
                live.add(source)
                waiting.append(source)
    return live


def _uses_register(probes: Sequence[object]) -> bool:
    """Whether the probes of an edge use the register as it is before them."""
    for probe in probes:
        if isinstance(probe, Bump | StartOverlap):
            return True
        if isinstance(probe, Set | Restore):
            return False
    return False


def _expected(
    graph: Graph, plan: Plan, register: Register, weights: Sequence[float]
) -> dict[int, dict[int, float]]:
    """How often control is expected to reach each block with which known value of the register."""
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
        out_edges = [
            edge
            for edge in graph.out_edges[block]
            if graph.edges[edge].kind is EdgeKind.FLOW and graph.edges[edge].dst != block
        ]
        total = sum(weights[edge] for edge in out_edges)
        value_at = register.at[block]
        if value_at is not None and value_at.base is None:
            found[block] = {value_at.add: sum(weights[edge] for edge in graph.in_edges[block])}
        if total <= 0:
            continue
        values = sorted(found[block].items(), key=lambda pair: -pair[1])[:MOST_VALUES]
        found[block] = dict(values)
        for value, frequency in values:
            for edge in out_edges:
                target = graph.edges[edge].dst
                if edge in search.back_edges or target == graph.exit or not weights[edge]:
                    continue
                after = register.after(Value(None, value), plan.on_edges.get(edge, ()))
                if after is not None and after.base is None:
                    found[target][after.add] += frequency * weights[edge] / total
    return found
