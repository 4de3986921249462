"""Source with counts beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.profile.making import Place, function, profile_of, unit_of
from tests.profile.sample import SOURCE, sample, write_sources
from trodden.errors import InputMissing, SourceChanged, UsageError
from trodden.plan.counters.blocks import every_block
from trodden.report.views.annotate import Annotator, branch_text, count_text, view_text
from trodden.source.branches import Branch, Outcome, branches
from trodden.source.lines import LineCount

EXPECTED = """\
{root}/a.c
               1  #include "a.h"
               2
        1      3  int main(int argc, char **argv) {{
        1      4      int sum = 0;
     1001      5      for (int i = 0; i < 1000; i++)
                  line 5: >99% →6 1000, <1% →10 1
     1000      6          if (i % 10)
                  line 6: 90% →7 900, 10% →9 100
      900      7              sum += twice(i);
               8          else
      100      9              sum -= 1;
        1     10      if (argc > 5)
                  line 10: 0% →11 0, 100% →12 1
    #####     11          return die("too many");
        1     12      return sum;
              13  }}
              14
    #####     15  int never(int x) {{
    #####     16      return x ? 1 : 2;
                  line 16: never executed
              17  }}
{root}/a.h
               1  static inline int twice(int x) {{
      900      2      return 2 * x;
               3  }}
