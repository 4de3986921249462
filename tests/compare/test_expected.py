"""An estimate beside a run: shares of branches, with the executions of the run as the only evidence."""

from __future__ import annotations

from math import log

import pytest

from tests.profile.making import Flow, function, profile_of, unit_of
from trodden.compare.difference import Comparison, compare
from trodden.compare.evidence import surprise
from trodden.compare.model import Kind
from trodden.profile.estimated import Expected, estimated
from trodden.profile.model import Estimate, Profile

SHAPE = "a>b a>c b>d c>d d>a d>e e>exit"
UNIT = unit_of(function("f", SHAPE))
RUN: Flow = {"a>b": 900, "a>c": 100, "b>d": 900, "c>d": 100, "d>a": 990, "d>e": 10, "e>exit": 10}


def _guess(share: float, calls: float = 1.0, iterations: float = 100.0) -> Profile:
    """``a`` branches to ``b`` with this share; the loop has this trip count."""
    of = {
        "a>b": share * iterations,
        "a>c": (1 - share) * iterations,
        "b>d": share * iterations,
        "c>d": (1 - share) * iterations,
    }
    of |= {"d>a": iterations - 1, "d>e": 1.0, "e>exit": 1.0}
    graph = UNIT.functions[0].graph
    edges = [of.get(f"{graph.labels[edge.src]}>{graph.labels[edge.dst]}", 1.0) for edge in graph.edges]
    edges = [1.0 if graph.edges[e].dst == graph.exit else each for e, each in enumerate(edges)]
    return estimated("p", [UNIT], [Expected(calls, edges)], Estimate("made up"))


def _run(flow: Flow = RUN) -> Profile:
    return profile_of(UNIT, {"f": flow})


def _compared(first: Profile, second: Profile) -> Comparison:
    return compare(first.functions, second.functions)


def test_a_branch_is_reported_once_by_the_edge_that_the_second_takes_more() -> None:
    found = _compared(_guess(0.5), _run())
    (each,) = found.differences
    assert (each.kind, each.position) == (Kind.EXPECTS, 0)
    assert each.what.first_share == 0.5
    assert (each.what.second, each.what.second_of) == (900, 1000)
    assert each.off == pytest.approx(400)
    assert (found.expected, dict(found.common), found.by_counts) == (1, {}, ())
    (back,) = _compared(_run(), _guess(0.5)).differences
    assert (back.what.first, back.what.first_of, back.what.second_share) == (100, 1000, 0.5)
    assert back.off == pytest.approx(400)


def test_evidence_is_what_the_run_says_against_the_share() -> None:
    (each,) = _compared(_guess(0.5), _run()).differences
    exact = 2 * (900 * log(900 / 500) + 100 * log(100 / 500))
    assert each.evidence == pytest.approx(exact * 10 / 1000)
    (back,) = _compared(_run(), _guess(0.5)).differences
    assert back.evidence == pytest.approx(each.evidence)


def test_how_often_an_estimate_calls_a_function_is_no_difference() -> None:
    for calls in (0.0, 1e-9, 1.0, 1e100):
        assert _compared(_guess(0.9, calls), _run()).same
        assert len(_compared(_guess(0.8, calls), _run()).differences) == 1


def test_what_the_run_has_not_passed_is_not_compared() -> None:
    assert _compared(_guess(0.5), _run({})).same
    assert _compared(_run({}), _guess(0.5)).same


def test_two_estimates_differ_without_evidence() -> None:
    (each,) = _compared(_guess(0.5), _guess(0.75, calls=3.0)).differences
    assert each.evidence == 0
    assert each.off == pytest.approx(0.25 * 300)
    assert _compared(_guess(0.5), _guess(0.5, calls=9.0)).same


def test_worst_first() -> None:
    found = _compared(_guess(0.5, iterations=2.0), _run())
    assert [round(each.off) for each in found.differences] == [490, 400]


def test_surprise() -> None:
    assert surprise(0.5, 5, 10) == 0
    assert surprise(0.25, 5, 10) > 0 > surprise(0.75, 5, 10)
    assert surprise(0.25, 50, 100) == pytest.approx(10 * surprise(0.25, 5, 10))
    assert 0 < surprise(0.0, 1, 10) < 100
    assert surprise(0.0, 0, 10) == pytest.approx(0, abs=1e-4)
    assert surprise(0.3, 0, 0) == 0
    assert surprise(0.3, -3, 2) == surprise(0.3, 0, 2)
    assert surprise(0.3, 5, 2) == surprise(0.3, 2, 2)
