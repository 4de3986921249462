"""Increments of path profiles, and the size of their tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.figures import path_tables as tables
from bench.figures.increments import PathIncrements, increment_figures, path_increments
from bench.figures.path_tables import path_tables
from bench.support.errors import BenchError
from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from trodden.plan.probes import Add, Bump, Count, EdgeMeasure, Probe, Set

LOOP = "in>head head>body head>out body>x body>y x>head y>head out>exit"
DIAMONDS = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"


def test_every_completed_path_is_an_increment() -> None:
    walks = {"in head body x head body y head out": 2, "in head body y head body y head out!": 1}
    found = path_increments(path_profile([facts_of("f", LOOP)], {"f": walks}))
    assert (found.functions, found.functions_cut, found.walked) == (1, 0, 5)
    assert (found.ended, found.loops, found.cut, found.hashed) == (8, 0, 0, 0)


def test_paths_that_end_on_a_cut() -> None:
    facts = facts_of("f", DIAMONDS, cuts=["d>e"])
    found = path_increments(path_profile([facts], {"f": {"a b d e g": 5, "a b d f g": 2}}))
    assert (found.functions_cut, found.ended, found.cut) == (1, 12, 5)


def test_self_loops_and_the_register() -> None:
    facts = facts_of("f", "a>b a>c b>c c>c c>exit")
    on_edges: dict[int, tuple[Probe, ...]] = {0: (Add(1),), 3: (Count(0),), 4: (Bump(),)}
    plan = replace(facts.plan, measures=(EdgeMeasure(3),), on_edges=on_edges, on_entry=(Set(0),))
    found = path_increments(path_profile([replace(facts, plan=plan)], {"f": {"a b c c c": 10, "a c": 5}}))
    assert (found.ended, found.loops, found.increments) == (15, 20, 35)
    assert found.register == 15 + 10


def test_figures_of_functions_are_summed() -> None:
    facts = [facts_of("f", DIAMONDS), facts_of("g", DIAMONDS)]
    walks = {"f": {"a b d e g": 5}, "g": {"a c d f g": 3, "a b d f g": 1}}
    profile = path_profile(facts, walks)
    found = path_increments(profile)
    assert (found.functions, found.possible, found.walked, found.increments) == (2, 8, 3, 9)
    assert increment_figures(profile)["increments"] == 9


def test_a_profile_of_edges_has_no_paths() -> None:
    profile = profile_of(unit_of(function("f", "a>b b>exit")), {"f": {"a>b": 4, "b>exit": 4}})
    assert path_increments(profile) == PathIncrements(functions=1)


def test_tables_are_those_of_dense_functions() -> None:
    facts = [facts_of("f", DIAMONDS), facts_of("g", DIAMONDS)]
    profile = path_profile(facts, {"f": {"a b d e g": 5}})
    assert path_tables(profile)["paths"] == 8 * (4 + 4)
    assert path_tables(profile)["counters"] == 8 * sum(unit.slots for unit in profile.units)


def test_tables_of_paths_must_not_exceed_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = path_profile([facts_of("f", DIAMONDS)], {})
    monkeypatch.setattr(tables, "MOST", 32)
    assert path_tables(profile)["paths"] == 32
    monkeypatch.setattr(tables, "MOST", 31)
    with pytest.raises(BenchError, match="the tables of paths take 32 bytes; 31 are allowed"):
        path_tables(profile)
