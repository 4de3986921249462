"""Reports on runs that were traced: their counts follow from the trace, how they ended does not."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.native.building import must, trodden

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
