"""Rates that are fitted to other packages, increments by weights, and the IR of instrumented programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.build import keep_ir
from bench.figures.estimate_scores import fitted_elsewhere
from bench.figures.weights import Increments
from bench.run.scripted import ScriptedProgram
from bench.suite.redis import REDIS
from bench.support.errors import BenchError
from tests.profile.making import function, profile_of, unit_of
from trodden.collect.binary.program import read_program
from trodden.plan.probes import Add, AddTripCount, Bump, Count, Plan, Set
from trodden.weigh.calibrate.fitting import fit_together
from trodden.weigh.calibrate.observed import Observation
from trodden.weigh.heuristics.heuristic import Scope


def test_rates_are_not_fitted_to_the_package_itself() -> None:
    def seen(first: float, second: float) -> Observation:
        return Observation(Scope.PLAIN, (first, second), (("call", frozenset({0})),))

    known = {"a": [[seen(90, 10)]], "b": [[seen(10, 90)]], "c": [[seen(50, 50), seen(80, 20)]]}
    rates = fitted_elsewhere(known, "b")
    assert rates.taken == fit_together([*known["a"], *known["c"]])
    assert rates.taken["call"] > 0.5 > fit_together(known["b"])["call"]


def test_probes_are_counted_with_measured_frequencies() -> None:
    shape = "a>b b>c b>d c>b d>exit"
    flow = {"a>b": 2, "b>c": 10, "b>d": 2, "c>b": 10, "d>exit": 2}
    counts = profile_of(unit_of(function("f", shape)), {"f": flow}).functions["f"]
    at_exit = Plan("eprof", (), {2: (AddTripCount(0, 3),)})
    inside = Plan("eprof", (), {3: (Count(0),)}, {0: (Count(1),)})
    paths = Plan("paths", (), {1: (Add(1),), 3: (Bump(), Set(0))}, on_entry=(Set(0),))
    found = {name: Increments() for name in ("at exit", "inside", "paths")}
    for name, plan in (("at exit", at_exit), ("inside", inside), ("paths", paths)):
        found[name].add(plan, counts)
    assert found == {
        "at exit": Increments(2, 0),
        "inside": Increments(12, 0),
        "paths": Increments(10, 22),
    }
    found["inside"].add(at_exit, counts)
    assert found["inside"] == Increments(14, 0)


def test_a_program_without_a_workload_cannot_be_estimated() -> None:
    with pytest.raises(BenchError, match="redis: has no workload"):
        ScriptedProgram(REDIS, "O2").fingerprint()


def test_the_ir_of_a_unit_is_found(tmp_path: Path) -> None:
    source, made, kept = tmp_path / "x.c", tmp_path / "x.o", tmp_path / "kept"
    source.write_text("int twice(int x) { return 2 * x; }\n")
    assert keep_ir.main(str(kept), "cc", "-O2", "-c", str(source), "-o", str(made)) == 0
    (unit,) = read_program(made).units.values()
    text = keep_ir.ir_of(kept, unit).read_text()
    assert "@twice(" in text
    assert "__trodden" not in text
