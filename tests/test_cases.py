"""Every section of every case, checked."""

from __future__ import annotations

import pytest

from tests.cases import Case, cases
from trodden.graph.dominators import find_dominators
from trodden.graph.loops import find_loops
from trodden.graph.traverse import back_edges
from trodden.plan.counters.edges import count_edges
from trodden.plan.counters.schemes import (
    eprof,
    every_block,
    every_edge,
    hoist,
    vprof_by_blocks,
    vprof_by_edges,
    vprof_by_edges_optimal,
)
from trodden.plan.interpret import interpret, tally
from trodden.plan.paths.chords import chord_increments
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import Numbering, numbering_of
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import BlockMeasure, Bump, EdgeMeasure, Plan, Set
from trodden.plan.routes import Route
from trodden.recover.flow import recover
from trodden.weigh.frequency.local import local_frequencies
from trodden.weigh.frequency.nesting import nesting_weights

ABOUT_THE_GRAPH = {"loop", "dominators", "weights", "frequencies", "block-frequencies"}
ABOUT_PLANS = {"counters", "cost", "given", "hoisted", "pinned"}
ABOUT_COUNTS = {"walks", "blocks", "edges", "open"}
ABOUT_TRACES = {
    *("calls", "witnesses", "witness-sets", "solved", "executions", "placed", "tree-first", "sufficient"),
    *("turns", "witness-cost", "different-values"),
}
ABOUT_PATHS = {"paths", "values", "increments", "set", "bump"}
ABOUT_OVERLAPS = {
    *("largest-degree", "overlapping", "numbers", "edges", "stops", "runs", "loop-paths", "interesting"),
    *("bounds", "flow", "probes", "prefixes", "whole-paths", "entered", "returned", "interesting-calls"),
    *("calls-of-pairs", "call-bounds"),
}
ABOUT_PROGRAMS = {
    *("program", "pads", "resumes", "cuts", "not-entered", "local", "all-paths", "psi", "rho"),
    *("unbalanced", "at-return", "on-entry", "on-exit", "counted"),
}


def weights_of(case: Case) -> list[float]:
    return nesting_weights(case.graph) if case.text.weights is None else list(case.text.weights)


def block_weights_of(case: Case) -> list[float]:
    weights = weights_of(case)
    return [sum(weights[index] for index in incoming) for incoming in case.graph.in_edges]


def plan_of(case: Case, scheme: str) -> Plan:
    if scheme == "given":
        return count_edges("given", case.edges(case.section("given")))
    if scheme == "vprof-blocks":
        return vprof_by_blocks(case.graph, block_weights_of(case))
    make = {"eprof": eprof, "vprof-edges": vprof_by_edges, "vprof-optimal": vprof_by_edges_optimal}[scheme]
    return make(case.graph, weights_of(case))


@pytest.mark.parametrize("case", cases(), ids=str)
def test_only_known_sections(case: Case) -> None:
    known = ABOUT_THE_GRAPH | ABOUT_PLANS | ABOUT_COUNTS | ABOUT_PATHS | ABOUT_TRACES | ABOUT_OVERLAPS
    assert {section.name for section in case.text.sections} <= known | ABOUT_PROGRAMS
    assert case.text.sections


@pytest.mark.parametrize("case", cases(having="loop"), ids=str)
def test_loops(case: Case) -> None:
    forest = find_loops(case.graph)
    for section in case.sections("loop"):
        header, what = section.arguments
        loop = forest.of_header[case.block(header)]
        if what == "members":
            assert sorted(forest.members(loop)) == sorted(case.blocks(section))
        else:
            assert what == "exits"
            assert sorted(forest.loops[loop].exits) == sorted(case.edges(section))
    assert {section.arguments[0] for section in case.sections("loop")} == {
        case.graph.labels[loop.header] for loop in forest.loops
    }


@pytest.mark.parametrize("case", cases(having="dominators"), ids=str)
def test_dominators(case: Case) -> None:
    found = find_dominators(case.graph)
    for line in case.section("dominators").lines:
        below, above = (case.block(word.text) for word in line.words)
        assert found.idom[below] == above


@pytest.mark.parametrize("case", cases(having="weights"), ids=str)
def test_weights(case: Case) -> None:
    weights = nesting_weights(case.graph)
    for index, expected in case.numbered_edges(case.section("weights")).items():
        assert weights[index] == pytest.approx(expected), case.graph.edges[index]


@pytest.mark.parametrize("case", cases("wl94.cfg"), ids=str)
def test_frequencies(case: Case) -> None:
    graph = case.graph
    assert case.text.weights is not None
    frequencies = local_frequencies(graph, case.text.weights)
    for section in case.sections("frequencies"):
        for index, expected in case.numbered_edges(section).items():
            assert abs(frequencies[index] - expected) <= float(section.arguments[0]), graph.edges[index]
    for section in case.sections("block-frequencies"):
        for line in section.lines:
            name, expected = line.words[0].text, float(line.words[1].text)
            found = sum(frequencies[index] for index in graph.in_edges[case.block(name)])
            assert abs(found - expected) <= float(section.arguments[0]), name


