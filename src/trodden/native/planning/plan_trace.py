"""From a function that is traced to the plan of its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.graph.traverse import topological_order
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.induction import Induction
from trodden.native.analysis.known_calls import TracedCalls
from trodden.native.options.declarations import Options
from trodden.native.planning.probe_costs import edge_costs
from trodden.plan.probes import Plan
from trodden.plan.trace.bits import bit_plan
from trodden.plan.trace.paths import region_plan
from trodden.plan.trace.witnesses import witness_plan

_PLANS = {"paths": region_plan, "witnesses": witness_plan, "bits": bit_plan}

MOST_TRIPS = 6
"""How many trip counts there may be before the record of a region.

Only after that record is it known whether there is room for more, and behind the end of the room there are no
more than 64 bytes.
"""


def trace_plan(
    read: FunctionCfg, options: Options, weights: list[float], calls: TracedCalls
) -> tuple[Plan, dict[int, Induction]]:
    """The plan, and the induction variables of the loops whose trips are counted."""
    inductions = _self_loops(read) if options.loop_exit_counts else {}
    tails = [block for block in read.recording_calls if read.leaves(block)]
    plan = _PLANS[options.trace](
        read.graph,
        edge_costs(read, weights),
        calls.callees,
        counted=tuple(inductions),
        resumes=sorted(read.returns_twice),
        landings=sorted(read.landing_pads),
        tails=tails,
        entered=calls.entered,
        checked=options.scheme == "checked",
    )
    counted = () if plan.trace is None else plan.trace.counted
    return plan, {edge: inductions[edge] for edge in counted}


def _self_loops(read: FunctionCfg) -> dict[int, Induction]:
    """The self loops whose trips can be counted, by their edges."""
    found: dict[int, Induction] = {}
    for number, loop in enumerate(read.loops.loops):
        edge = loop.back_edges[0]
        source, target, _ = read.graph.edges[edge]
        if source == target and len(loop.back_edges) == 1 and source not in read.recording_calls:
            induction = read.induction(number)
            if induction is not None:
                found[edge] = induction
    return _few_in_a_row(read, found)


def _few_in_a_row(read: FunctionCfg, loops: Mapping[int, Induction]) -> dict[int, Induction]:
    """Those of the loops that leave no region with too many trip counts."""
    if len(loops) <= MOST_TRIPS:
        return dict(loops)
    by_block = {read.graph.edges[edge].src: edge for edge in loops}
    before = [0] * len(read.graph.labels)
    kept: dict[int, Induction] = {}
    order: Sequence[int] = topological_order(read.graph)
    position = {block: number for number, block in enumerate(order)}
    for block in order:
        edge = by_block.get(block)
        if edge is not None and before[block] < MOST_TRIPS:
            kept[edge] = loops[edge]
            before[block] += 1
        for leaving in read.graph.out_edges[block]:
            target = read.graph.edges[leaving].dst
            if position.get(target, -1) > position[block]:
                before[target] = max(before[target], before[block])
    return kept
