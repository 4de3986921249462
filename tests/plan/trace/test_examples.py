"""The worked examples of BL94 on tracing (``tests/cases/bl94-trace.cfg``)."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.cases import Case, cases
from tests.oracles import has_pipe, simple_cycles
from trodden.graph.cfg import EdgeKind
from trodden.plan.probes import EmitBits, EmitWitness, Trace
from trodden.plan.trace.bits import bit_plan
from trodden.plan.trace.optimum import optimal_witnesses
from trodden.plan.trace.predicates import (
    EOF,
    disjoint_witness_sets,
    solves_trace,
    traced_edges,
    unblocked,
    witness_sets,
)
from trodden.plan.trace.witnesses import (
    outside_tree,
    place_witnesses,
    place_witnesses_tree_first,
    shared_values,
    witness_width,
)

FILE = "bl94-trace.cfg"


def edge_of(case: Case, source: str, target: str) -> int:
    ends = case.block(source), case.block(target)
    return next(
        index
        for index in case.graph.flow_edges()
        if (case.graph.edges[index].src, case.graph.edges[index].dst) == ends
    )


def named(case: Case) -> dict[int, str]:
    words = [[word.text for word in line.words] for line in case.section("witnesses").lines]
    return {edge_of(case, source, target): name for source, target, name in words}


def trace_of(case: Case) -> Trace:
    lines = case.section("calls").lines if case.has("calls") else []
    return Trace("witnesses", calls={case.block(line.words[0].text): None for line in lines})


def weights_of(case: Case) -> list[float]:
    assert case.text.weights is not None
    return list(case.text.weights)


def placements(case: Case) -> dict[str, set[int]]:
    weights, trace = weights_of(case), trace_of(case)
    found = {
        "placed": place_witnesses(case.graph, weights, trace),
        "tree-first": place_witnesses_tree_first(case.graph, weights, trace),
        "tree": outside_tree(case.graph, weights, Trace("witnesses"), set()),
        "optimum": optimal_witnesses(case.graph, weights, trace),
        "optimum-unblocked": optimal_witnesses(case.graph, weights),
    }
    if case.has("sufficient"):
        found["sufficient"] = set(case.edges(case.section("sufficient")))
    return found


@pytest.mark.parametrize("case", cases(FILE, having="witness-sets"), ids=str)
def test_witness_sets(case: Case) -> None:
    names = named(case)
    letters = {edge: ord(name) for edge, name in names.items()}
    spelled = {
        index: " ".join("EOF" if w == EOF else chr(w) for w in sorted(found, key=lambda w: (w == EOF, w)))
        for index, found in witness_sets(case.graph, letters).items()
    }
    expected = {}
    for line in case.section("witness-sets").lines:
        source, target, *witnesses = (word.text for word in line.words)
        expected[edge_of(case, source, target)] = " ".join(witnesses)
    assert spelled == expected
    solved = str(case.section("solved").lines[0]) == "yes"
    assert disjoint_witness_sets(case.graph, letters) == solved
    assert solves_trace(case.graph, set(letters)) == solved


@pytest.mark.parametrize("case", cases(FILE, having="executions"), ids=str)
def test_executions(case: Case) -> None:
    names = named(case)
    for line in case.section("executions").lines:
        walk, trace = str(line).split(" = ")
        edges = [edge_of(case, source, target) for source, target in pairwise(walk.split())]
        assert [names[edge] for edge in edges if edge in names] + ["EOF"] == trace.split()


@pytest.mark.parametrize("case", cases(FILE), ids=str)
def test_placements(case: Case) -> None:
    for name in ("placed", "tree-first"):
        if case.has(name):
            assert sorted(placements(case)[name]) == sorted(case.edges(case.section(name)))
    for section in case.sections("witness-cost"):
        edges = placements(case)[section.arguments[0]]
        assert sum(weights_of(case)[edge] for edge in edges) == float(str(section.lines[0]))
    if case.has("placed"):
        for name in ("placed", "tree-first", "optimum"):
            assert unblocked(case.graph, placements(case)[name], trace_of(case).calls) == []
            assert solves_trace(case.graph, placements(case)[name])


def test_what_is_superfluous_in_figure_15() -> None:
    (case,) = (case for case in cases(FILE) if str(case) == "figure-15")
    trace, chosen = trace_of(case), placements(case)["sufficient"]
    for name, needed in {"HI": False, "BD": True, "GI": True}.items():
        source, target = ("B2" if name[0] == "B" else name[0]), name[1]
        rest = chosen - {edge_of(case, source, target)}
        enough = not unblocked(case.graph, rest, trace.calls) and solves_trace(case.graph, rest)
        assert enough == (not needed)


def test_the_tree_alone_solves_figure_16_but_for_the_call() -> None:
    (case,) = (case for case in cases(FILE) if str(case) == "figure-16")
    tree = placements(case)["tree"]
    assert solves_trace(case.graph, tree)
    assert case.block("P") in unblocked(case.graph, tree, trace_of(case).calls)


@pytest.mark.parametrize("case", cases(FILE, having="turns"), ids=str)
def test_bits_of_a_turn(case: Case) -> None:
    witnesses = tuple(sorted(placements(case)["placed"]))
    values = shared_values(case.graph, Trace("witnesses", witnesses=witnesses))
    assert len(set(values.values())) == int(str(case.section("different-values").lines[0]))
    width = witness_width(len(set(values.values())))
    plan = bit_plan(case.graph, weights_of(case), {})
    for line in case.section("turns").lines:
        walk, numbers = str(line).split(" = ")
        edges = [edge_of(case, source, target) for source, target in pairwise(walk.split())]
        bits = sum(
            probe.bits
            for edge in edges
            for probe in plan.on_edges.get(edge, ())
            if isinstance(probe, EmitBits)
        )
        assert [width * sum(edge in values for edge in edges), bits] == [int(n) for n in numbers.split()]
    assert not any(isinstance(probe, EmitWitness) for probes in plan.on_edges.values() for probe in probes)


def test_every_cycle_has_a_pipe_and_the_tree_is_not_the_best() -> None:
    (case,) = (case for case in cases(FILE) if str(case) == "a-pipe-in-every-cycle")
    edges = [*traced_edges(case.graph), case.graph.closing]
    assert all(has_pipe(cycle) for cycle in simple_cycles(case.graph, edges))
    assert case.graph.edges[case.graph.closing].kind is EdgeKind.CLOSING
