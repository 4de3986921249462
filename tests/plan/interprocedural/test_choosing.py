"""The call sites that are kept: as many as fit, those first that matter most."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import example, given, settings

from tests.graphs import costs_for, seeds
from tests.plan.interprocedural.programs import random_program
from tests.plan.interprocedural.test_examples import FIGURE_4
from trodden.graph.cfg_text import parse_graph
from trodden.plan.interprocedural.call_graph import STRATEGIES, sites_that_can_be_kept, sites_to_keep
from trodden.plan.interprocedural.choosing import REGISTER, choose_sites
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.preparing import cut_procedures, site_weights
from trodden.plan.interprocedural.program import Procedure, Program, Site, callee_of


def all_entered(program: Program) -> list[Procedure]:
    return [replace(procedure, entered=True) for procedure in program]


def largest(numbering: Numbering) -> list[int]:
    """What has to fit a register, by procedure."""
    return [
        max(table.size, returns)
        for table, returns in zip(numbering.tables, numbering.unbalanced, strict=True)
    ]


@settings(max_examples=300)
@given(seeds(), seeds())
@example(1927, 8388607)
def test_sites_fit_and_no_other_would(program_seed: int, seed: int) -> None:
    rng = random.Random(seed)
    program = all_entered(random_program(program_seed, most=6))
    weights = site_weights(program, [costs_for(each.graph, seed) for each in program])
    mode = rng.choice(list(Mode))
    limit = rng.choice([1, 10, 50, 500, 10**6, REGISTER])
    kept = choose_sites(program, weights, mode, limit)
    apart = largest(Numbering(program, (), mode))
    limits = [max(limit, alone) for alone in apart]
    assert fits(Numbering(program, kept, mode), limits)
    for site, _ in sites_that_can_be_kept(program):
        if site not in kept:
            assert not fits(Numbering(program, kept | {site}, mode), limits)


def fits(numbering: Numbering, limits: Sequence[int]) -> bool:
    return all(size <= limit for size, limit in zip(largest(numbering), limits, strict=True))


@settings(max_examples=100)
@given(seeds(), seeds())
def test_sites_of_a_strategy(program_seed: int, seed: int) -> None:
    program = random_program(program_seed, most=6)
    weights = site_weights(program, [costs_for(each.graph, seed) for each in program])
    for name in STRATEGIES:
        wanted = sites_to_keep(program, name)
        assert choose_sites(program, weights, Mode.CONTEXT, 2**200, wanted) <= wanted
        for site in wanted:
            callee = callee_of(program, site)
            assert callee is not None
            if name == "leaves":
                assert not program[callee].calls
            if name == "local":
                assert program[callee].local
            if name == "file":
                assert program[callee].file == program[site.procedure].file


def test_the_more_frequent_call_is_kept() -> None:
    first, second = Site(0, 5, 0), Site(0, 9, 0)
    program = FIGURE_4.program
    for mode, limit in ((Mode.CONTEXT, 30), (Mode.PIECEWISE, 14)):
        for weights, expected in (
            ({first: 9.0, second: 6.0}, {first}),
            ({first: 1.0, second: 6.0}, {second}),
            ({first: 0.0, second: 0.0}, {first}),
        ):
            assert choose_sites(program, weights, mode, limit) == expected
        assert choose_sites(program, {first: 1.0, second: 1.0}, mode) == {first, second}


def test_calls_that_add_nothing_are_kept_in_any_case() -> None:
    straight = parse_graph("graph straight\n  a -> b\n  b -> EXIT\n")
    branch = parse_graph("graph branch\n  a -> b, c\n  b -> EXIT\n  c -> EXIT\n")
    program = [Procedure(branch, {1: (1, 1, 2), 2: (2,)}), Procedure(straight), Procedure(branch)]
    weights = dict.fromkeys((site for site, _ in sites_that_can_be_kept(program)), 1.0)
    assert choose_sites(program, weights, Mode.CONTEXT, 2) == {Site(0, 1, 0), Site(0, 1, 1)}
    assert choose_sites(program, weights, Mode.CONTEXT, 4) == weights.keys()


def test_procedures_are_cut_first() -> None:
    """Loops of diamonds, each of which calls the next."""
    graph = parse_graph(
        "graph d\n  a -> b, c\n  b -> d\n  c -> d\n  d -> e, f\n  e -> g\n  f -> g\n  g -> a, EXIT\n"
    )
    program = [Procedure(graph, {6: (number + 1,)} if number < 9 else {}) for number in range(10)]
    weights = [[1.0] * len(graph.edges)] * 10
    cut = cut_procedures(program, weights, 12)
    apart = Numbering(cut, (), Mode.CONTEXT)
    assert all(table.size <= 12 for table in apart.tables)
    assert all(each.cuts for each in cut)
    kept = choose_sites(cut, site_weights(cut, weights), Mode.CONTEXT, 1000)
    assert 0 < len(kept) < 9
    assert max(largest(Numbering(cut, kept, Mode.CONTEXT))) <= 1000
