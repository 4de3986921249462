"""A source with one path highlighted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.pathing import facts_of, path_of, path_sample, profile_of_walks
from trodden.errors import InputMissing, UsageError
from trodden.plan.routes import PathEnd, PathStart
from trodden.profile.model import Profile
from trodden.report.views.annotate_path import PathAnnotator, path_text
from trodden.report.views.hot_paths import HotPath, pick_path

EXPECTED = """\
main, path 1 (id {id}): executed 8 times, 72.7% of the IR instructions executed
starts at the loop header (line 5); ends at the back edge to line 5
{root}/a.c
       3  int main(int argc, char **argv) {{
       4      int sum = 0;
>      5      for (int i = 0; i < 1000; i++)  ← i < 1000: true
>      6          if (i % 10)  ← i % 10: true
>      7              sum += twice(i);
       8          else
       9              sum -= 1;
      10      if (argc > 5)
      11          return die("too many");
      12      return sum;
{root}/a.h
>      2      return 2 * x;
"""


def _shown(annotator: PathAnnotator, colour: bool = False) -> str:
    rows = [*annotator.head()]
    for view in annotator.views():
        rows += path_text(view.path, list(annotator.lines(view)), colour)
    return "\n".join(rows) + "\n"


def _annotator(profile: Profile, choice: str = "1") -> PathAnnotator:
    return PathAnnotator(profile, *pick_path(profile, "x.trod", choice))


def test_the_whole_function_with_its_path(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    number = pick_path(profile, "x.trod", "1")[1].path.id
    assert _shown(_annotator(profile)) == EXPECTED.format(root=tmp_path, id=number)


def test_colours(tmp_path: Path) -> None:
    text = _shown(_annotator(path_sample(tmp_path)), colour=True)
    assert "\x1b[1;32m▶      6          if (i % 10)\x1b[0m\x1b[36m  ← i % 10: true\x1b[0m" in text
    assert "\x1b[2m       8          else\x1b[0m" in text


def test_a_path_that_was_executed_once(tmp_path: Path) -> None:
    assert "executed once, " in _annotator(path_sample(tmp_path), "4").head()[0]


def test_time_and_context_are_in_the_head(tmp_path: Path) -> None:
    profile = path_sample(tmp_path)
    main = profile.functions["main"]
    walk = "body else latch cond body then latch cond"
    path = replace(path_of(main, walk, PathStart.ENTRY, PathEnd.BACK_EDGE, 3), cycles=90)
    annotator = PathAnnotator(profile, 1, HotPath("main", main, path))
    assert annotator.head()[0].endswith("of the IR instructions executed, 90 cycles")
    assert annotator.head()[2] == "reached by 6: if (i % 10) continues at line 9"
    assert ">      9" not in _shown(annotator)


def test_an_inlined_function_that_is_known_is_shown_whole(tmp_path: Path) -> None:
    text = "int main() {\n twice(x);\n}\nint far;\n\nint twice(int x) {\n if (x)\n  y();\n return x;\n}\n"
    (tmp_path / "a.c").write_text(text)
    shape = "a>y a>n y>n n>exit"
    main = facts_of(
        "main", shape, {"a": [(0, 7, 1)], "y": [(0, 8, 1)], "n": [(0, 9, 1), 3]}, inlined=[2], sizes={"a": 9}
    )
    twice = facts_of("twice", shape, {"a": [7], "y": [8], "n": [9]}, line=6)
    profile = profile_of_walks([main, twice], {"main": ["a n exit"]}, [f"{tmp_path}/a.c"])
    rows = _shown(_annotator(profile)).splitlines()[3:]
    assert rows == [
        "       1  int main() {",
        ">      2   twice(x);",
        ">      3  }",
        "       …",
        "       6  int twice(int x) {",
        ">      7   if (x)  ← x: false",
        "       8    y();",
        ">      9   return x;",
    ]


def test_several_executions_of_a_line_are_shown_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f() {\n while (p)\n  y();\n n();\n}\n")
    shape = "a>y a>n y>b b>z b>n z>n n>exit"
    facts = facts_of("f", shape, {"a": [2], "y": [3], "b": [2], "z": [3], "n": [4]})
    profile = profile_of_walks([facts], {"f": ["a y b n exit"]}, [f"{tmp_path}/a.c"])
    assert ">      2   while (p)  ← p: true; then p: false" in _shown(_annotator(profile))


def test_without_lines_or_sources(tmp_path: Path) -> None:
    facts = replace(facts_of("f", "a>exit"), line=0)
    profile = profile_of_walks([facts], {"f": ["a exit"]})
    with pytest.raises(UsageError, match="f: no source lines are known; build with -g to have them"):
        _annotator(profile).views()
    gone = path_sample(tmp_path)
    (tmp_path / "a.c").unlink()
    with pytest.raises(InputMissing):
        _shown(_annotator(gone))
