"""The branches of a function at their source lines, with the counts of their successors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind
from trodden.profile.model import Count, FunctionProfile


@dataclass(frozen=True, slots=True)
class Outcome:
    """A successor of a branch: its first line, if that is in the branch's file, and the count of the edge."""

    line: int | None
    label: str
    count: Count


@dataclass(frozen=True, slots=True)
class Branch:
    """A block with several successors, its count (``ran``) and the inlined ``instance`` of its line."""

    file: str
    line: int
    label: str
    ran: Count
    outcomes: tuple[Outcome, ...]
    instance: int = 0


def branches(function: FunctionProfile) -> Iterator[Branch]:
    """The branches that have a source line and whose edges were counted, in the order of the blocks."""
    graph, blocks = function.facts.graph, function.facts.blocks
    for vertex, facts in enumerate(blocks):
        edges = [e for e in graph.out_edges[vertex] if graph.edges[e].kind is EdgeKind.FLOW]
        if len(edges) < 2:
            continue
        known = [*facts.lines, *([facts.branch] if facts.branch else [])]
        location = next((ref for ref in reversed(known) if ref.line > 0), None)
        if location is None:
            continue
        outcomes: list[Outcome] = []
        for index in edges:
            target, count = graph.edges[index].dst, function.edge_counts[index]
            if count is None:
                break
            if target == graph.exit:
                outcomes.append(Outcome(None, "exit", count))
            else:
                near = (r.line for r in blocks[target].lines if r.line > 0 and r.file == location.file)
                first = next(near, None)
                outcomes.append(Outcome(first, graph.labels[target], count))
        else:
            path, ran = function.files[location.file].path, function.block_counts[vertex]
            yield Branch(path, location.line, graph.labels[vertex], ran, tuple(outcomes), location.instance)
