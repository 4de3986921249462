"""Paths told to people."""

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
from trodden.report.narrate.paths import Describer, Story

ROUND = "cond body then latch cond"


def _story(profile: Profile, walk: str, starts: PathStart, ends: PathEnd, context: int = 0) -> Story:
    main = profile.functions["main"]
    return Describer(profile).story(main, path_of(main, walk, starts, ends, context))


def test_a_way_as_source_lines_with_outcomes(tmp_path: Path) -> None:
    story = _story(path_sample(tmp_path), "cond after last exit", PathStart.BACK_EDGE, PathEnd.EXIT)
    assert story.starts == "starts a new round of the loop at line 5"
    assert story.way() == (
        "5: for (int i = 0; i < 1000; i++) no, left the loop → 10: if (argc > 5) no → 12: return sum;"
    )
    assert story.ends == "returns at line 12"
    assert [(step.file, step.line) for step in story.steps] == [(f"{tmp_path}/a.c", n) for n in (5, 10, 12)]


def test_going_round(tmp_path: Path) -> None:
    story = _story(path_sample(tmp_path), f"entry {ROUND}", PathStart.ENTRY, PathEnd.BACK_EDGE)
    assert story.starts == "enters at line 4"
    assert story.way() == ("5: for (int i = 0; i < 1000; i++) yes → 6: if (i % 10) yes → 7: sum += twice(i);")
    assert story.ends == "goes round the loop at line 5 again"


def test_cuts_and_early_ends(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    story = _story(profile, "body then latch", PathStart.CUT, PathEnd.CUT)
    assert story.starts == "goes on at line 6, where the path before was cut"
    assert story.ends == "the path is cut here; the next one begins at line 5"
    story = _story(profile, "cond body then", PathStart.BACK_EDGE, PathEnd.UNWOUND)
    assert story.ends == "called at line 7 and never came back"
    assert story.steps[-1].words() == "7: sum += twice(i);"


def test_calls_that_return_twice(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    main = profile.functions["main"]
    [edge] = edges_along(main.facts.graph, "then latch")
    plan = replace(main.facts.plan, paths=Paths(9, resume_edges=(edge,)))
    main = replace(main, facts=replace(main.facts, plan=plan))
    profile = replace(profile, functions={"main": main})
    assert _story(profile, "cond body then latch", PathStart.RESUME, PathEnd.CUT).ends == (
        "stops before the call at line 7 that can return twice"
    )
    story = _story(profile, "latch cond", PathStart.RESUME, PathEnd.BACK_EDGE)
    assert story.starts == "goes on at line 5, behind a call that can return twice"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (BranchKind.RETURN, "returns at line 2"),
        (BranchKind.DEAD_END, "called at line 2 and never came back"),
        (BranchKind.UNWIND, "an exception leaves the function at line 2"),
        (BranchKind.JUMP, "leaves the function at line 2"),
    ],
)
def test_ways_to_leave(kind: BranchKind, words: str) -> None:
    profile = profile_of_walks([facts_of("f", "a>exit", {"a": [2]}, kinds={"a": kind})], {"f": ["a exit"]})
    function = profile.functions["f"]
    assert function.paths is not None
    assert Describer(profile).story(function, function.paths[0]).ends == words


def test_the_context_of_a_path_is_told_apart(tmp_path: Path) -> None:
    story = _story(path_sample(tmp_path), f"body else latch {ROUND}", PathStart.ENTRY, PathEnd.BACK_EDGE, 3)
    assert story.starts == "starts a new round of the loop at line 5"
    assert [step.words() for step in story.context] == ["6: if (i % 10) goes to line 9"]
    assert [step.line for step in story.steps] == [5, 6, 7]


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
    story = _story(profile, "cond after last exit", PathStart.BACK_EDGE, PathEnd.EXIT)
    assert story.way() == (
        "line 5 goes to line 10, left the loop at line 5 → line 10 goes to line 12 → line 12"
    )
    assert {step.text for step in story.steps} == {None}


def test_without_debug_information_there_are_blocks() -> None:
    profile = profile_of_walks([facts_of("main", "a>b a>c b>c c>exit")], {})
    story = _story(profile, "a c exit", PathStart.ENTRY, PathEnd.EXIT)
    assert (story.starts, story.way(), story.ends) == (
        "enters at block a",
        "block a goes to block c",
        "leaves the function at block c",
    )
    assert story.steps[0].line is None


def test_tests_of_one_condition_are_one_step(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() {\n if (p ||\n     q)\n  y();\n n();\n}\n")
    shape = "a>y a>b b>y b>n y>n n>exit"
    facts = facts_of("main", shape, {"a": [2], "b": [3], "y": [4], "n": [5]})
    profile = profile_of_walks([facts], {}, [f"{tmp_path}/a.c"])
    both = _story(profile, "a b y n exit", PathStart.ENTRY, PathEnd.EXIT)
    assert both.way() == "2: if (p || q) yes (by ways 2, 1) → 5: n();"
    assert _story(profile, "a y n exit", PathStart.ENTRY, PathEnd.EXIT).steps[0].outcome == "yes"


def test_a_condition_that_came_out_differently_is_two_steps(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() {\n while (p)\n  y();\n n();\n}\n")
    shape = "a>y a>n y>b b>z b>n z>n n>exit"
    facts = facts_of("main", shape, {"a": [2], "y": [3], "b": [2], "z": [3], "n": [4]})
    profile = profile_of_walks([facts], {}, [f"{tmp_path}/a.c"])
    outcomes = [
        [step.outcome for step in _story(profile, walk, PathStart.ENTRY, PathEnd.EXIT).steps]
        for walk in ("a y b n exit", "a y b z n exit")
    ]
    assert outcomes == [["yes", "no", None], ["yes (by ways 1, 1)", None]]


def test_inlined_code_goes_by_its_function_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main() {\n twice(x);\n}\n")
    (tmp_path / "a.h").write_text("int twice(int x) {\n if (x)\n  y();\n return x;\n}\n")
    files = [f"{tmp_path}/a.c", f"{tmp_path}/a.h"]
    shape = "a>y a>n y>n n>exit"
    inner = facts_of("main", shape, {"a": [(1, 2, 1)], "y": [(1, 3, 1)], "n": [(1, 4, 1)]}, inlined=[2])
    story = _story(profile_of_walks([inner], {}, files), "a n exit", PathStart.ENTRY, PathEnd.EXIT)
    assert (story.starts, story.way()) == ("enters at a.h:2", "a.h:2: if (x) no")
    twice = replace(facts_of("twice", shape, {"a": [(1, 2)], "y": [(1, 3)], "n": [(1, 4)]}), file=1)
    story = _story(profile_of_walks([inner, twice], {}, files), "a n exit", PathStart.ENTRY, PathEnd.EXIT)
    assert story.way() == "a.h:2: if (x) no (in inlined twice)"


def test_long_texts_are_cut_where_asked(tmp_path: Path) -> None:
    story = _story(path_sample(tmp_path), f"entry {ROUND}", PathStart.ENTRY, PathEnd.BACK_EDGE)
    assert story.steps[0].words(12) == "5: for (int i … yes"
    assert len(story.way(10)) < len(story.way())
