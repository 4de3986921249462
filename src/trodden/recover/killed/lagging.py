"""Counters that are behind others because a process was killed between the two increments.

Where two counters count the same thing, they are incremented one right after the other.  If their values
differ, either the lower one lags or the other one is wrong.  It lags if the process can have been killed
between the two increments, which follows from the plan.  Then the difference is pending, and is added to the
lower one.

Edges that paths take come first (``edge_counters_behind_paths``), because walks can be found only in what
remains.  Self loops come after the walks, which show how often control reached their blocks: first entries
that look like iterations (``entries_in_root_loop``), then the counters of the iterations
(``self_loop_counters``).
"""

from __future__ import annotations

from collections.abc import Mapping

from trodden.plan.probes import BlockMeasure
from trodden.recover.killed.procedure import Procedure
from trodden.recover.paths import PathFlow


def edge_counters_behind_paths(procedure: Procedure, excess: Mapping[int, int]) -> dict[int, int]:
    """Increments that are pending, by slot: the path was counted already, its edge was not.

    That is possible where the path is counted when the edge is taken, or before.  Anywhere else an edge
    whose own counter has less than the paths say is a contradiction that no kill explains, and is left to
    be reported.
    """
    edges = procedure.graph.edges
    return {
        procedure.redundant_slots[edge]: -times
        for edge, times in excess.items()
        if times < 0 and (procedure.counts_paths(edge) or edges[edge].src in procedure.counted_early)
    }


def entries_in_root_loop(procedure: Procedure, excess: Mapping[int, int]) -> int:
    """How many executions had entered a root block that is a self loop, and had not left it.

    If the block's own counter tells the trip count, what it has more than the paths that lead to the block is
    taken for iterations.  The counter of the loop's edge shows that so many were none: they were entries.
    """
    root = procedure.graph.root
    for edge, slot in procedure.loop_counters.items():
        if procedure.plan.measures[slot] == BlockMeasure(root):
            return max(-excess.get(edge, 0), 0)
    return 0


def self_loop_counters(procedure: Procedure, flow: PathFlow, excess: Mapping[int, int]) -> dict[int, int]:
    """Increments that are pending in one of the two counters of a self loop, by slot.

    Where there is only one, and it counts the block, the paths that lead to the block may be ahead of it.
    """
    pending: dict[int, int] = {}
    for edge, slot in procedure.loop_counters.items():
        if edge not in procedure.redundant_slots:
            if flow.edges[edge] < 0:
                pending[slot] = -flow.edges[edge]
        elif excess[edge] > 0:
            pending[slot] = excess[edge]
        elif excess[edge] < 0:
            pending[procedure.redundant_slots[edge]] = -excess[edge]
    return pending
