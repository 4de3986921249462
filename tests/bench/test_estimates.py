"""The figures of estimates: LLVM's own read back, rates, probes counted by another's profile."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bench import current, estimate_programs, keeping, unix_inputs
from bench.errors import BenchError
from bench.figures.estimates import fitted_elsewhere
from bench.llvm_estimate import as_counted, read_expectations
from bench.packages import PACKAGES
from bench.programs import HERE, PROGRAMS
from bench.weights import Needed, increments_table
from tests.profile.making import function, graph_of, profile_of, unit_of
from trodden.collect.binary.program import read_program
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.plan.probes import Add, AddTrips, Bump, Count, Plan, Set
from trodden.profile.from_runs import collect
from trodden.profile.store.trod import load, save
from trodden.weigh.calibrate.fitting import fit_together
from trodden.weigh.calibrate.observed import Observation
from trodden.weigh.features.clues import FunctionClues
from trodden.weigh.heuristics.ball_larus import Scope

PRINTED = """\
Printing analysis 'Branch Probability Analysis' for function 'f':
---- Branch Probabilities ----
  edge %bb -> %bb1 probability is 0x60000000 / 0x80000000 = 75.00%
  edge %bb -> %bb1 probability is 0x60000000 / 0x80000000 = 75.00%
  edge %bb -> %out probability is 0x20000000 / 0x80000000 = 25.00%
  edge %bb1 -> %bb1 probability is 0x40000000 / 0x80000000 = 50.00%
  edge %bb1 -> %out probability is 0x40000000 / 0x80000000 = 50.00%
Printing analysis results of BFI for function 'f':
block-frequency-info: f
 - bb: float = 1.0, int = 8
 - bb1: float = 1.5, int = 12
 - out: float = 1.0, int = 8

Printing analysis 'Branch Probability Analysis' for function 'g':
---- Branch Probabilities ----
Printing analysis results of BFI for function 'g':
block-frequency-info: g
 - bb: float = 1.0, int = 8
"""


def test_what_llvm_prints_becomes_frequencies_of_our_edges() -> None:
    found = read_expectations(PRINTED.splitlines())
    assert list(found) == ["f", "g"]
    graph = graph_of("f", "a>b a>b a>c b>b b>c c>exit")
    assert found["f"].edges(graph) == [0.375, 0.375, 0.25, 0.75, 0.75, 1.0, 1.0]
    assert found["g"].edges(graph_of("g", "a>exit")) == [1.0, 1.0]


def test_endless_edges_take_nothing_of_what_llvm_expects() -> None:
    found = read_expectations(PRINTED.splitlines())["f"]
    found.odds["out", "out"] = 1.0
    graph = graph_of("f", "a>b a>b a>c b>b b>c c>c")
    assert found.edges(graph)[-3:] == [1.0, 0.0, 1.0]


def test_other_blocks_than_ours_are_another_program() -> None:
    with pytest.raises(BenchError, match="g: has 2 blocks here and 1 for LLVM"):
        read_expectations(PRINTED.splitlines())["g"].edges(graph_of("g", "a>b b>exit"))


TWICE = """\
define i32 @f(ptr %0) {
  %2 = call i32 @setjmp(ptr %0) #0
  ret i32 %2
}

define void @g() {
  ret void
}

declare i32 @setjmp(ptr) #0

