"""Where a program crashed: inlined functions by name, as gdb names them.

The stacks are those that gdb 13 shows of the same programs.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.native.building import must, trodden
from trodden.collect.endings import SourceFrame
from trodden.errors import UsageError
from trodden.profile.store.trod import from_bytes, load, to_bytes
from trodden.report.narrate.steps import called

SOURCE = """#include <stdlib.h>
static int inner(int a, int b) {
    return a / b;
}
static int outer(int a, int b) {
    int s = 1;
    if (a > 5)
        s += inner(a, b);
    return s;
}
static int clamp(int x) { return x > 5 ? 5 : x; }
__attribute__((noinline)) int one(int a, int b) { return outer(a, b) + clamp(a); }
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    return one(argc + 7, n) > 100 ? 2 : 0;
}
"""
EXACT = [
    ("inner", 3, True, "one"),
    ("outer", 8, False, "one"),
    ("one", 12, False, None),
    ("main", 15, False, None),
]
FLAGS = {"-O0": ["-O0"], "-O2": ["-O2"], "-O2 -g": ["-O2", "-g"], "lines": ["-O2", "-gline-tables-only"]}


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The profiles of a division by zero in inlined code, by how the program was built."""
    folder = tmp_path_factory.mktemp("crashed")
    (folder / "a.c").write_text(SOURCE)
    found = {}
    for number, (name, flags) in enumerate(FLAGS.items()):
        found[name] = folder / f"{number}.trod"
        done = trodden("run", "--profile", "paths", "-o", found[name], "a.c", *flags, cwd=folder)
        assert done.returncode == -signal.SIGFPE
    return found


def _frames(path: Path) -> list[tuple[str, int, int, bool, str | None]]:
    document = json.loads(must("report", path, "--format", "json", cwd=path.parent))
    (thread,) = document["threads"]
    return [
        (each["function"], each["line"], each["last_line"], each["interrupted"], each.get("inlined_into"))
        for each in thread["frames"]
    ]


@pytest.mark.parametrize("build", ["-O2 -g", "lines"])
def test_inlined_frames_are_those_of_a_debugger(crashed: dict[str, Path], build: str) -> None:
    assert _frames(crashed[build]) == [(name, line, line, *rest) for name, line, *rest in EXACT]


def test_without_debug_information_the_block_says_where(crashed: dict[str, Path]) -> None:
    """Its lines are those of inner and of outer, of which the call of inner is one: outer is certain."""
    first, second, last = _frames(crashed["-O2"])
    assert first == ("outer", 8, 8, True, "one")
    assert second == ("one", 12, 12, False, None)
    assert last == ("main", 14, 15, False, None)


def test_what_was_not_inlined(crashed: dict[str, Path]) -> None:
    """A frame is on the line of its call, although its block has others."""
    assert _frames(crashed["-O0"]) == [
        (name, line, line, by_signal, None) for name, line, by_signal, _ in EXACT
    ]


def test_the_text_says_what_happened(crashed: dict[str, Path]) -> None:
    text = must("report", crashed["-O2 -g"], "--format", "table", "--top", "9", cwd=crashed["-O2"].parent)
    for wanted in (
        "inner  interrupted by SIGFPE at a.c:3  (inlined into one)",
        "outer  in a call at a.c:8  (inlined into one)",
        "outer() a.c:7: a > 5: true",
        "interrupted by SIGFPE",
        "Functions that exist only inlined",
    ):
        assert wanted in text
    assert "ends in a call at a.c" not in text


def test_steps_name_the_function_that_was_inlined(crashed: dict[str, Path]) -> None:
    path = crashed["-O2"]
    text = must("report", path, "--format", "tsv", "--function", "one", cwd=path.parent)
    rows = [line.split("\t") for line in text.splitlines()]
    assert [row[4:] for row in rows if row[0] == "step"] == [["7", "if (a > 5)", "a > 5: true", "outer"]]
    document = json.loads(must("report", path, "--function", "one", "--format", "json", cwd=path.parent))
    assert [step["inlined"] for step in document["paths"][0]["steps"]] == ["outer"]


def test_functions_that_exist_only_inlined(crashed: dict[str, Path]) -> None:
    path = crashed["-O2"]
    document = json.loads(must("report", path, "--format", "json", cwd=path.parent))
    own = [each for each in document["inlined"] if each["file"] == str(path.parent / "a.c")]
    assert [(each["name"], each["line"]) for each in own] == [("inner", 2), ("outer", 5), ("clamp", 11)]
    done = trodden("report", path, "--function", "inner", cwd=path.parent)
    assert done.returncode == UsageError.status
    assert f"it exists only inlined into outer at {path.parent}/a.c:8" in done.stderr
    nothing = json.loads(must("report", crashed["-O0"], "--format", "json", cwd=path.parent))
    assert nothing["inlined"] == []


def test_annotate_shows_the_lines_of_the_function_alone(crashed: dict[str, Path]) -> None:
    path = crashed["-O2"]
    _, optimised, *lines = must("annotate", path, "one", cwd=path.parent).splitlines()
    assert "--stage early" in optimised
    assert [line.split()[1] for line in lines] == ["12"]


def test_source_frames_are_stored(crashed: dict[str, Path]) -> None:
    profile = load(crashed["-O2 -g"])
    frames = profile.threads[0].frames
    file = str(crashed["-O2"].parent / "a.c")
    assert frames[0].source == (
        SourceFrame("inner", file, 3),
        SourceFrame("outer", file, 8),
        SourceFrame("one", file, 12),
    )
    assert from_bytes(to_bytes(profile), "x").threads == profile.threads


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("clamp", "clamp()"),
        ("ns::S::get(int) const", "get()"),
        ("int ns::twice<std::pair<int, int>>(int)", "twice()"),
        ("std::__1::v<int>::__destroy::operator()[abi:nie220108]()", "operator()()"),
        ("(anonymous namespace)::f(int)", "f()"),
        ("core::iter::next", "next()"),
        ("A::~A()", "~A()"),
    ],
)
def test_short_names_of_functions(name: str, words: str) -> None:
    assert called(name) == words
