"""What is known of the loop of TZG04 Table 2 by degree, and whether two ways to know it agree."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bench.figures.crossings import Functions
from bench.figures.longer_agreement import longer_agreement
from bench.figures.longer_bounds import bounds_as_counted, longer_bounds, third_of_largest
from tests.profile.making import function, unit_of
from trodden.api.longer import longer_paths
from trodden.graph.cfg import Graph
from trodden.plan.overlapping.interpret import interpret_overlaps
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan
from trodden.profile.assemble import assemble
from trodden.profile.model import Profile
from trodden.recover.unit_counts import UnitCounts

TABLE_2 = "En>P1 P1>B1 P1>P2 B1>P3 P2>B2 P2>B3 B2>P3 B3>P3 P3>P1 P3>Ex Ex>exit"
RUNS = {
    "En P1 B1 P3 P1 B1 P3 P1 P2 B3 P3 Ex": 250,
    "En P1 P2 B2 P3 P1 P2 B2 P3 P1 P2 B3 P3 Ex": 250,
}
SELF_LOOP = "a>b b>b b>c c>exit"


def _walk(graph: Graph, text: str) -> tuple[int, ...]:
    blocks = [*(graph.labels.index(word) for word in text.split()), graph.exit]
    return tuple(
        next(edge for edge in graph.out_edges[one] if graph.edges[edge].dst == other)
        for one, other in pairwise(blocks)
    )


def _profile(shape: str, runs: dict[str, int], degree: int | None) -> Profile:
    def planned(graph: Graph) -> Plan:
        weights = [1.0] * len(graph.edges)
        return path_plan(graph, weights) if degree == 0 else overlapping_plan(graph, weights, degree)

    unit = unit_of(function("f", shape, planner=planned))
    facts = unit.functions[0]
    walks = [_walk(facts.graph, text) for text, times in runs.items() for _ in range(times)]
    counted = interpret_overlaps(facts.graph, facts.plan, walks)
    return assemble("/bin/prog", [unit], [UnitCounts(unit.id, tuple(counted.counters))])


def test_flow_by_degree_is_that_of_the_example() -> None:
    found = longer_bounds(_profile(TABLE_2, RUNS, None))
    assert (found["largest"], found["chosen"]) == (2, 1)
    assert found["real"] == {"loop": 1000, "call": 0, "return": 0}
    assert (found["paths"], found["turns"], found["cut"], found["exits"]) == (1500, 0, 0, 500)
    flow = {
        degree: (known["loop"]["definite"], known["loop"]["potential"])
        for degree, known in found["degrees"].items()
    }
    assert flow == {"-1": (0, 2000), "0": (0, 2000), "1": (500, 1500), "2": (1000, 1000)}
    exact = {degree: known["loop"]["exact"] for degree, known in found["degrees"].items()}
    assert exact == {"-1": 0, "0": 0, "1": 1, "2": 4}
    for known in found["degrees"].values():
        assert known["loop"]["definite by equations"] == known["loop"]["definite"]
        assert known["loop"]["potential by equations"] == known["loop"]["potential"]


def test_a_profile_of_a_lower_degree_says_what_follows_from_the_largest() -> None:
    largest = longer_bounds(_profile(TABLE_2, RUNS, None))
    for degree, asked in (("-1", 0), ("1", 1), ("2", 2)):
        found = bounds_as_counted(_profile(TABLE_2, RUNS, asked))
        assert found.pop("real") == largest["real"]
        assert found == largest["degrees"][degree]


def test_a_third_of_the_largest_degree_is_rounded_up() -> None:
    assert third_of_largest(_profile(TABLE_2, RUNS, None)) == 1
    assert third_of_largest(_profile(TABLE_2, {}, None)) == 0


def test_iterations_of_a_loop_of_one_block_are_paths() -> None:
    found = longer_bounds(_profile(SELF_LOOP, {"a b b b c": 10}, None))
    assert (found["paths"], found["turns"], found["real"]["loop"]) == (30, 20, 0)


def test_only_what_was_executed_is_crossed() -> None:
    assert not list(Functions(_profile(TABLE_2, {}, None)).crossed())
    (crossed,) = Functions(_profile(TABLE_2, RUNS, None)).crossed()
    assert (crossed.kind, crossed.times, crossed.largest) == ("loop", 1000, 2)


def test_bounds_contain_what_is_known_exactly() -> None:
    truth = longer_paths(_profile(TABLE_2, RUNS, None))
    assert {path.exact for path in truth.paths} == {True}
    for degree, exact in ((None, 4), (1, 1), (0, 0)):
        found = longer_agreement(truth, longer_paths(_profile(TABLE_2, RUNS, degree)))
        assert (found["compared"], found["exact"], found["executions"]) == (4, exact, 1000)
        assert (found["differ"], found["apart"], found["pairs"]) == (0, 0, 0)


def test_what_is_not_the_truth_differs() -> None:
    truth = longer_paths(_profile(TABLE_2, RUNS, None))
    first, *others = truth.paths
    wrong = replace(truth, paths=(replace(first, lower=249, upper=249), *others))
    found = longer_agreement(truth, wrong)
    assert (found["compared"], found["differ"]) == (4, 1)
    assert found["first differences"] == ["f loop 1: 250, not 249 to 249"]
    missing = longer_agreement(truth, replace(truth, paths=tuple(others)))
    assert (missing["compared"], missing["differ"]) == (4, 1)
    invented = longer_agreement(replace(truth, paths=tuple(others)), truth)
    assert (invented["compared"], invented["differ"]) == (4, 1)


def test_other_loops_are_not_compared() -> None:
    truth = longer_paths(_profile(TABLE_2, RUNS, None))
    found = longer_agreement(truth, longer_paths(_profile(TABLE_2 + " Ex>En", RUNS, None)))
    assert (found["compared"], found["apart"]) == (0, 4)
