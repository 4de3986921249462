"""Counts of interprocedural paths that contradict each other are named, and none is too long to be read."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.plan.interprocedural.programs import replay
from tests.plan.interprocedural.test_examples import FIGURE_4, run_of_figure_4
from trodden.errors import BadFile
from trodden.plan.interprocedural.call_graph import sites_to_keep
from trodden.plan.interprocedural.interpret import Thread
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import blocks_of
from trodden.plan.interprocedural.plan import interprocedural_plans
from trodden.plan.interprocedural.program import Site
from trodden.plan.interprocedural.tally import InterproceduralTally, Lost
from trodden.recover.budget import Budget
from trodden.recover.interprocedural import recover_interprocedural


def counted(mode: Mode) -> tuple[Numbering, InterproceduralTally]:
    numbering = Numbering(FIGURE_4.program, sites_to_keep(FIGURE_4.program, "program"), mode)
    weights = [[1.0] * len(case.graph.edges) for case in FIGURE_4.cases]
    thread = Thread(numbering, interprocedural_plans(numbering, weights))
    replay(run_of_figure_4(), thread)
    return numbering, thread.tally


def violations(numbering: Numbering, tally: InterproceduralTally) -> list[str]:
    return recover_interprocedural(numbering, tally, {}).violations


def test_a_number_that_no_path_has() -> None:
    numbering, tally = counted(Mode.CONTEXT)
    tally.paths[0, 36] = 1
    assert violations(numbering, tally) == ["main: there is no path 36, but it was counted"]


@pytest.mark.parametrize("mode", list(Mode))
def test_a_path_that_is_missing(mode: Mode) -> None:
    numbering, tally = counted(mode)
    last = (0, 35) if mode is Mode.CONTEXT else (0, 15)
    assert tally.paths.pop(last) == 1
    assert violations(numbering, tally) == ["main: 17 paths start in block v4, 18 end before it"]


def test_the_start_of_a_callers_path_that_is_missing() -> None:
    """Path 18 is v4 … v6 and what pow does first: main's own paths say that v4 -> v5 was taken then."""
    numbering, tally = counted(Mode.CONTEXT)
    tally.paths[0, 18] -= 1
    found = violations(numbering, tally)
    assert "main: edge v4 -> v5 was taken 17 times, its own paths say 18" in found
    assert "pow: 18 paths start in block u3, 17 end before it" not in found


def test_a_frame_that_cannot_have_been_there() -> None:
    numbering, _ = counted(Mode.CONTEXT)
    point = numbering.points[1].first[2]
    lost = Lost(0, 1, 1, point, (Site(0, 9, 0),), pending=False)
    caller = Lost(0, 1, 0, numbering.points[0].before_call(9, 0), (), pending=True)
    tally = InterproceduralTally(lost=Counter({lost: 1, caller: 1}))
    assert violations(numbering, tally) == []
    for wrong in (
        lost._replace(sites=()),
        lost._replace(number=40),
        lost._replace(point=numbering.points[1].first[5]),
    ):
        tally = InterproceduralTally(lost=Counter({wrong: 1}))
        (problem,) = violations(numbering, tally)
        assert problem.startswith(("main: there is no path", "pow: no path is cut short at point"))


def test_contexts_and_suffixes_in_blocks() -> None:
    numbering, tally = counted(Mode.CONTEXT)
    flow = recover_interprocedural(numbering, tally, {})
    labels = [case.graph.labels for case in FIGURE_4.cases]
    (found,) = (each for each in flow.paths if each.number == 28)
    context, suffix = found.path.steps[: found.suffix], found.path.steps[found.suffix :]
    assert [labels[p][b] for p, b in blocks_of(numbering, suffix)] == ["u3", "u7", "v10", "v11", "v12", "v13"]
    assert [labels[p][b] for p, b in blocks_of(numbering, context)] == [
        *("v4", "v5", "v6", "u3", "u7", "v6", "v7", "v8", "v9", "v10"),
    ]


def test_paths_that_are_too_long() -> None:
    numbering, tally = counted(Mode.CONTEXT)
    budget = Budget(0, 0)
    budget.spend(1 << 22, "before")
    with pytest.raises(BadFile, match="main: its paths are too many and too long to be spelled out"):
        recover_interprocedural(numbering, tally, {}, budget)
