"""What plans count of random programs is what these have done, by definition."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings

from tests.graphs import costs_for, seeds
from tests.plan.interprocedural.programs import (
    Call,
    Enter,
    Execution,
    LeaveProbes,
    Lose,
    random_program,
    replay,
    some_sites,
)
from tests.plan.interprocedural.test_examples import FIGURE_4, run_of_figure_4
from tests.plan.interprocedural.walked import Cut, Item, Items, Truth
from trodden.plan.interprocedural.call_graph import sites_to_keep
from trodden.plan.interprocedural.interpret import Thread
from trodden.plan.interprocedural.linear import ZERO
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import How, Step, path_with, prefix_with
from trodden.plan.interprocedural.plan import interprocedural_plans
from trodden.plan.interprocedural.points import Kind
from trodden.plan.interprocedural.tally import InterproceduralTally
from trodden.plan.interprocedural_probes import AddSums, ProcedurePlan
from trodden.plan.probes import EdgeMeasure
from trodden.recover.interprocedural import recover_interprocedural

WORDS = {
    Kind.ENTRY: "enter",
    Kind.START: "start",
    Kind.REAL: "edge",
    Kind.END: "edge",
    Kind.PAD: "thrown",
    Kind.PAD_END: "thrown",
    Kind.PAD_START: "caught",
    Kind.CALL_END: "before",
    Kind.CALL_START: "behind",
}


def item(numbering: Numbering, step: Step) -> Item | None:
    points = numbering.points[step.procedure]
    arc = points.arcs[step.arc]
    at_call = arc.kind in (Kind.CALL, Kind.CALL_END, Kind.CALL_START)
    site = numbering.site_of(step.procedure, arc.of) if at_call else None
    of = arc.of if site is None else (site.block, site.call)
    match step.how:
        case How.ENTER:
            return Item("call", step.procedure, of)
        case How.RETURN:
            return Item("return", step.procedure, of)
        case How.ALONG:
            return None if arc.kind is Kind.SUMMARY else Item(WORDS[arc.kind], step.procedure, of)


def items(numbering: Numbering, steps: tuple[Step, ...]) -> Items:
    return tuple(each for step in steps if (each := item(numbering, step)) is not None)


def random_numbering(program_seed: int, seed: int) -> Numbering:
    rng = random.Random(seed)
    program = random_program(program_seed)
    mode = rng.choice(list(Mode))
    return Numbering(program, some_sites(program, seed), mode, split=rng.random() < 0.3)


def executed(numbering: Numbering, seed: int) -> tuple[list[ProcedurePlan], InterproceduralTally, Truth]:
    program = numbering.program
    weights = [costs_for(each.graph, seed) for each in program]
    plans = interprocedural_plans(numbering, weights)
    thread = Thread(numbering, plans)
    truth = Truth(numbering)
    events = Execution(program, seed).events
    replay(events, thread)
    replay(events, truth)
    return plans, thread.tally, truth


def decoded(numbering: Numbering, tally: InterproceduralTally) -> tuple[Counter[Items], Counter[Cut]]:
    whole: Counter[Items] = Counter()
    short: Counter[Cut] = Counter()
    for (table, number), count in tally.paths.items():
        whole[items(numbering, path_with(numbering, table, number).steps)] += count
    for lost, count in tally.lost.items():
        last = lost.procedure, lost.point
        path = prefix_with(numbering, lost.table, lost.number, lost.sites, last)
        short[Cut(items(numbering, path.steps), lost.sites, lost.pending)] += count
    return whole, short


@settings(max_examples=600)
@given(seeds(), seeds())
def test_numbers_determine_what_was_executed(program: int, seed: int) -> None:
    numbering = random_numbering(program, seed)
    _, tally, truth = executed(numbering, seed)
    whole, short = decoded(numbering, tally)
    assert whole == truth.whole
    assert short == truth.short


@settings(max_examples=600)
@given(seeds(), seeds())
def test_edges_and_own_paths_follow(program: int, seed: int) -> None:
    numbering = random_numbering(program, seed)
    plans, tally, truth = executed(numbering, seed)
    loops = {
        (number, measure.edge): tally.loops[number, slot]
        for number, plan in enumerate(plans)
        for slot, measure in enumerate(plan.measures)
        if isinstance(measure, EdgeMeasure)
    }
    flow = recover_interprocedural(numbering, tally, loops)
    assert flow.violations == []
    assert flow.entries == [truth.entries[number] for number in range(len(plans))]
    for number, edges in enumerate(flow.edges):
        assert edges == [truth.edges[number, edge] for edge in range(len(edges))]
    if numbering.mode is Mode.CONTEXT and not numbering.split:
        assert flow.own is not None
        found = {(number, route): n for number, own in enumerate(flow.own) for route, n in own.items()}
        assert found == {key: count for key, count in truth.own.items() if count}
    else:
        assert flow.own is None


@settings(max_examples=200)
@given(seeds(), seeds())
def test_additions_are_on_edges_that_are_seldom_taken(program: int, seed: int) -> None:
    """They cost no more than adding ρ wherever it is not zero, on the edges that are not free anyway."""
    numbering = random_numbering(program, seed)
    weights = [costs_for(each.graph, seed) for each in numbering.program]
    for number, plan in enumerate(interprocedural_plans(numbering, weights)):
        points = numbering.points[number]
        adding = sum(
            weights[number][edge]
            for edge, probes in plan.on_edges.items()
            if any(isinstance(probe, AddSums) for probe in probes)
        )
        at_most = sum(
            weights[number][arc.of]
            for arc, rho in zip(points.arcs, numbering.rho[number], strict=True)
            if arc.kind in (Kind.REAL, Kind.PAD) and arc.dst != points.exit and rho != ZERO
        )
        assert adding <= at_most


def test_nobody_takes_what_was_published_for_another() -> None:
    """The call of pow at v6 leads to code without probes instead, which calls main and then pow."""
    numbering = Numbering(FIGURE_4.program, sites_to_keep(FIGURE_4.program, "program"), Mode.CONTEXT)
    weights = [[1.0] * len(case.graph.edges) for case in FIGURE_4.cases]
    thread = Thread(numbering, interprocedural_plans(numbering, weights))
    calling = run_of_figure_4()
    upto = calling.index(Call()) + 1
    replay([*calling[:upto], LeaveProbes(), Enter(0), Lose(), Enter(1)], thread)
    (lost,) = thread.tally.lost
    assert (lost.procedure, lost.table, lost.number, lost.sites) == (0, 0, 0, ())
    thread.lose()
    assert [each.table for each in thread.tally.lost if each.procedure == 1] == [0]
