"""Reports on runs that were traced: their counts follow from the trace, how they ended does not."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

import trodden as trodden_api
from tests.native.building import must, trodden
from trodden.api.weights import weights_from
from trodden.errors import UsageError

CRASHES = """\
static int divide(int a, int b) {
    return a / b;
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 3; i >= 0; i--)
        sum += divide(6, i);
    return sum;
}
"""
FORKS = """\
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 3;
    return sum;
}
int main(void) {
    int sum = work(10);
    pid_t child = fork();
    if (child == 0) {
        work(20);
        raise(SIGKILL);
    }
    waitpid(child, 0, 0);
    return sum + work(5) < 0;
}
"""


def _report(path: Path, *options: str) -> Any:
    return json.loads(must("report", path, "--format", "json", *options, cwd=path.parent))


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crashed")
    (folder / "a.c").write_text(CRASHES)
    done = trodden("run", "--profile", "trace", "-q", "-o", "a.trod", "a.c", "-O0", cwd=folder)
    assert done.returncode == -signal.SIGFPE
    return folder / "a.trod"


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forked")
    (folder / "f.c").write_text(FORKS)
    must("run", "--profile", "trace", "-q", "-o", "f.trod", "f.c", "-O0", cwd=folder)
    return folder / "f.trod"


@pytest.mark.parametrize("kind", ["trace", "edges", "paths"])
def test_the_report_says_where_a_traced_program_crashed(crashed: Path, kind: str) -> None:
    path = crashed
    if kind != "trace":
        path = crashed.with_name(f"{kind}.trod")
        must("profile-of", crashed, "--profile", kind, "-o", path, cwd=crashed.parent)
    document = _report(path)
    (process,), (thread,) = document["processes"], document["threads"]
    assert process["how"] == "SIGFPE"
    assert [(each["function"], each["line"]) for each in thread["frames"]] == [("divide", 2), ("main", 7)]
    assert {each["name"]: each["entries"] for each in document["functions"]} == {"divide": 4, "main": 1}
    assert [each["functions"] for each in document["programs"]] == [2]


def test_each_process_has_its_own_counts(forked: Path) -> None:
    document = _report(forked)
    parent, child = document["processes"]
    assert min(parent["executed"], child["executed"]) > 0
    assert parent["executed"] + child["executed"] == sum(each["executed"] for each in document["functions"])
    alone = {
        each["name"]: [row["entries"] for row in _report(forked, "--process", each["name"])["functions"]]
        for each in (parent, child)
    }
    assert alone == {parent["name"]: [2, 1], child["name"]: [1, 0]}  # work, main
    (program,) = document["programs"]
    assert program["executed"] == parent["executed"] + child["executed"]
    assert os.path.basename(program["path"]) == "f"


def test_the_last_lines_before_the_end_are_shown(crashed: Path) -> None:
    (thread,) = _report(crashed)["threads"]
    lines = [(each["function"], each["line"], each["depth"], each["times"]) for each in thread["lines"]]
    turn = [("main", 6, 0, 1), ("main", 7, 0, 1), ("divide", 2, 1, 1), ("main", 7, 0, 1)]
    assert lines == [*turn, *turn, *turn][-12:-1][-10:]
    assert thread["lines"][-1]["text"] == "return a / b;"
    assert all(each["exact"] for each in thread["lines"])
    text = must("report", crashed, "--format", "table", "--top", "3", cwd=crashed.parent)
    assert "the last 3 lines that it executed:" in text
    assert "a.c:2  divide  return a / b;" in text
    plain = must("report", crashed, "--format", "tsv", cwd=crashed.parent)
    assert [row.split("\t")[4] for row in plain.splitlines() if row.startswith("executed\t")][-2:] == [
        "main",
        "divide",
    ]


def test_the_last_lines_of_one_process_of_several(forked: Path) -> None:
    child = _report(forked)["processes"][1]["name"]
    for options in ((), ("--process", child)):
        (thread,) = _report(forked, *options)["threads"]
        assert (thread["process"], thread["frames"]) == (child, [])
        assert [each["text"] for each in thread["lines"]][-2] == "raise(SIGKILL);"


def test_sources_that_have_moved_are_shown(crashed: Path, tmp_path: Path) -> None:
    os.rename(crashed.with_name("a.c"), tmp_path / "a.c")
    try:
        (thread,) = _report(crashed, "--source-dir", f"{crashed.parent}={tmp_path}")["threads"]
    finally:
        os.rename(tmp_path / "a.c", crashed.with_name("a.c"))
    assert thread["lines"][-1]["text"] == "return a / b;"
    assert thread["lines"][-1]["file"] == str(tmp_path / "a.c")


def test_a_profile_that_is_only_traced_has_no_counts_of_its_own(crashed: Path) -> None:
    profile = trodden_api.load(crashed)
    assert profile.kind == "trace"
    divide = profile.functions["divide"]
    assert {edge.count for edge in divide.edges} == {None}
    assert divide.violations == ()
    counted = trodden_api.profile_of(profile)
    assert (counted.kind, counted.functions["divide"].entries) == ("edges", 4)
    assert trodden_api.profile_of(profile, "paths").functions["main"].paths
    with pytest.raises(UsageError, match="it has no trace"):
        trodden_api.profile_of(counted)


def test_profiles_with_traces_are_merged_by_their_counts(crashed: Path, forked: Path) -> None:
    shutil.copy(crashed, crashed.parent / "again.trod")
    must("merge", crashed, "again.trod", "-o", "m.trod", cwd=crashed.parent)
    assert trodden_api.load(crashed.parent / "m.trod").functions["divide"].entries == 8
    must("profile-of", crashed, "--profile", "edges", "-o", "e.trod", cwd=crashed.parent)
    must("merge", crashed, "e.trod", "-o", "m.trod", cwd=crashed.parent)
    assert trodden_api.load(crashed.parent / "m.trod").functions["divide"].entries == 8
    assert trodden("merge", crashed, forked, "-o", "n.trod", cwd=crashed.parent).returncode == 0


def test_a_traced_function_is_shown_with_its_counts_and_its_records(crashed: Path) -> None:
    shown = must("show", crashed, "-f", "divide", cwd=crashed.parent)
    assert "b0  4  root" in shown
    assert "trace-paths" in shown


def test_a_trace_gives_weights_to_functions_that_are_traced_again(crashed: Path) -> None:
    graph = trodden_api.load(crashed).functions["divide"].facts.graph
    weights = weights_from(str(crashed))(graph, "divide")
    assert weights is not None
    assert weights[graph.closing] == 4


ENDS = """\
#include <stdlib.h>
#include <signal.h>
#include <unistd.h>
static void (*quit)(int) = exit;
int main(int argc, char **argv) {
    switch (argc) {
    case 1: quit(3); break;
    case 2: if (argc && argv[1]) kill(getpid(), SIGTERM);
        break;
    case 3: execl("/bin/true", "true", (char *)0);
        break;
    }
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(("arguments", "last"), [((), 7), (("1",), 8), (("1", "2"), 10)])
def test_nothing_behind_a_call_that_ends_the_process_is_shown(
    arguments: tuple[str, ...], last: int, level: str, tmp_path: Path
) -> None:
    (tmp_path / "a.c").write_text(ENDS)
    trodden(
        "run", "-q", "--profile", "trace", "-o", "a.trod", "a.c", level, "-g", "--", *arguments, cwd=tmp_path
    )
    rows = must("replay", "a.trod", "--format", "json", cwd=tmp_path).splitlines()
    assert [json.loads(row)["line"] for row in (rows[0], rows[-1])] == [6, last]
    for process in _report(tmp_path / "a.trod").get("threads", ()):
        assert [(row["line"], row["times"]) for row in process["lines"]] == [(6, 1), (last, 1)]


LONG = """\
static volatile int sink;
static void spin(int n) { for (int i = 0; i < n; i++) sink += i % 3 ? 1 : 2; }
static void bad(void) { *(volatile int *)8 = 1; }
int main(void) {
    spin(1000000);
    bad();
}
"""


def test_a_trace_that_ends_before_its_process_is_not_said_to_show_its_last_lines(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(LONG)
    limit = ("--trace-limit", "100K")
    trodden("run", "-q", "--profile", "trace", *limit, "-o", "a.trod", "a.c", "-O0", cwd=tmp_path)
    shown = must("report", "a.trod", cwd=tmp_path)
    assert "in its trace, which ends before it does:" in shown
    assert "that it executed:" not in shown
    (thread,) = _report(tmp_path / "a.trod")["threads"]
    assert not thread["lines_to_end"]
    whole = trodden("run", "-q", "--profile", "trace", "-o", "b.trod", "a.c", "-O0", cwd=tmp_path)
    assert whole.returncode == -signal.SIGSEGV
    assert _report(tmp_path / "b.trod")["threads"][0]["lines_to_end"]
    assert "that it executed:" in must("report", "b.trod", cwd=tmp_path)
