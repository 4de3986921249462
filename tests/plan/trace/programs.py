"""Random programs of several procedures that trace themselves."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.graphs import costs_for, dense_graph, leaving_graph
from tests.plan.trace.procedures import Calls, flow_out, random_calls
from trodden.graph.cfg import Graph
from trodden.plan.probes import Plan, Trace
from trodden.plan.trace.activation import Procedure
from trodden.plan.trace.bits import bit_plan
from trodden.plan.trace.execution import Program
from trodden.plan.trace.paths import region_plan
from trodden.plan.trace.witnesses import witness_plan

MakePlan = Callable[[Graph, list[float], Calls], Plan]


def known(found: Calls) -> dict[str, Any]:
    """What is known of a procedure, as arguments for all that make plans."""
    return {
        "calls": found.calls,
        "counted": found.counted,
        "resumes": found.resumes,
        "landings": found.landings,
        "tails": found.tails,
        "entered": found.entered,
    }


def by_paths(graph: Graph, weights: list[float], found: Calls) -> Plan:
    return region_plan(graph, weights, **known(found))


def by_short_paths(graph: Graph, weights: list[float], found: Calls) -> Plan:
    return region_plan(graph, weights, **known(found), limit=2)


def by_witnesses(graph: Graph, weights: list[float], found: Calls) -> Plan:
    return witness_plan(graph, weights, **known(found))


def by_shared_witnesses(graph: Graph, weights: list[float], found: Calls) -> Plan:
    return witness_plan(graph, weights, **known(found), reuse=True)


def by_bits(graph: Graph, weights: list[float], found: Calls) -> Plan:
    return bit_plan(graph, weights, **known(found))


def trace_of(found: Calls) -> Trace:
    return Trace(
        "",
        calls=found.calls,
        resumes=tuple(found.resumes),
        landings=tuple(found.landings),
        tails=tuple(found.tails),
        entered=found.entered,
    )


ENCODINGS: dict[str, MakePlan] = {
    "paths": by_paths,
    "short paths": by_short_paths,
    "witnesses": by_witnesses,
    "shared witnesses": by_shared_witnesses,
    "bits": by_bits,
}


def random_program(
    seed: int, make_plan: MakePlan = by_paths, most: int = 4, blocks: int = 9, calling: float | None = None
) -> Program:
    """Up to ``most`` procedures, some of which are only called by calls that are certain.

    They have up to ``blocks`` blocks, ``calling`` of which, or any share, end in calls.
    """
    rng = random.Random(seed)
    size = rng.randint(1, most)
    make = rng.choice([leaving_graph, leaving_graph, dense_graph])
    graphs = [
        make(rng.randrange(1, 10**7), rng.randint(2, blocks), rng.randint(4, 2 * blocks + 2))
        for _ in range(size)
    ]
    found = [
        random_calls(graph, rng.randrange(1, 10**7), calling or rng.choice([0.2, 0.4, 0.7]))
        for graph in graphs
    ]
    for number, calls in enumerate(found):
        calls.entered = number == 0 or bool(calls.tails) or rng.random() < 0.6
    entered = [number for number in range(size) if found[number].entered]
    procedures = []
    for number, (graph, calls) in enumerate(zip(graphs, found, strict=True)):
        inner = [other for other in range(number + 1, size) if not found[other].entered]
        for block in calls.calls:
            if inner and returns(graph, calls, block) and rng.random() < 0.5:
                calls.calls[block] = rng.choice(inner)
        opaque = [block for block, callee in calls.calls.items() if callee is None]
        callees = {
            block: tuple(rng.sample(entered, rng.randint(1, len(entered))))
            for block in opaque
            if rng.random() < 0.7
        }
        outside = frozenset(block for block in opaque if rng.random() < 0.6)
        leaving = [
            block
            for block in range(graph.exit)
            if block not in calls.calls
            and {graph.edges[e].dst for e in flow_out(graph, block)} == {graph.exit}
        ]
        resuming = frozenset(block for block in leaving if calls.landings and rng.random() < 0.3)
        plan = make_plan(graph, costs_for(graph, rng.randrange(10**7)), calls)
        procedures.append(Procedure(graph, plan, callees, outside, resuming))
    callbacks = tuple(number for number in entered if rng.random() < 0.6)
    return Program(procedures, tuple(entered), callbacks)


def returns(graph: Graph, calls: Calls, block: int) -> bool:
    return block not in calls.tails and any(
        graph.edges[edge].dst not in (*calls.landings, graph.exit) for edge in flow_out(graph, block)
    )
