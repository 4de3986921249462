"""What a path profile says of its own counters, and the figures of memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.figures.increments import PathIncrements, increment_figures, path_increments
from bench.figures.path_tables import MOST, PATHS, PLAIN, Memory, memory_table, within_bounds
from bench.suite.inputs.small import LONG_SCRIPT, long_sql
from tests.profile.making import function, profile_of, unit_of
from tests.profile.walking import facts_of, path_profile
from trodden.plan.probes import Add, Bump, Count, EdgeMeasure, Probe, Set

LOOP = "in>head head>body head>out body>x body>y x>head y>head out>exit"
DIAMONDS = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"


def test_every_path_that_ends_is_an_increment() -> None:
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


def test_figures_of_functions_are_added() -> None:
    facts = [facts_of("f", DIAMONDS), facts_of("g", DIAMONDS)]
    walks = {"f": {"a b d e g": 5}, "g": {"a c d f g": 3, "a b d f g": 1}}
    profile = path_profile(facts, walks)
    found = path_increments(profile)
    assert (found.functions, found.possible, found.walked, found.increments) == (2, 8, 3, 9)
    assert increment_figures(profile)["increments"] == 9


def test_a_profile_of_edges_has_no_paths() -> None:
    profile = profile_of(unit_of(function("f", "a>b b>exit")), {"f": {"a>b": 4, "b>exit": 4}})
    assert path_increments(profile) == PathIncrements(functions=1)


def test_shares_of_cuts_and_hashes() -> None:
    found = PathIncrements(ended=30, loops=10, cut=4, hashed=8)
    assert found.cut_share == pytest.approx(0.1)
    assert found.hashed_share == pytest.approx(0.2)
    assert (PathIncrements().cut_share, PathIncrements().hashed_share) == (0.0, 0.0)


def test_the_long_script_has_the_statements_it_promises(tmp_path: Path) -> None:
    script = tmp_path / "long.sql"
    long_sql(script)
    lines = script.read_text().splitlines()
    assert len(lines) == LONG_SCRIPT
    assert all(line.endswith(";") for line in lines)


def test_memory_is_what_comes_on_top_of_the_plain_build() -> None:
    mebi = 1 << 20
    paths = Memory(6 * mebi, 8 * mebi, 3 * mebi, mebi)
    found = {PLAIN: Memory(4 * mebi, 5 * mebi), PATHS: paths}
    shown = memory_table(found).splitlines()[-1].split("  ")
    cells = [cell.strip() for cell in shown if cell.strip()]
    assert cells == ["paths", "6.00 MiB", "8.00 MiB", "2.00 MiB", "3.00 MiB", "3.00 MiB", "1.00 MiB"]
    assert within_bounds(found)
    assert not within_bounds({**found, PATHS: Memory(0, 6 * mebi + MOST)})
