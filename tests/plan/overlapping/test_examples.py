"""The worked examples of TZG04, from ``tests/cases/tzg04.cfg``."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tests.cases import Case, cases
from trodden.plan.interpret import interpret_paths
from trodden.plan.overlap_probes import CallSite, Overlaps
from trodden.plan.overlapping.calls import CallNumbering, with_entries, with_returns
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.loop_paths import LoopPath, up_to_degree
from trodden.plan.overlapping.loops import largest_degree
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Paths, Plan
from trodden.recover.bounds.calls import Part, system_of_calls, system_of_overlaps
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.linear import tightest_bounds
from trodden.recover.bounds.loops import LoopFacts, loop_facts, loop_system
from trodden.recover.bounds.system import Range
from trodden.report.graph.drawing import probe_text
from trodden.weigh.frequency.nesting import nesting_weights

FILE = "tzg04.cfg"


def rows(case: Case, name: str) -> list[list[str]]:
    return [[word.text for word in line.words] for line in case.section(name).lines]


def steps(case: Case, blocks: list[str]) -> tuple[int, ...]:
    """The edges between blocks."""
    graph, stops = case.graph, [case.block(name) for name in blocks]
    return tuple(
        next(edge for edge in graph.out_edges[source] if graph.edges[edge].dst == target)
        for source, target in pairwise(stops)
    )


def weights(case: Case) -> list[float]:
    return [1.0] * len(case.graph.edges)


def plan_of(case: Case, degree: int | None) -> tuple[Plan, OverlapNumbering]:
    plan = overlapping_plan(case.graph, weights(case), degree)
    assert plan.paths is not None
    return plan, OverlapNumbering(case.graph, plan.paths, plan.overlaps or Overlaps(()))


def header_of(numbering: OverlapNumbering) -> int:
    """The outermost loop."""
    return min(set(numbering.extended.values()), key=numbering.nest.depth)


@pytest.mark.parametrize("case", cases(FILE, having="largest-degree"), ids=str)
def test_largest_degree(case: Case) -> None:
    _, numbering = plan_of(case, None)
    ways = Ways(numbering.plain)
    owner = numbering.nest.owner(numbering.plain, header_of(numbering), None)
    assert largest_degree(ways, owner) == int(str(case.section("largest-degree").lines[0]))


@pytest.mark.parametrize("case", cases(FILE, having="overlapping"), ids=str)
def test_number_of_overlapping_paths(case: Case) -> None:
    _, numbering = plan_of(case, None)
    ways = Ways(numbering.plain)
    header = header_of(numbering)
    paths = [numbering.overlapping(number) for number in range(numbering.number)]
    for degree, expected in rows(case, "overlapping"):
        owner = numbering.nest.owner(numbering.plain, header, int(degree))
        found = set()
        for path in paths:
            part = up_to_degree(ways, owner, path.ahead)
            blocks = [header, *(case.graph.edges[edge].dst for edge in part)]
            if path.stop is not None and sum(map(ways.predicate, blocks)) == int(degree) + 1:
                found.add((path.path, part))
        assert len(found) == int(expected)
    for degree, expected in rows(case, "numbers"):
        assert plan_of(case, int(degree))[1].number == int(expected)


@pytest.mark.parametrize("case", cases(FILE, having="edges"), ids=str)
def test_overlapping_graphs(case: Case) -> None:
    for section in case.sections("edges"):
        plan = overlapping_plan(case.graph, weights(case), {1: int(section.arguments[0])})
        assert plan.paths is not None
        assert plan.overlaps is not None
        numbering = OverlapNumbering(case.graph, plan.paths, plan.overlaps)
        found = {
            f"{'PI' if possibly else 'DI'} {case.graph.labels[edge.src]} {case.graph.labels[edge.dst]}"
            for edge, possibly in ((case.graph.edges[e], p) for e, p in numbering.region.ahead.items())
        }
        assert found == {str(line) for line in section.lines}
        (stops,) = [each for each in case.sections("stops") if each.arguments == section.arguments]
        assert numbering.region.stops == set(case.blocks(stops))


@pytest.mark.parametrize("case", cases(FILE, having="probes"), ids=str)
def test_probes(case: Case) -> None:
    graph = case.graph
    for section in case.sections("probes"):
        plan = overlapping_plan(graph, nesting_weights(graph), int(section.arguments[0]))
        found = [" ".join(["entry:", *map(probe_text, plan.on_entry)])]
        for edge, probes in plan.on_edges.items():
            source, target, _ = graph.edges[edge]
            if probes:
                ends = f"{graph.labels[source]} {graph.labels[target]}:"
                found.append(" ".join([ends, *map(probe_text, probes)]))
        assert found == [str(line) for line in section.lines]


def walks_of(case: Case, *arguments: str) -> list[tuple[int, ...]]:
    (section,) = [each for each in case.sections("runs") if each.arguments == arguments]
    runs = [[word.text for word in line.words] for line in section.lines]
    return [steps(case, blocks) for times, *blocks in runs for _ in range(int(times))]


def facts_of(case: Case, degree: int, *arguments: str) -> tuple[Ways, LoopFacts]:
    """What a plan of a degree counts of the runs of a case."""
    walks = walks_of(case, *arguments)
    plan, numbering = plan_of(case, degree)
    told = interpret_overlaps(case.graph, plan, walks)
    counts = enumerate(told.counters[len(plan.measures) :])
    facts = loop_facts(numbering, {numbering.overlapping(n): count for n, count in counts if count}, {})
    (header,) = facts
    return Ways(numbering.plain), facts[header]


def loop_paths(case: Case) -> dict[LoopPath, str]:
    return {
        LoopPath(case.block(blocks[0]), steps(case, blocks)): name
        for name, *blocks in rows(case, "loop-paths")
    }


@pytest.mark.parametrize("case", cases(FILE, having="bounds"), ids=str)
def test_bounds(case: Case) -> None:
    names = loop_paths(case)
    for section in case.sections("bounds"):
        ways, facts = facts_of(case, int(section.arguments[0]))
        system = loop_system(ways, facts)
        expected = {str(line) for line in section.lines}
        assert len(expected) == len(names) ** 2
        for bounds in (fixed_point(system.as_printed()), fixed_point(system), tightest_bounds(system)):
            by_pair = {(names[i], names[j]): known for (i, j), known in bounds.by_pair().items()}
            found = {
                f"{i} {j} {known.least} {known.most}"
                for i in names.values()
                for j in names.values()
                for known in [by_pair.get((i, j), Range(0, 0))]
            }
            assert found == expected


@pytest.mark.parametrize("case", cases(FILE, having="flow"), ids=str)
def test_definite_and_potential_flow(case: Case) -> None:
    for degree, definite, real, potential in rows(case, "flow"):
        ways, facts = facts_of(case, int(degree))
        bounds = fixed_point(loop_system(ways, facts).as_printed())
        assert facts.real_flow == int(real)
        assert (bounds.definite_flow, bounds.potential_flow) == (int(definite), int(potential))


@pytest.mark.parametrize("case", cases(FILE, having="interesting"), ids=str)
def test_interesting_paths(case: Case) -> None:
    names = loop_paths(case)
    ways, facts = facts_of(case, 2)
    bounds = fixed_point(loop_system(ways, facts))
    found = {
        f"{names[i]} {names[j]} {least}"
        for (i, j), (least, most) in bounds.by_pair().items()
        if least == most
    }
    assert {line for line in found if not line.endswith(" 0")} == {
        str(line) for line in case.section("interesting").lines
    }


def test_an_execution_with_the_same_counts_reaches_the_upper_bound() -> None:
    (case,) = cases(FILE, having="runs")
    names = {name: path for path, name in loop_paths(case).items()}
    pair = names["2"], names["3"]
    _, counted_so = facts_of(case, 1)
    _, others = facts_of(case, 1, "same-counts")
    assert counted_so.crossings == others.crossings
    assert counted_so.starts == others.starts
    ways, exact = facts_of(case, 2, "same-counts")
    assert fixed_point(loop_system(ways, exact)).by_pair()[pair] == Range(500, 500)


def caller_and_callee() -> tuple[Case, Case, CallSite]:
    (caller,) = cases(FILE, having="calls")
    ((block, name),) = rows(caller, "calls")
    (callee,) = [case for case in cases(FILE) if str(case) == name]
    number = caller.block(block)
    return caller, callee, CallSite(0, number, caller.graph.out_edges[number])


def numbered(case: Case, sites: list[CallSite], degree: int | None) -> tuple[CallNumbering, CallNumbering]:
    cut = [site.block for site in sites]
    plan = path_plan(case.graph, weights(case), may_be_cut_short=cut)
    assert plan.paths is not None
    numbering = Numbering(case.graph, plan.paths)
    _, entries = with_entries(plan, numbering, weights(case), sites, degree, cut)
    _, returns = with_returns(plan, numbering, weights(case), sites, degree, cut)
    return entries, returns


def of_degree(values: CallNumbering, block: int, degree: int, ways: Ways, first: int) -> int:
    """How many overlaps that begin at a block have this degree; predicates count from block ``first`` on."""
    found = set()
    for number in range(values.paths(block)):
        part = values.overlap(block, number)
        blocks = [ways.dag.graph.edges[edge].src for edge in part[0]]
        assert part[1] is not None
        if sum(map(ways.predicate, [*blocks, part[1]][first:])) == degree + 1:
            found.add(part)
    return len(found)


def test_overlaps_over_calls_and_returns() -> None:
    caller, callee, site = caller_and_callee()
    prefixes, paths = len(rows(caller, "prefixes")), len(rows(callee, "whole-paths"))
    ways = Ways(Numbering(callee.graph, _paths(callee)).dag)
    for degree, expected in rows(caller, "entered"):
        entries, _ = numbered(callee, [], int(degree))
        assert prefixes * of_degree(entries, callee.graph.root, int(degree), ways, 0) == int(expected)
    ways = Ways(Numbering(caller.graph, _paths(caller)).dag)
    for degree, expected in rows(caller, "returned"):
        _, returns = numbered(caller, [site], int(degree))
        assert paths * of_degree(returns, site.block, int(degree), ways, 1) == int(expected)
    (_, entered), (_, returned) = rows(caller, "interesting-calls")
    assert prefixes * numbered(callee, [], None)[0].paths(callee.graph.root) == int(entered)
    assert paths * numbered(caller, [site], None)[1].paths(site.block) == int(returned)


def _paths(case: Case) -> Paths:
    paths = path_plan(case.graph, weights(case)).paths
    assert paths is not None
    return paths


def test_bounds_over_a_call() -> None:
    caller, callee, _ = caller_and_callee()
    firsts = {number: int(times) for number, times, *_ in rows(caller, "prefixes")}
    names: dict[Part, str] = {}
    seconds: dict[Part, int] = {}
    for number, times, *blocks in rows(callee, "whole-paths"):
        names[steps(callee, blocks)] = number
        seconds[steps(callee, blocks)] = int(times)
    pairs = [(p, q, int(times)) for p, q, times in rows(caller, "calls-of-pairs")]
    calls = sum(times for *_, times in pairs)
    for section in caller.sections("call-bounds"):
        degree = int(section.arguments[0])
        if degree < 0:
            system = system_of_calls(calls, firsts, seconds)
            (everywhere,) = [Range(*map(int, str(line).split())) for line in section.lines]
            expected = {(p, q): everywhere for p in firsts for q in names.values()}
        else:
            entries, _ = numbered(callee, [], degree)
            parts = {second: entries.beginning(callee.graph.root, second) for second in seconds}
            edges = {name: second for second, name in names.items()}
            overlaps: Counter[tuple[str, Part]] = Counter()
            for p, q, count in pairs:
                overlaps[p, parts[edges[q]]] += count
            system = system_of_overlaps(overlaps, firsts, seconds, parts.__getitem__)
            expected = {
                (p, q): Range(int(low), int(high))
                for p, q, low, high in (str(line).split() for line in section.lines)
            }
        for bounds in (fixed_point(system.as_printed()), fixed_point(system), tightest_bounds(system)):
            found = {(p, names[q]): known for (p, q), known in bounds.by_pair().items()}
            assert found == expected
            assert bounds.exact == (len(expected) if degree >= 0 else 0)


def test_paths_that_are_not_extended_are_counted_as_before() -> None:
    (case,) = cases(FILE, having="runs")
    walks = walks_of(case)
    plan = path_plan(case.graph, weights(case))
    extended, numbering = plan_of(case, 1)
    plain = Numbering(case.graph, _paths(case))
    before = Counter(
        {
            plain.regenerate(number): count
            for number, count in enumerate(interpret_paths(case.graph, plan, walks).counters)
        }
    )
    now: Counter[object] = Counter()
    for number, count in enumerate(interpret_overlaps(case.graph, extended, walks).counters):
        now[numbering.regenerate(number)] += count
    assert +now == +before
