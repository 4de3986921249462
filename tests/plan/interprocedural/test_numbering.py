"""The numbering of interprocedural paths against all paths, by the grammars of MR98."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest
from hypothesis import assume, given, settings

from tests.graphs import seeds
from tests.plan.interprocedural.enumerated import Supergraph
from tests.plan.interprocedural.programs import random_program, some_sites
from tests.plan.interprocedural.test_examples import FIGURE_4, PROGRAMS
from trodden.graph.cfg_text import parse_graph
from trodden.plan.interprocedural.call_graph import most_enters, sites_to_keep
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import (
    How,
    InterproceduralPath,
    Step,
    number_of,
    path_with,
    prefix_with,
)
from trodden.plan.interprocedural.points import Kind
from trodden.plan.interprocedural.program import Procedure, Site

MOST = 3000


def small_numbering(program_seed: int, seed: int) -> Numbering:
    rng = random.Random(seed)
    program = random_program(program_seed, blocks=5, edges=9)
    numbering = Numbering(
        program, some_sites(program, seed), rng.choice(list(Mode)), split=rng.random() < 0.3
    )
    assume(numbering.bases[-1] <= MOST)
    return numbering


@settings(max_examples=400)
@given(seeds(), seeds())
def test_numbers_are_dense_and_decode(program: int, seed: int) -> None:
    numbering = small_numbering(program, seed)
    found: list[set[int]] = [set() for _ in numbering.program]
    count = 0
    for path in islice(Supergraph(numbering).paths(), MOST + 1):
        number = number_of(numbering, path)
        assert path_with(numbering, path.procedure, number) == path
        found[path.procedure].add(number)
        count += 1
    assert found == [set(range(table.size)) for table in numbering.tables]
    assert count == numbering.bases[-1]


@settings(max_examples=200)
@given(seeds(), seeds())
def test_prefixes_decode(program: int, seed: int) -> None:
    """Every prefix of every path is told by its number, its point and its open calls."""
    numbering = small_numbering(program, seed)
    rng = random.Random(seed)
    for path in islice(Supergraph(numbering).paths(), 200):
        for length in rng.sample(range(1, len(path.steps) + 1), min(3, len(path.steps))):
            prefix = InterproceduralPath(path.procedure, path.whole, path.steps[:length])
            place, sites = end_of(numbering, prefix)
            if place is not None:
                number = number_of(numbering, prefix)
                assert prefix_with(numbering, path.procedure, number, sites, place) == prefix


def end_of(
    numbering: Numbering, prefix: InterproceduralPath
) -> tuple[tuple[int, int] | None, tuple[Site, ...]]:
    """The point at which a prefix ends, if it does, and the calls that are open there."""
    sites: list[Site] = []
    for step in prefix.steps:
        arc = numbering.points[step.procedure].arcs[step.arc]
        if step.how is How.ENTER:
            sites.append(numbering.site_of(step.procedure, arc.src))
        elif step.how is How.RETURN and sites:
            sites.pop()
    last = prefix.steps[-1]
    points = numbering.points[last.procedure]
    target = points.arcs[last.arc].dst
    if last.how is How.ENTER or target >= points.exit:
        return None, ()
    return (last.procedure, target), tuple(sites)


@settings(max_examples=200)
@given(seeds(), seeds())
def test_entries_are_bounded(program: int, seed: int) -> None:
    numbering = small_numbering(program, seed)
    for path in islice(Supergraph(numbering).paths(), 300):
        if path.whole:
            entered = Counter([path.procedure])
            for step in path.steps:
                if step.how is How.ENTER:
                    point = numbering.points[step.procedure].arcs[step.arc].src
                    entered[numbering.callee[step.procedure][point]] += 1
            bounds = most_enters(numbering.program, numbering.kept, path.procedure)
            assert all(count <= bounds[number] for number, count in entered.items())


@settings(max_examples=200)
@given(seeds(), seeds())
def test_tables_behind_each_other_are_the_numbering_of_the_paper(program: int, seed: int) -> None:
    """Equations 25 to 27 for the edges from Entry_global, in their order."""
    numbering = small_numbering(program, seed)
    total = 0
    for number, points in enumerate(numbering.points):
        assert numbering.bases[number] == total
        if number in numbering.roots:
            total += numbering.psi[number][points.entry].of(1)
        if points.outs[points.inside]:
            total += numbering.psi[number][points.inside].of(numbering.unbalanced[number])
    assert numbering.bases[-1] == total


def test_what_is_no_path_has_no_number() -> None:
    numbering = Numbering(FIGURE_4.program, sites_to_keep(FIGURE_4.program, "program"), Mode.CONTEXT)
    path = path_with(numbering, 0, 28)
    wrong = [
        InterproceduralPath(0, False, path.steps),
        InterproceduralPath(1, True, path.steps),
        InterproceduralPath(0, True, path.steps[1:]),
        InterproceduralPath(0, True, path.steps[:5] + path.steps[6:]),
        InterproceduralPath(0, True, (*path.steps, path.steps[-1])),
    ]
    enters = [index for index, step in enumerate(path.steps) if step.how is How.ENTER]
    returns = [index for index, step in enumerate(path.steps) if step.how is How.RETURN]
    swapped = list(path.steps)
    swapped[returns[0]] = Step(How.RETURN, 0, path.steps[enters[1]].arc)
    along = list(path.steps)
    along[enters[0]] = Step(How.ALONG, 0, path.steps[enters[0]].arc)
    for each in [*wrong, *(InterproceduralPath(0, True, tuple(steps)) for steps in (swapped, along))]:
        with pytest.raises(ValueError, match="path"):
            number_of(numbering, each)


def test_numbers_that_no_path_has() -> None:
    numbering = Numbering(FIGURE_4.program, sites_to_keep(FIGURE_4.program, "program"), Mode.CONTEXT)
    for procedure, number in ((0, 36), (0, -1), (1, 0)):
        with pytest.raises(ValueError, match="there is no path"):
            path_with(numbering, procedure, number)
    with pytest.raises(ValueError, match="no path is cut short at point"):
        prefix_with(numbering, 0, 35, (), (0, numbering.points[0].first[4]))


def test_limits() -> None:
    kept = sites_to_keep(FIGURE_4.program, "program")
    assert Numbering(FIGURE_4.program, kept, Mode.CONTEXT, most=36).bases[-1] == 36
    for mode, most in ((Mode.CONTEXT, 35), (Mode.PIECEWISE, 15)):
        with pytest.raises(ValueError, match=f"main: there are more than {most} paths"):
            Numbering(FIGURE_4.program, kept, mode, most=most)


def test_sites_that_cannot_be_kept() -> None:
    graph = parse_graph("graph f\n  a -> a, b\n  b -> EXIT\n")
    program = [
        Procedure(graph, {0: (1,), 1: (None, 1, 2)}),
        Procedure(graph, {1: (1,)}),
        Procedure(graph, {1: (None,)}, tails=frozenset({1})),
        Procedure(graph, {1: (0,)}, tails=frozenset({1})),
    ]
    problems = {
        Site(0, 0, 0): "f: call 1 in block a cannot be kept: its block is a loop by itself",
        Site(0, 1, 0): "f: call 1 in block b cannot be kept: its callee is not known",
        Site(0, 1, 2): "f: call 3 in block b cannot be kept: its callee ends with a tail call",
        Site(1, 1, 0): "f: call 1 in block b cannot be kept: it is recursive",
        Site(3, 1, 0): "f: call 1 in block b cannot be kept: it is a tail call",
    }
    for site, problem in problems.items():
        with pytest.raises(ValueError, match=problem):
            Numbering(program, {site}, Mode.CONTEXT)
    assert sites_to_keep(program, "program") == {Site(0, 1, 1)}


def test_landing_pads_are_no_resume_edges() -> None:
    graph = parse_graph("graph f\n  a -> b, c\n  b -> EXIT\n  c -> EXIT\n")
    marked = frozenset({1})
    program = [Procedure(graph, {0: (None,)}, pads=marked, resume_edges=marked)]
    with pytest.raises(ValueError, match="f: an edge to a landing pad cannot be a resume edge"):
        Numbering(program, (), Mode.CONTEXT)


def test_only_roots_have_whole_paths() -> None:
    program = PROGRAMS["exceptions"].program
    kept = sites_to_keep(program, "program")
    assert Numbering(program, kept, Mode.CONTEXT).roots == {0}
    assert Numbering(program, (), Mode.CONTEXT).roots == {0, 1}
    pads = [arc.kind for arc in Numbering(program, kept, Mode.CONTEXT).points[0].arcs]
    assert pads.count(Kind.PAD) == 1
