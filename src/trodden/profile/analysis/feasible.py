"""Paths that the graph has and no execution takes: a branch on a truth value that was decided just before.

Where a block branches on a phi (:class:`trodden.program.facts.TruthPhi`), the edge along which control
arrived may decide the branch, as after the left operand of ``while (a && b)``.  The other successor is then
impossible.  No other impossible path is recognised: values in memory are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.plan.paths.dag import ArcKind, build_dag
from trodden.plan.probes import Paths
from trodden.profile.analysis.parallel_edges import representatives
from trodden.profile.analysis.path_trie import edges_out
from trodden.program.facts import FunctionFacts

Truth = bool | None
"""The truth value that a block has by its phi: None if it has none, or one that is not known."""

_TRUTHS: tuple[Truth, ...] = (None, False, True)


def arrives(facts: FunctionFacts, edge: int, before: Truth) -> Truth:
    """The truth value of a block that is entered along an edge; ``before`` is that of the edge's source."""
    phi = facts.truths.get(facts.graph.edges[edge].dst)
    if phi is None:
        return None
    if edge in phi.known:
        return phi.known[edge]
    if edge in phi.passed and before is not None:
        return before != phi.passed[edge][1]
    return None


def possible_edges(facts: FunctionFacts, block: int, truth: Truth) -> Sequence[int]:
    """The edges that a path can take out of a block which has this truth value."""
    edges = edges_out(facts, block)
    phi = facts.truths.get(block)
    if truth is None or phi is None or not phi.tested:
        return edges
    first, second = facts.graph.out_edges[block][:2]
    taken = first if truth else second
    return [edge for edge in edges if edge == taken]


def count_possible(facts: FunctionFacts, paths: Paths) -> int:
    """How many of the paths are possible; those that differ in parallel edges only are one."""
    represented = representatives(facts, paths)
    parallel = any(first != edge for edge, first in enumerate(represented))
    if not parallel and not any(phi.tested for phi in facts.truths.values()):
        return paths.number
    dag = build_dag(facts.graph, paths.back_edges, paths.cuts, paths.resume_edges, paths.context)
    found = [[1] * len(_TRUTHS) for _ in dag.outs]
    for node in reversed(dag.order):
        arcs = [dag.arcs[number] for number in dag.outs[node]]
        if not arcs:
            continue
        for state, truth in enumerate(_TRUTHS):
            taken = set(possible_edges(facts, node, truth)) if node < facts.graph.exit else set()
            total = 0
            for arc in arcs:
                if arc.kind in (ArcKind.REAL, ArcKind.END):
                    if arc.of in taken and represented[arc.of] == arc.of:
                        total += found[arc.dst][_TRUTHS.index(arrives(facts, arc.of, truth))]
                elif arc.kind is ArcKind.PASS:
                    total += found[arc.dst][state]
                else:
                    total += found[arc.dst][0]
            found[node][state] = total
    return found[dag.entry][0]