@pytest.mark.parametrize("case", cases(having="counters"), ids=str)
def test_counters(case: Case) -> None:
    for section in case.sections("counters"):
        plan = plan_of(case, section.arguments[0])
        if plan.on_blocks:
            assert sorted(plan.on_blocks) == sorted(case.blocks(section))
            assert not plan.on_edges
        else:
            assert sorted(plan.on_edges) == sorted(case.edges(section))


@pytest.mark.parametrize("case", cases(having="cost"), ids=str)
def test_costs(case: Case) -> None:
    weights, block_weights = weights_of(case), block_weights_of(case)
    for section in case.sections("cost"):
        plan = plan_of(case, section.arguments[0])
        cost = 0.0
        for measure in plan.measures:
            match measure:
                case EdgeMeasure(edge):
                    cost += weights[edge]
                case BlockMeasure(block):
                    cost += block_weights[block]
        assert cost == float(str(section.lines[0])), section.arguments


@pytest.mark.parametrize("case", cases(having="walks"), ids=str)
def test_counts(case: Case) -> None:
    walks = case.walks()
    truth = tally(case.graph, walks)
    for vertex, count in case.numbered_blocks(case.section("blocks")).items():
        assert truth.blocks[vertex] == count
    if case.has("edges"):
        assert dict(enumerate(truth.edges)) == case.numbered_edges(case.section("edges"))
    plans = [every_block(case.graph), every_edge(case.graph)]
    plans += [plan_of(case, scheme) for scheme in ("eprof", "vprof-blocks", "vprof-edges", "vprof-optimal")]
    plans += [plan_of(case, "given")] if case.has("given") else []
    for plan in plans:
        flow = recover(case.graph, plan, interpret(case.graph, plan, walks), truth.early)
        assert flow.blocks == truth.blocks
        assert flow.violations == ()
        assert all(count in (None, truth.edges[index]) for index, count in enumerate(flow.edges))


@pytest.mark.parametrize("case", cases(having="given"), ids=str)
def test_open_edges(case: Case) -> None:
    if case.has("walks"):
        plan, walks = plan_of(case, "given"), case.walks()
        flow = recover(case.graph, plan, interpret(case.graph, plan, walks), tally(case.graph, walks).early)
        expected = case.edges(case.section("open")) if case.has("open") else []
        assert [index for index, count in enumerate(flow.edges) if count is None] == sorted(expected)
    else:
        assert case.has("hoisted")


@pytest.mark.parametrize("case", cases(having="hoisted"), ids=str)
def test_hoisting(case: Case) -> None:
    pinned = case.blocks(case.section("pinned")) if case.has("pinned") else []
    plan = plan_of(case, "given")
    hoisted = hoist(case.graph, plan, pinned)
    assert sorted(hoisted.on_edges) == sorted(case.edges(case.section("hoisted")))
    assert hoisted.measures == plan.measures


def numbering_of_case(case: Case, context: bool = False) -> Numbering:
    edges = case.graph.edges
    ends = [edge for edge in back_edges(case.graph) if edges[edge].src != edges[edge].dst]
    return numbering_of(case.graph, ends, context=context)


def spelled(case: Case, number: int, route: Route) -> str:
    names = [case.graph.labels[block] for block in route.blocks]
    if route.context:
        names.insert(route.context, "|")
    return " ".join([str(number), route.starts.value, *names, route.ends.value])


@pytest.mark.parametrize("case", cases(having="paths"), ids=str)
def test_paths(case: Case) -> None:
    for section in case.sections("paths"):
        numbering = numbering_of_case(case, "context" in section.arguments)
        found = [spelled(case, path, numbering.regenerate(path)) for path in range(numbering.number)]
        assert found == [str(line) for line in section.lines]


@pytest.mark.parametrize("case", cases(having="values"), ids=str)
def test_values(case: Case) -> None:
    numbering = numbering_of_case(case)
    values = {way.edge: way.value for block in range(case.graph.exit) for way in numbering.successors(block)}
    assert values == case.numbered_edges(case.section("values"))


@pytest.mark.parametrize("case", cases(having="increments"), ids=str)
def test_increments(case: Case) -> None:
    numbering = numbering_of_case(case)
    chords = chord_increments(numbering, weights_of(case)).chords
    real = {number: numbering.dag.arcs[number] for number in chords}
    found = {arc.of: chords[number] for number, arc in real.items() if arc.kind is ArcKind.REAL}
    assert found == case.numbered_edges(case.section("increments"))


@pytest.mark.parametrize("case", cases(having="set"), ids=str)
def test_placement(case: Case) -> None:
    plan = path_plan(case.graph, weights_of(case))
    sets: dict[int, int] = {}
    bumps: dict[int, int] = {}
    for edge, probes in plan.on_edges.items():
        (probe,) = probes
        match probe:
            case Set(value):
                sets[edge] = value
            case Bump(add):
                bumps[edge] = add
    assert sets == case.numbered_edges(case.section("set"))
    assert bumps == case.numbered_edges(case.section("bump"))
    assert plan.on_entry == ()
    assert len(plan.on_edges) == len(sets) + len(bumps)
