"""How many conditional branches a run has executed, and how many blocks: what traces are measured by."""

from __future__ import annotations

from trodden.graph.cfg import EdgeKind
from trodden.profile.model import Profile


def branch_figures(profile: Profile) -> dict[str, int]:
    """Of an edge profile: executions of blocks, and of those with more than one successor."""
    blocks = branches = 0
    for function in profile.functions.values():
        graph = function.facts.graph
        for number, block in enumerate(function.blocks):
            count = round(block.count)
            blocks += count
            out = graph.out_edges[number]
            branches += count * (sum(graph.edges[edge].kind is EdgeKind.FLOW for edge in out) > 1)
    return {"blocks": blocks, "branches": branches}
