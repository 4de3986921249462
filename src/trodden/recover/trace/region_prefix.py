"""From the path register of an interrupted frame to the way that it had taken in its region (BL96 §3.6).

In a trace of paths the register holds, at any block, the sum of the arcs since the region has begun, plus an
amount that depends on the block only.  So a frame that has not come to the end of its region says
nevertheless which of several ways led to its block.
"""

from __future__ import annotations

from trodden.graph.cfg import Graph
from trodden.plan.paths.prefixes import RegisterOffset, SinglePrefix, register_offsets
from trodden.plan.probes import WORD, Plan
from trodden.plan.trace.regions import RegionNumbering


def region_sum(graph: Graph, plan: Plan, block: int, register: int | None) -> int | None:
    """The sum of the arcs from the start of a region to a block, ``None`` where that is not known."""
    if plan.trace is None or plan.trace.encoding != "paths" or not 0 <= block < graph.exit:
        return None
    match register_offsets(graph, plan, RegionNumbering(graph, plan.trace))[block]:
        case SinglePrefix(total):
            return total
        case RegisterOffset(amount) if register is not None:
            return (register - amount) % WORD
    return None
