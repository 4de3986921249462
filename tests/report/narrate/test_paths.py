"""Paths in terms of the source."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tests.profile.sample import SOURCE
from tests.report.pathing import edges_along, facts_of, path_of, path_sample, profile_of_walks
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, PathStart
from trodden.profile.model import Profile
from trodden.program.facts import BranchKind
from trodden.report.narrate.paths import Describer, PathDescription

ITERATION = "cond body then latch cond"


def _described(
    profile: Profile, walk: str, starts: PathStart, ends: PathEnd, context: int = 0
) -> PathDescription:
    main = profile.functions["main"]
    return Describer(profile).describe(main, path_of(main, walk, starts, ends, context))


def test_steps_are_conditions_with_their_values(tmp_path: Path) -> None:
    path = _described(path_sample(tmp_path), "cond after last exit", PathStart.BACK_EDGE, PathEnd.EXIT)
    assert path.starts == "starts at the loop header (line 5)"
    assert path.steps_text() == ("5: i < 1000: false, exits the loop → 10: argc > 5: false → 12: return sum;")
    assert path.ends == "returns at line 12"
    assert [(step.file, step.line) for step in path.steps] == [(f"{tmp_path}/a.c", n) for n in (5, 10, 12)]


def test_an_iteration(tmp_path: Path) -> None:
    path = _described(path_sample(tmp_path), f"entry {ITERATION}", PathStart.ENTRY, PathEnd.BACK_EDGE)
    assert path.starts == "starts at the function entry (line 4)"
    assert path.steps_text() == "5: i < 1000: true → 6: i % 10: true → 7: sum += twice(i);"
    assert path.ends == "ends at the back edge to line 5"


def test_cuts_and_early_ends(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    path = _described(profile, "body then latch", PathStart.CUT, PathEnd.CUT)
    assert path.starts == "starts where long paths are cut in two (line 6)"
    assert path.ends == "ends where long paths are cut in two; the next one starts at line 5"
    path = _described(profile, "cond body then", PathStart.BACK_EDGE, PathEnd.UNWOUND)
    assert path.ends == "ends in a call at line 7 that did not return"
    assert path.steps[-1].words() == "7: sum += twice(i);"


@pytest.mark.parametrize(
    ("stops", "where"),
    [
        ({}, "between line 4 and line 5"),
        ({0: 1}, "at line 4"),
        ({1: 1}, "at line 5"),
        ({0: 2, 1: 1}, "between line 4 and line 5"),
    ],
)
def test_a_call_that_did_not_return_has_the_line_of_its_call_site(
    tmp_path: Path, stops: dict[int, int], where: str
) -> None:
    profile = path_sample(tmp_path)
    main = profile.functions["main"]
    first = replace(main.facts.blocks[0], calls=2, call_lines=(0, 1))
    path = path_of(main, "entry", PathStart.ENTRY, PathEnd.UNWOUND)
    main = replace(
        main,
        facts=replace(main.facts, blocks=(first, *main.facts.blocks[1:])),
        path_stops={(path.id, position): times * path.count for position, times in stops.items()},
    )
    described = Describer(replace(profile, functions={"main": main})).describe(main, path)
    assert described.ends == f"ends in a call {where} that did not return"


def test_calls_that_return_twice(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    main = profile.functions["main"]
    [edge] = edges_along(main.facts.graph, "then latch")
    plan = replace(main.facts.plan, paths=Paths(9, resume_edges=(edge,)))
    main = replace(main, facts=replace(main.facts, plan=plan))
    profile = replace(profile, functions={"main": main})
    assert _described(profile, "cond body then latch", PathStart.RESUME, PathEnd.CUT).ends == (
        "ends before the call at line 7 that can return twice"
    )
    path = _described(profile, "latch cond", PathStart.RESUME, PathEnd.BACK_EDGE)
    assert path.starts == "resumes after a call that can return twice (line 5)"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (BranchKind.RETURN, "returns at line 2"),
        (BranchKind.DEAD_END, "ends in a call at line 2 that did not return"),
        (BranchKind.UNWIND, "ends with an exception that leaves the function at line 2"),
        (BranchKind.JUMP, "exits the function at line 2"),
    ],
)
def test_ends(kind: BranchKind, words: str) -> None:
    profile = profile_of_walks([facts_of("f", "a>exit", {"a": [2]}, kinds={"a": kind})], {"f": ["a exit"]})
    function = profile.functions["f"]
    assert function.paths is not None
    assert Describer(profile).describe(function, function.paths[0]).ends == words


def test_the_context_of_a_path_is_kept_apart(tmp_path: Path) -> None:
    path = _described(
        path_sample(tmp_path), f"body else latch {ITERATION}", PathStart.ENTRY, PathEnd.BACK_EDGE, 3
    )
    assert path.starts == "starts at the loop header (line 5)"
    assert [step.words() for step in path.context] == ["6: if (i % 10) continues at line 9"]
    assert [step.line for step in path.steps] == [5, 6, 7]


@pytest.mark.parametrize("change", ["gone", "changed"])
def test_without_the_source_there_are_lines(tmp_path: Path, change: str) -> None:
    profile = path_sample(tmp_path)
    [unit] = profile.units
    files = (replace(unit.files[0], digest=sha256(SOURCE.encode()).hexdigest()), unit.files[1])
    profile = replace(profile, units=(replace(unit, files=files),))
    if change == "gone":
        (tmp_path / "a.c").unlink()
    else:
        (tmp_path / "a.c").write_text(SOURCE + "\n")
    path = _described(profile, "cond after last exit", PathStart.BACK_EDGE, PathEnd.EXIT)
    assert path.steps_text() == (
        "line 5 continues at line 10, exits the loop at line 5 → line 10 continues at line 12 → line 12"
    )
    assert {step.text for step in path.steps} == {None}


def test_without_debug_information_there_are_blocks() -> None:
    profile = profile_of_walks([facts_of("main", "a>b a>c b>c c>exit")], {})
    path = _described(profile, "a c exit", PathStart.ENTRY, PathEnd.EXIT)
    assert (path.starts, path.steps_text(), path.ends) == (
        "starts at the function entry (block a)",
        "block a continues at block c",
        "exits the function at block c",
    )
    assert path.steps[0].line is None


def test_tests_of_one_condition_are_one_step(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() {\n if (p ||\n     q)\n  y();\n n();\n}\n")
    shape = "a>y a>b b>y b>n y>n n>exit"
    facts = facts_of("main", shape, {"a": [2], "b": [3], "y": [4], "n": [5]})
    profile = profile_of_walks([facts], {}, [f"{tmp_path}/a.c"])
    both = _described(profile, "a b y n exit", PathStart.ENTRY, PathEnd.EXIT)
    assert both.steps_text() == "2: p: false, q: true → 5: n();"
    assert _described(profile, "a y n exit", PathStart.ENTRY, PathEnd.EXIT).steps[0].outcome_text == "p: true"


def test_each_evaluation_of_a_condition_is_a_step(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() {\n while (p)\n  y();\n n();\n}\n")
    shape = "a>y a>n y>b b>z b>n z>n n>exit"
    facts = facts_of("main", shape, {"a": [2], "y": [3], "b": [2], "z": [3], "n": [4]})
    profile = profile_of_walks([facts], {}, [f"{tmp_path}/a.c"])
    outcomes = [
        [step.outcome_text for step in _described(profile, walk, PathStart.ENTRY, PathEnd.EXIT).steps]
        for walk in ("a y b n exit", "a y b z n exit")
    ]
    assert outcomes == [["p: true", "p: false", None], ["p: true", "p: true", None]]


def test_inlined_code_is_named_by_its_function_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() {\n twice(x);\n}\n")
    (tmp_path / "a.h").write_text("int twice(int x) {\n if (x)\n  y();\n return x;\n}\n")
    files = [f"{tmp_path}/a.c", f"{tmp_path}/a.h"]
    shape = "a>y a>n y>n n>exit"
    inner = facts_of("main", shape, {"a": [(1, 2, 1)], "y": [(1, 3, 1)], "n": [(1, 4, 1)]}, inlined=[2])
    path = _described(profile_of_walks([inner], {}, files), "a n exit", PathStart.ENTRY, PathEnd.EXIT)
    assert (path.starts, path.steps_text()) == ("starts at the function entry (a.h:2)", "a.h:2: x: false")
    twice = replace(facts_of("twice", shape, {"a": [(1, 2)], "y": [(1, 3)], "n": [(1, 4)]}), file=1)
    path = _described(profile_of_walks([inner, twice], {}, files), "a n exit", PathStart.ENTRY, PathEnd.EXIT)
    assert path.steps_text() == "twice() a.h:2: x: false"


def test_long_texts_are_cut_on_request(tmp_path: Path) -> None:
    path = _described(path_sample(tmp_path), f"entry {ITERATION}", PathStart.ENTRY, PathEnd.BACK_EDGE)
    assert path.steps[0].words(6) == "5: i < 1…: true"
    assert len(path.steps_text(10)) < len(path.steps_text())
