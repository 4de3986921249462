"""Which lines, functions and positions of a trace can be asked for, and what is said of all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import must, trodden
from trodden.api.traces import load
from trodden.profile.trace.reading import Position

MAIN = """\
#include <stdio.h>
#include "own.h"
int other(int n);
static int weigh(int n) {
  if (n > 3)
    return n * 2;
  return scale(n);
}
int main(int argc, char **argv) {
  int sum = argc;
  for (int i = 0; i < 6; i++)
    sum += weigh(i * argc) + other(i);
  printf("%d\\n", sum);
  return 0;
}
"""
OTHER = """\
int other(int n);
int other(int n) {
  int result = 0;

  if (n > 2)
    result = 7;
  return result + n;
}
"""
HEADER = """\
static int scale(int n) { return n + 1; }
"""
SYSTEM = """\




#define inner_of_system 1
template <typename T> T doubled(T it) {
  return it + it;
}
"""
CLASSES = """\
#include "include/c++/doubled.h"
struct Square {
  int side;
  int area() const { return side * side; }
};
int measure(int a, int &b) {
  b += doubled(a);
  return a;
}
int measure(double a) { return a > 1; }
int main() {
  int b = 0;
  for (int i = 0; i < 5; i++) {
    measure(i, b);
    b += Square{i}.area();
  }
  return measure(2.0) - 1;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces: of C in two files, unoptimised and optimised, and of C++ with a header of the system."""
    where = tmp_path_factory.mktemp("questions")
    (where / "include" / "c++").mkdir(parents=True)
    (where / "include" / "c++" / "doubled.h").write_text(SYSTEM)
    for name, text in (("a.c", MAIN), ("b.c", OTHER), ("own.h", HEADER), ("m.cc", CLASSES)):
        (where / name).write_text(text)
    run = "run", "-q", "--profile", "trace", "-g"
    must(*run, "-o", "c.trod", "a.c", "b.c", cwd=where)
    must(*run, "-o", "o2.trod", "a.c", "b.c", "-O2", cwd=where)
    must(*run, "-o", "cc.trod", "m.cc", cwd=where)
    return where


def asked(folder: Path, file: str, question: str) -> str:
    """The answer without the number of the process."""
    return "\n".join(
        line.partition(".0")[2] for line in must("query", file, question, cwd=folder).splitlines()
    )


def said(folder: Path, *arguments: str, status: int = 0) -> str:
    """What is said where nothing is shown."""
    done = trodden(*arguments, cwd=folder)
    assert (done.returncode, done.stdout) == (status, "")
    return done.stderr.removeprefix("trodden: ").rstrip()


def replayed(folder: Path, file: str, *options: str) -> list[list[str]]:
    return [line.split() for line in must("replay", file, *options, cwd=folder).splitlines()]


def test_a_number_of_a_line_that_several_files_have_is_refused(folder: Path) -> None:
    refused = "line 5 is in several files; name one of them: a.c:5, b.c:5"
    assert said(folder, "query", "c.trod", "count 5", status=2) == refused
    assert said(folder, "replay", "c.trod", "--line", "5", status=2) == refused
    assert asked(folder, "c.trod", "count b.c:5") == ": in all 6 times"
    assert asked(folder, "c.trod", "count 12") == ": in all 6 times"
    assert {row[2] for row in replayed(folder, "c.trod", "--line", "12")} == {"a.c:12"}
    refused = "line 6 is in several files; name one of them: a.c:6, b.c:6"
    assert said(folder, "query", "c.trod", "count enter other between 12 and 6", status=2) == refused


def test_lines_of_system_headers_are_meant_last(folder: Path) -> None:
    assert asked(folder, "cc.trod", "count 7") == ": in all 5 times"
    assert asked(folder, "cc.trod", "first 7").endswith(" m.cc:7")
    assert {row[2] for row in replayed(folder, "cc.trod", "--line", "7")} == {"m.cc:7"}
    assert {row[2] for row in replayed(folder, "cc.trod", "--line", "doubled.h:7")} == {"doubled.h:7"}


def test_positions_may_have_thousands_separators(folder: Path) -> None:
    assert said(folder, "replay", "c.trod", "--from", "5,222").startswith(
        "c.trod: block 5,222 lies behind the end"
    )
    for wrong in ("5,22", ",222", "5,2222"):
        assert "is no position" in said(folder, "replay", "c.trod", "--from", wrong, status=2)


def test_counts_of_one_are_said(folder: Path) -> None:
    assert asked(folder, "c.trod", "count enter main") == ": in all 1 time"
    turns = asked(folder, "c.trod", "count enter other between 12 and a.c:11").splitlines()
    assert len(turns) == 7
    assert all(turn.endswith(": between 1 time") for turn in turns[:-1])
    assert turns[-1] == ": in all 6 times"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--line", "9999"], "no traced function has code of line 9999"),
        (["--line", "nowhere.c:5"], "no traced function has code of nowhere.c:5"),
        (["--function", "nofunc"], "no traced function is called nofunc"),
        (["--line", "a.c:6", "--to", "5"], "nothing like that was executed"),
        (["--from", "500", "--to", "400"], "--to is not behind --from"),
        (["--from", "60%", "--to", "40%"], "--to is not behind --from"),
        (["--from", "100%"], "nothing like that was executed"),
    ],
)
def test_that_nothing_is_found_is_said(folder: Path, options: list[str], reason: str) -> None:
    assert said(folder, "replay", "c.trod", *options) == f"c.trod: {reason}"
    assert said(folder, "replay", "c.trod", "--backwards", *options) == f"c.trod: {reason}"


def test_what_lies_behind_the_end_is_said(folder: Path) -> None:
    blocks = load(folder / "c.trod").trace.threads[0].starts()[-1]
    behind = f"c.trod: block 99,999 lies behind the end: {blocks:,} blocks were executed"
    assert said(folder, "replay", "c.trod", "--from", "99999") == behind
    assert said(folder, "replay", "c.trod", "--from", "99s").startswith(
        "c.trod: 99s lies behind the end, which is at 0."
    )
    assert said(folder, "replay", "c.trod", "--from", "150%", status=2).startswith(
        "150%: is more than there is"
    )
    assert "is no position" in said(folder, "replay", "c.trod", "--from", "-1s", status=2)
    repeats = trodden("replay", "c.trod", "--repeats", "--from", "99999", cwd=folder)
    assert repeats.stderr == f"trodden: {behind}\n"
    assert repeats.stdout.splitlines()[1:] == ["whole: 0 calls and returns"]


def test_shares_are_exact_to_the_block(folder: Path) -> None:
    trace = load(folder / "c.trod").trace
    (thread,) = trace.threads
    blocks = thread.starts()[-1]
    half = Position("share", 0.5)
    positions = [event.position for event in trace.events(thread, half) if event.kind == 0]
    assert (positions[0], positions[-1]) == (round(blocks / 2), blocks - 1)
    positions = [event.position for event in trace.events(thread, None, half) if event.kind == 0]
    assert (positions[0], positions[-1]) == (0, round(blocks / 2) - 1)
    assert list(trace.events(thread, Position("share", 0), Position("share", 1))) == list(thread.events())
    whole = replayed(folder, "c.trod", "--blocks")
    parts = ("--to", "50%"), ("--from", "50%")
    assert [row for part in parts for row in replayed(folder, "c.trod", "--blocks", *part)] == whole


def test_functions_of_cpp_are_named_with_or_without_parameters(folder: Path) -> None:
    assert asked(folder, "cc.trod", "count enter measure(int, int&)") == ": in all 5 times"
    assert asked(folder, "cc.trod", 'count enter "measure(double)"') == ": in all 1 time"
    assert asked(folder, "cc.trod", "count enter measure") == ": in all 6 times"
    assert asked(folder, "cc.trod", "count leave Square::area() const between 14 and leave main").endswith(
        ": in all 5 times"
    )
    assert len(asked(folder, "cc.trod", "calls measure(int, int&) through m.cc:8").splitlines()) == 5
    assert len(asked(folder, "cc.trod", "calls Square::area through line m.cc:4").splitlines()) == 5
    for name, lines in (
        ("measure", {"m.cc:6", "m.cc:7", "m.cc:8", "m.cc:10"}),
        ("measure(double)", {"m.cc:10"}),
    ):
        assert {row[2] for row in replayed(folder, "cc.trod", "--function", name)} <= lines
    assert len({row[1] for row in replayed(folder, "cc.trod", "--function", "measure", "--line", "10")}) == 1


def test_repeats_refuse_what_they_cannot_heed(folder: Path) -> None:
    others = ["--last", "3", "--backwards", "--function", "main", "--line", "12", "--format", "json"]
    assert said(folder, "replay", "c.trod", "--repeats", *others, status=2) == (
        "--repeats shows whole calls as text; it cannot be combined with"
        " --backwards, --last, --function, --line, --format json"
    )
    assert "combined with --last" in said(folder, "replay", "c.trod", "--repeats", "--last", "3", status=2)


def test_functions_that_exist_only_inlined_are_named(folder: Path) -> None:
    reason = (
        f"o2.trod: no traced function is called weigh: it exists only inlined into main at {folder}/a.c:12;"
        " name that function, or build with -O0 or --stage early"
    )
    assert said(folder, "replay", "o2.trod", "--function", "weigh") == reason
    done = trodden("query", "o2.trod", "count enter weigh", cwd=folder)
    assert (done.returncode, done.stderr) == (0, f"trodden: {reason}\n")
