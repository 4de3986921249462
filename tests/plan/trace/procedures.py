"""Random procedures to trace: graphs with calls, landing pads, self loops that are counted."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.graphs import costs_for
from trodden.graph.cfg import EdgeKind, Graph


@dataclass
class Calls:
    """What a front end knows about a graph, as :func:`~trodden.plan.trace.paths.region_plan` wants it."""

    calls: dict[int, int | None] = field(default_factory=dict)
    counted: list[int] = field(default_factory=list)
    resumes: list[int] = field(default_factory=list)
    landings: list[int] = field(default_factory=list)
    tails: list[int] = field(default_factory=list)
    entered: bool = True


def flow_out(graph: Graph, block: int) -> list[int]:
    return [index for index in graph.out_edges[block] if graph.edges[index].kind is EdgeKind.FLOW]


def random_calls(graph: Graph, seed: int, share: float | None = None) -> Calls:
    """Calls in blocks with at most one way on, or with one and a landing pad, which only calls lead to."""
    rng = random.Random(seed)
    share = rng.choice([0.0, 0.2, 0.5, 1.0]) if share is None else share
    found = Calls(entered=rng.random() < 0.7)
    landings: set[int] = set()
    for block in range(graph.exit):
        ways = flow_out(graph, block)
        if rng.random() >= share:
            continue
        if len(ways) == 2:
            pad = graph.edges[ways[1]].dst
            if pad in (graph.root, graph.exit, graph.edges[ways[0]].dst, block):
                continue
            landings.add(pad)
        if len(ways) <= 2:
            found.calls[block] = None
    for pad in sorted(landings):
        if any(graph.edges[edge].src not in found.calls for edge in graph.in_edges[pad]):
            landings.discard(pad)
    # A landing pad is reached by unwinding only.
    normal = {graph.edges[flow_out(graph, block)[0]].dst for block in found.calls if flow_out(graph, block)}
    landings -= normal
    for block in list(found.calls):
        ways = flow_out(graph, block)
        if len(ways) == 2 and graph.edges[ways[1]].dst not in landings:
            del found.calls[block]
    reached = {graph.edges[edge].src for pad in landings for edge in graph.in_edges[pad]}
    if not reached <= found.calls.keys():
        return random_calls(graph, seed + 1, share / 2 if share > 0.05 else 0.0)
    found.landings = sorted(landings)
    for block in found.calls:
        ways = flow_out(graph, block)
        if ways and all(graph.edges[edge].dst == graph.exit for edge in ways) and rng.random() < 0.5:
            found.tails.append(block)
        elif ways and rng.random() < 0.1:
            found.resumes.append(block)
    found.counted = [
        index
        for index, edge in enumerate(graph.edges)
        if edge.src == edge.dst and edge.kind is EdgeKind.FLOW and rng.random() < 0.8
    ]
    return found


def weights_for(graph: Graph, seed: int) -> list[float]:
    return costs_for(graph, seed)
