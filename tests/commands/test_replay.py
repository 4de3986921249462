"""``trodden replay`` and ``trodden profile-of``, on programs that are built and run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import trodden
from tests.native.building import must
from trodden.plan.probes import RedundantMeasure
from trodden.profile.store.trod import save
from trodden.recover.trace.events import Kind

CLI = [sys.executable, "-m", "trodden"]

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}
static int fib(int n) {
  if (n < 2)
    return n;
  return fib(n - 1) + fib(n - 2);
}
int main(int argc, char **argv) {
  int values[20], sum = 0;
  for (int i = 0; i < 20; i++)
    values[i] = i * 7 % 20;
  qsort(values, 20, sizeof *values, compare);
  for (int i = 0; i < 8; i++)
    if (values[i] % 2)
      sum += fib(i);
  printf("%d\\n", sum);
  return 0;
}
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traced")
    (folder / "p.c").write_text(PROGRAM)
    options = ["--profile", "trace", "--counters", "checked", "-q", "-o", "p.trod", "p.c", "-g"]
    subprocess.run([*CLI, "run", *options], cwd=folder, check=True)
    return folder / "p.trod"


def rows(traced: Path, *options: str) -> list[dict[str, object]]:
    command = [*CLI, "replay", str(traced), "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_lines_come_in_the_order_of_execution(traced: Path) -> None:
    found = rows(traced, "--function", "main")
    lines = [row["line"] for row in found]
    assert lines[0] in (12, 13)
    assert lines[-1] in (20, 21)
    assert lines.index(15) < lines.index(16) < lines.index(18)
    assert {row["depth"] for row in found} == {0}
    assert {str(row["file"]).rpartition("/")[2] for row in found} == {"p.c"}
    assert {row["thread"] for row in found} == {0}


def test_calls_have_their_depth(traced: Path) -> None:
    found = rows(traced, "--function", "fib", "--line", "p.c:7")
    depths = [int(str(row["depth"])) for row in found]
    assert min(depths) == 1
    assert max(depths) == 7
    assert all(after <= before + 1 for before, after in pairwise(depths))


def test_backwards_is_the_other_way_round(traced: Path) -> None:
    assert rows(traced, "--backwards") == rows(traced)[::-1]
    assert rows(traced, "--last", "7") == rows(traced)[-7:]


def test_positions_limit_what_is_shown(traced: Path) -> None:
    whole = rows(traced, "--blocks")
    found = rows(traced, "--blocks", "--from", "20", "--to", "30")
    assert found == [row for row in whole if 20 <= int(str(row["position"])) < 30 or _covers(row, 20)]
    assert rows(traced, "--blocks", "--from", "0%", "--to", "100%") == whole


def _covers(row: dict[str, object], position: int) -> bool:
    first, again = int(str(row["position"])), int(str(row["again"]))
    return first < position <= first + again


@pytest.mark.parametrize("kind", ["edges", "paths"])
def test_derived_profiles_have_the_counts_of_the_same_run(traced: Path, kind: str) -> None:
    output = traced.with_name(f"{kind}.trod")
    subprocess.run([*CLI, "profile-of", str(traced), "--profile", kind, "-o", str(output)], check=True)
    counted, derived = trodden.load(traced), trodden.load(output)
    assert derived.kind == kind
    assert counted.functions.keys() == derived.functions.keys()
    (unit,), (counts,) = counted.units, counted.unit_counts
    for facts in unit.functions:
        function = derived.functions[facts.name]
        assert not function.violations
        compared = 0
        for slot, measure in enumerate(facts.plan.measures, facts.first_slot):
            if isinstance(measure, RedundantMeasure):
                compared += 1
                assert function.edge_counts[measure.edge] == counts.counters[slot] > -1
        assert compared == sum(1 for _ in facts.graph.flow_edges())
    assert derived.functions["compare"].entries > 10


def test_counters_that_contradict_the_trace_are_named(tmp_path: Path, traced: Path) -> None:
    profile = trodden.load(traced)
    (unit,), (counts,) = profile.units, profile.unit_counts
    wrong = [value + (slot == 0) for slot, value in enumerate(counts.counters)]
    save(replace(profile, unit_counts=(replace(counts, counters=wrong),)), tmp_path / "wrong.trod")
    command = [*CLI, "profile-of", str(tmp_path / "wrong.trod"), "-o", str(tmp_path / "edges.trod")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 93
    assert f"{unit.functions[0].name}: the edge" in done.stderr


def test_python_programs_iterate_over_events(traced: Path) -> None:
    trace = trodden.load(traced).trace
    (thread,) = trace.threads
    events = list(thread.events())
    assert [each.event for each in trace] == events
    assert list(thread.backwards()) == events[::-1]
    entered = [thread.program.facts(each.function).name for each in events if each.kind == Kind.ENTER]
    assert entered[0] == "main"
    assert set(entered) == {"main", "compare", "fib"}
    assert sum(1 + each.value for each in events if each.kind == Kind.BLOCK) == thread.starts()[-1]


def test_a_profile_without_a_trace_is_refused(tmp_path: Path, traced: Path) -> None:
    output = tmp_path / "edges.trod"
    subprocess.run([*CLI, "profile-of", str(traced), "-o", str(output)], check=True)
    done = subprocess.run([*CLI, "replay", str(output)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "has no trace" in done.stderr


def test_a_file_that_is_longer_than_it_should_be_is_refused(tmp_path: Path, traced: Path) -> None:
    (tmp_path / "long.trod").write_bytes(traced.read_bytes() + b"more")
    command = [*CLI, "replay", str(tmp_path / "long.trod")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 93
    assert "longer than it should be" in done.stderr


def test_without_a_compiler_the_reader_in_python_does_the_same(traced: Path) -> None:
    code = (
        "import sys; sys.modules['ziglang'] = None\n"
        "import trodden\n"
        "from trodden.api.traces import library\n"
        f"trace = trodden.load({str(traced)!r}).trace\n"
        "assert library() is None\n"
        "print([each.event._replace(kind=int(each.event.kind)) for each in trace] )\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([each.event for each in trodden.load(traced).trace])


def answers(traced: Path, question: str) -> list[dict[str, object]]:
    command = [*CLI, "query", str(traced), question, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_questions_are_answered(traced: Path) -> None:
    lines = rows(traced)
    seventh = [row for row in lines if row["line"] == 7]
    (first,), (last,) = answers(traced, "first p.c:7"), answers(traced, "last 7")
    assert (first["position"], last["position"]) == (seventh[0]["position"], seventh[-1]["position"])
    assert answers(traced, "count 7")[0]["times"] == len(rows(traced, "--blocks", "--line", "7"))
    entered = answers(traced, "count enter fib")[0]["times"]
    assert entered == len({row["position"] for row in rows(traced, "--line", "7", "--function", "fib")})
    returned = answers(traced, "calls fib through 9")
    assert 0 < len(returned) < int(str(entered))
    turns = answers(traced, "count enter fib between 18 and 16")
    assert turns[-1]["text"] == "in all"
    assert turns[-1]["times"] == entered
    assert answers(traced, "between 15 and enter compare")[-1]["text"] == "enter compare"


def test_what_is_nowhere_in_the_program_is_said(traced: Path) -> None:
    for question, said in (
        ("last 999", "no traced function has code of line 999"),
        ("count nowhere.c:7", "no traced function has code of nowhere.c:7"),
        ("count enter fibb", "no traced function is called fibb"),
        ("first signal", "that has not happened in this trace"),
    ):
        command = [*CLI, "query", str(traced), question]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stderr == f"trodden: {traced}: {said}\n"


def test_calls_are_exported_for_viewers(traced: Path) -> None:
    command = [*CLI, "export", str(traced), "--format", "perfetto"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["traceEvents"]
    calls = [row for row in found if row["ph"] == "B"]
    assert calls[0]["name"] == "main"
    assert {row["name"] for row in calls} == {"main", "compare", "fib"}
    assert len(calls) == sum(row["ph"] == "E" for row in found)
    times = [row["ts"] for row in found if "ts" in row]
    assert times == sorted(times)


def test_what_is_repeated_is_shown_once(traced: Path) -> None:
    command = [*CLI, "replay", str(traced), "--repeats"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    calls = answers(traced, "count enter *")[0]["times"]
    assert lines[1] == f"whole: {2 * int(str(calls)):,} calls and returns"
    assert len(lines) < int(str(calls))
    assert any(line.startswith("R1: ") for line in lines)


LOOPS = """\
__attribute__((noinline)) static int odd(int n) { return n & 1; }
__attribute__((noinline)) static int twice(int n) { return odd(n) + odd(n + 1); }
int main(void) {
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += twice(i);
    return sum != 1000;
}
"""


def test_a_loop_is_one_line_however_often_it_iterates(tmp_path: Path) -> None:
    (tmp_path / "loops.c").write_text(LOOPS)
    must("run", "-q", "--profile", "trace", "-o", "loops.trod", "loops.c", "-O0", cwd=tmp_path)
    shown = must("replay", "loops.trod", "--repeats", cwd=tmp_path).splitlines()[1:]
    assert shown == [
        "whole: 6,002 calls and returns",
        "  main",
        "    R1 x 1,000 (6,000)",
        "  end of main",
        "R1: 1,000 times, 6 calls and returns each",
        "  twice",
        "    R2 x 2 (4)",
        "  end of twice",
        "R2: 2,000 times, 2 calls and returns each",
        "  odd",
    ]
    blocks = must("replay", "loops.trod", "--repeats", "--blocks", cwd=tmp_path)
    assert "loops.c:1" in blocks
    part = must("replay", "loops.trod", "--repeats", "--from", "100", "--to", "200", cwd=tmp_path)
    assert "calls and returns" in part.splitlines()[1]
