"""What BL94 compares its placement of witnesses with.

The most straightforward trace has a witness for each block (§4).  The first version of AE recorded where each
predicate went (§6.2, "Old").  Both need nothing else for several procedures but separators.  Neither tells
parallel edges apart.
"""

from __future__ import annotations

from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.graph.traverse import reachable
from trodden.plan.probes import EmitEntry, EmitWitness, Plan, Probe, Trace
from trodden.plan.trace.region_graph import check_trace, flow_out
from trodden.plan.trace.witnesses import decides, separators


def every_block_plan(graph: Graph, trace: Trace) -> Plan:
    """Each block writes its number, and so does EXIT; ``trace`` says what is known of calls."""
    trace = replace(trace, encoding="blocks", counted=())
    check_trace(graph, trace)
    on_blocks = {block: (EmitWitness(block),) for block in sorted(reachable(graph) - {graph.exit})}
    leaving = [index for block in on_blocks.keys() - trace.calls.keys() for index in flow_out(graph, block)]
    on_edges = {
        index: (EmitWitness(graph.exit),) for index in sorted(leaving) if graph.edges[index].dst == graph.exit
    }
    entry = (EmitEntry(),) * trace.entered
    return Plan("trace-blocks", (), on_edges, on_blocks, on_entry=entry, trace=trace)


def every_target_plan(graph: Graph, trace: Trace) -> Plan:
    """Each predicate writes the number of the block that it leads to; EXIT has one too."""
    trace = replace(trace, encoding="targets", counted=())
    check_trace(graph, trace)
    witnessed = {
        index
        for vertex in reachable(graph) - {graph.exit}
        if decides(graph, trace, vertex)
        for index in flow_out(graph, vertex)
    }
    witnessed |= separators(graph, trace, witnessed)
    on_edges: dict[int, tuple[Probe, ...]] = {
        index: (EmitWitness(graph.edges[index].dst),) for index in sorted(witnessed)
    }
    trace = replace(trace, witnesses=tuple(on_edges))
    entry = (EmitEntry(),) * trace.entered
    return Plan("trace-targets", (), on_edges, on_entry=entry, trace=trace)
