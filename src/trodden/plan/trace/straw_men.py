"""What BL94 compares its placement of witnesses with.

The most straightforward trace has a witness for each block (§4).  The first version of AE recorded where each
predicate went (§6.2, "Old").  Both need nothing else for several procedures but separators.
"""

from __future__ import annotations

from collections.abc import Mapping

from trodden.graph.cfg import Graph
from trodden.graph.traverse import reachable
from trodden.plan.probes import EmitEntry, EmitWitness, Plan, Probe, Trace
from trodden.plan.trace.region_graph import check_trace, flow_out
from trodden.plan.trace.witnesses import decides, separators


def every_block_plan(graph: Graph, calls: Mapping[int, int | None], entered: bool = True) -> Plan:
    """Each block writes its number."""
    trace = Trace("blocks", calls=dict(calls), entered=entered)
    check_trace(graph, trace)
    on_blocks = {block: (EmitWitness(block),) for block in sorted(reachable(graph) - {graph.exit})}
    return Plan("trace-blocks", (), {}, on_blocks, on_entry=(EmitEntry(),) * entered, trace=trace)


def every_target_plan(graph: Graph, calls: Mapping[int, int | None], entered: bool = True) -> Plan:
    """Each predicate writes the number of the block that it leads to."""
    trace = Trace("targets", calls=dict(calls), entered=entered)
    check_trace(graph, trace)
    witnessed = [
        index
        for vertex in sorted(reachable(graph) - {graph.exit})
        if decides(graph, trace, vertex)
        for index in flow_out(graph, vertex)
    ]
    witnessed += separators(graph, trace, witnessed)
    on_edges: dict[int, tuple[Probe, ...]] = {
        index: (EmitWitness(graph.edges[index].dst),) for index in sorted(witnessed)
    }
    trace = Trace("targets", calls=dict(calls), entered=entered, witnesses=tuple(on_edges))
    return Plan("trace-targets", (), on_edges, on_entry=(EmitEntry(),) * entered, trace=trace)