attributes #0 = { returns_twice }
"""


def test_llvm_is_asked_about_the_blocks_that_are_counted() -> None:
    sizes = [len(cut_function(each).blocks) for each in cut_module(as_counted(TWICE)).definitions]
    assert sizes == [2, 1]
    plain = TWICE.replace("returns_twice", "nounwind")
    assert as_counted(plain) == plain


def test_no_package_has_a_say_in_its_own_rates() -> None:
    def seen(first: float, second: float) -> Observation:
        return Observation(Scope.PLAIN, (first, second), (("call", frozenset({0})),))

    known = {"a": [[seen(90, 10)]], "b": [[seen(10, 90)]], "c": [[seen(50, 50), seen(80, 20)]]}
    rates = fitted_elsewhere(known, "b")
    assert rates.taken == fit_together([*known["a"], *known["c"]])
    assert rates.taken["call"] > 0.5 > fit_together(known["b"])["call"]


def test_probes_are_counted_by_what_was_measured() -> None:
    shape = "a>b b>c b>d c>b d>exit"
    flow = {"a>b": 2, "b>c": 10, "b>d": 2, "c>b": 10, "d>exit": 2}
    counted = profile_of(unit_of(function("f", shape)), {"f": flow}).functions["f"]
    lean = Plan("eprof", (), {2: (AddTrips(0, 3),)})
    inside = Plan("eprof", (), {3: (Count(0),)}, {0: (Count(1),)})
    paths = Plan("paths", (), {1: (Add(1),), 3: (Bump(), Set(0))}, on_entry=(Set(0),))
    needed = Needed()
    needed.add(("edges", "nesting"), inside, counted)
    needed.add(("edges", "WL94"), lean, counted)
    needed.add(("edges", "fitted"), inside, counted)
    needed.add(("edges", "measured"), lean, counted)
    needed.add(("paths", "nesting"), paths, counted)
    assert needed.increments == {
        ("edges", "nesting"): 12,
        ("edges", "WL94"): 2,
        ("edges", "fitted"): 12,
        ("edges", "measured"): 2,
        ("paths", "nesting"): 10,
    }
    assert needed.register == {("paths", "nesting"): 22}
    lines = increments_table({"p": needed}, "edges", "increments").splitlines()
    assert lines[2].split() == ["p", "12", "2", "12", "2", "0.167", "1.000", "0.167"]
    assert lines[3].split() == ["geometric", "mean", "0.167", "1.000", "0.167"]


def test_inputs_are_the_same_each_time(tmp_path: Path) -> None:
    contents = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        unix_inputs.write(tmp_path / name)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        contents.append([(str(path.relative_to(tmp_path / name)), path.read_bytes()) for path in files])
    assert contents[0] == contents[1]
    assert ("empty", b"") in contents[0]


def test_every_program_is_run_and_nothing_else() -> None:
    runs = {path.name: path.read_text().splitlines() for path in (HERE / "sources/unix/runs").iterdir()}
    commands = {Path(place).name for package in PACKAGES for place in package.commands}
    assert set(runs) == commands | {program.name for program in PROGRAMS}
    for name, lines in runs.items():
        for line in lines:
            assert name in shlex.split(line), line


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(BenchError, match="no program cal; there are factor, split, "):
        estimate_programs.subjects(["cal"])


def test_the_ir_of_a_unit_is_found_again(tmp_path: Path) -> None:
    source, made, kept = tmp_path / "x.c", tmp_path / "x.o", tmp_path / "kept"
    source.write_text("int twice(int x) { return 2 * x; }\n")
    assert keeping.main(str(kept), "cc", "-O2", "-c", str(source), "-o", str(made)) == 0
    (unit,) = read_program(made).units.values()
    text = keeping.ir_of(kept, unit).read_text()
    assert "@twice(" in text
    assert "__trodden" not in text


def test_clues_are_read_again_for_what_was_built_and_run_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate_programs, "WORK", tmp_path)
    subject = estimate_programs.Subject("p", "p", "p", estimate_programs.LEVEL)
    source, raw = tmp_path / "p.c", tmp_path / "p.raw"
    source.write_text("#include <stdio.h>\nint main(int n, char **v) { if (n > 2) puts(v[1]); return n; }\n")
    subject.executable.parent.mkdir(parents=True)
    subject.measured.parent.mkdir(parents=True)
    assert keeping.main(str(subject.ir), "cc", "-O2", str(source), "-o", str(subject.executable)) == 0
    assert subprocess.run([subject.executable], env={"TRODDEN_FILE": str(raw)}, check=False).returncode == 1
    whole = collect([raw])
    (unit,) = whole.units
    bare = replace(unit, functions=tuple(replace(f, clues=FunctionClues()) for f in unit.functions))
    save(replace(whole, units=(bare,)), subject.measured)
    assert not load(subject.measured).functions["main"].facts.clues.blocks
    found = current.measured_of(subject)
    assert found.functions["main"].facts.clues == whole.functions["main"].facts.clues
    assert found.functions["main"].block_counts == whole.functions["main"].block_counts
    assert current.units_of(subject) == [unit]