"""


def _annotated(annotator: Annotator, pattern: str | None = None, colour: bool = False) -> str:
    rows = [
        row
        for view in annotator.views(pattern)
        for row in view_text(view.path, list(annotator.lines(view)), colour)
    ]
    return "\n".join(rows) + "\n"


def test_whole_sources(tmp_path: Path) -> None:
    write_sources(tmp_path)
    assert _annotated(Annotator(sample(str(tmp_path)))) == EXPECTED.format(root=tmp_path)


@pytest.mark.parametrize("pattern", ["a.h", "*.h", "{root}/a.h"])
def test_a_pattern_picks_files(tmp_path: Path, pattern: str) -> None:
    write_sources(tmp_path)
    text = _annotated(Annotator(sample(str(tmp_path))), pattern.format(root=tmp_path))
    assert text.splitlines()[0] == f"{tmp_path}/a.h"
    assert len(text.splitlines()) == 4


def test_a_pattern_picks_functions(tmp_path: Path) -> None:
    write_sources(tmp_path)
    lines = _annotated(Annotator(sample(str(tmp_path))), "never").splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["#####", "#####", "line"]
    with pytest.raises(UsageError, match="no function matches"):
        Annotator(sample(str(tmp_path))).views("nothing")


def test_a_changed_source_is_refused(tmp_path: Path) -> None:
    write_sources(tmp_path)
    (tmp_path / "a.c").write_text(SOURCE + "\n")
    with pytest.raises(SourceChanged, match=r"a.c: has changed since the program was built; rebuild"):
        _annotated(Annotator(sample(str(tmp_path))))
    assert "1001" in _annotated(Annotator(sample(str(tmp_path)), force=True))
    assert "1001" in _annotated(Annotator(sample(str(tmp_path), digests=False)))


def test_a_missing_source(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match=r"a.c: cannot be read: No such file"):
        _annotated(Annotator(sample(str(tmp_path))))


def test_a_source_that_is_shorter_than_its_counts(tmp_path: Path) -> None:
    write_sources(tmp_path)
    (tmp_path / "a.c").write_bytes(b"one line\xff only")
    text = _annotated(Annotator(sample(str(tmp_path)), force=True), "a.c")
    assert text.splitlines()[1:] == ["               1  one line\ufffd only"]


def test_colours_are_only_for_terminals(tmp_path: Path) -> None:
    write_sources(tmp_path)
    text = _annotated(Annotator(sample(str(tmp_path))), colour=True)
    assert "\x1b[31m    #####     11" in text
    assert "\x1b" not in _annotated(Annotator(sample(str(tmp_path))))


def test_overlapping_functions_are_shown_once(tmp_path: Path) -> None:
    unit = unit_of(
        function("swap<int>", "a>b b>exit", {"a": [2], "b": [3]}, line=1),
        function("swap<char>", "a>b b>exit", {"a": [2], "b": [3]}, line=1),
        files=[f"{tmp_path}/a.c"],
    )
    (tmp_path / "a.c").write_text("one\ntwo\nthree\nfour\n")
    walk = {"a>b": 2, "b>exit": 2}
    profile = profile_of(unit, {"swap<int>": walk, "swap<char>": walk})
    rows = [line.split() for line in _annotated(Annotator(profile), "swap*").splitlines()[1:]]
    assert rows == [["4", "1", "one"], ["4", "2", "two"], ["4", "3", "three"]]


def test_instances_of_one_branch_are_joined_but_not_two_branches_of_one_line(tmp_path: Path) -> None:
    shape = "a>b a>d b>c b>d c>exit d>exit"
    lines = {"a": [1], "b": [1], "c": [2], "d": [3]}
    flow = {"a>b": 3, "a>d": 1, "b>c": 2, "b>d": 1, "c>exit": 2, "d>exit": 2}
    unit = unit_of(function("f<1>", shape, lines), function("f<2>", shape, lines), files=[f"{tmp_path}/a.c"])
    (tmp_path / "a.c").write_text("x\ny\nz\n")
    rows = _annotated(Annotator(profile_of(unit, {"f<1>": flow, "f<2>": flow}))).splitlines()
    assert [row.strip() for row in rows if "line 1:" in row] == [
        "line 1: 75% →1 6, 25% →3 2",
        "line 1: 67% →2 4, 33% →3 2",
    ]


def test_a_count_that_is_only_a_bound_is_marked() -> None:
    assert count_text(LineCount(7, exact=False)) == "~7"
    assert count_text(LineCount(7)) == "7"
    assert count_text(LineCount(0)) == "#####"
    assert count_text(LineCount(0, exact=False)) == "?"
    assert count_text(None) == ""


def test_leaving_and_unknown_lines_go_by_their_label() -> None:
    branch = Branch("a.c", 4, "b", 4, (Outcome(None, "exit", 4), Outcome(None, "pad", 0)))
    assert branch_text(branch) == "line 4: 100% →exit 4, 0% →pad 0"
    unit = unit_of(function("f", "a>b a>exit b>exit", {"a": [4]}))
    [found] = branches(profile_of(unit, {"f": {"a>exit": 4}}).functions["f"])
    assert found == Branch("/src/a.c", 4, "a", 4, (Outcome(None, "b", 0), Outcome(None, "exit", 4)))


def test_branches_that_were_not_counted_are_left_out() -> None:
    lines = {label: [1] for label in "abcde"}
    unit = unit_of(function("f", "a>b a>c b>d b>e c>d c>e d>exit e>exit", lines, planner=every_block))
    flow = {"a>b": 1, "a>c": 1, "b>d": 1, "c>e": 1, "d>exit": 1, "e>exit": 1, "@a": 2}
    assert [found.label for found in branches(profile_of(unit, {"f": flow}).functions["f"])] == ["a"]


def test_the_inlined_instances_of_a_branch_are_one(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("calls\nif\nyes\nno\n")
    shape = "a>b a>c b>d c>d d>e d>f e>g f>g g>exit"
    lines: dict[str, list[Place]] = {"a": [1, (0, 2, 1)], "b": [(0, 3, 1)], "c": [(0, 4, 1)]}
    lines |= {"d": [1, (0, 2, 2)], "e": [(0, 3, 2)], "f": [(0, 4, 2)], "g": [1]}
    unit = unit_of(function("f", shape, lines, inlined=[1, 1]), files=[f"{tmp_path}/a.c"])
    flow = {"a>b": 3, "a>c": 1, "b>d": 3, "c>d": 1, "d>e": 2, "d>f": 2, "e>g": 2, "f>g": 2, "g>exit": 4}
    text = _annotated(Annotator(profile_of(unit, {"f": flow})))
    assert [row.split() for row in text.splitlines()[1:]] == [
        ["4", "1", "calls"],
        ["8", "2", "if"],
        ["line", "2:", "62%", "→3", "5,", "38%", "→4", "3"],
        ["5", "3", "yes"],
        ["3", "4", "no"],
    ]


def test_a_branch_without_a_line_takes_the_last_that_is_known() -> None:
    facts = function("f", "a>b a>c b>c c>exit", {"a": [7, (0, 0, 1)], "b": [8]}, inlined=[7])
    [found] = branches(profile_of(unit_of(facts), {"f": {"a>b": 1, "b>c": 1, "c>exit": 1}}).functions["f"])
    assert (found.line, found.instance) == (7, 0)


def test_a_form_feed_ends_no_line(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_bytes(b"one\n\x0c\r\nthree\x85\x1c\nfour")
    unit = unit_of(function("f", "a>exit", {"a": [4]}), files=[f"{tmp_path}/a.c"])
    rows = _annotated(Annotator(profile_of(unit, {"f": {"a>exit": 2}}))).splitlines()
    assert rows[-1].split() == ["2", "4", "four"]
