"""Questions about lines: when control passes over them, however many blocks they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import must
from trodden.api.traces import load
from trodden.profile.derived import derive
from trodden.profile.meant import Meant
from trodden.profile.model import Profile
from trodden.profile.trace.query import Answer, answer
from trodden.profile.trace.questions import parse
from trodden.source.lines import line_counts

_SOURCE = """#include <stdio.h>
#include <stdlib.h>
static int add(int a, int b) {
    return a + b;
}
static int fib(int n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static int turns(int n) {
    int s = add(n, 1) + add(n, 2) + add(n, 3);
    for (int i = 0; i < n; i++) {
        s += i;
        s = add(s, 1);
    }
    while (s > 9 && s % 2) s -= 3;
    do s--; while (s > 3);
    for (int i = 0; i < n; i++) if (i % 3) s = add(s, i); else s++;
    return add(
        s,
        add(s,
            n));
}
int main(void) {
    int s = 0;
    for (int i = 0; i < 6; i++)
        s += turns(i) + fib(i);
    return s < 0;
}
"""
_ONCE_A_TURN = (9, 10, 18, 20, 21)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """A trace of that program as it was written."""
    where = tmp_path_factory.mktemp("passes")
    (where / "p.c").write_text(_SOURCE)
    must("cc", "--trodden-profile=trace", "-O0", "-g", "p.c", "-o", "p", cwd=where)
    must("run", "-q", "-o", "p.trod", "./p", cwd=where)
    return load(where / "p.trod")


def ask(profile: Profile, question: str) -> list[Answer]:
    threads = profile.trace.threads
    return list(answer(parse(question), threads, Meant(threads).functions, pytest.fail))


def test_lines_are_counted_as_in_the_annotated_source(profile: Profile) -> None:
    (lines,) = line_counts(derive(profile, "edges").profile).values()
    counted = {line: ask(profile, f"count {line}")[-1].times for line in lines}
    assert counted == {line: count.count for line, count in lines.items()}
    assert [counted[line] for line in _ONCE_A_TURN] == [6] * len(_ONCE_A_TURN)
    assert counted[11] == sum(1 + turns for turns in range(6))


def test_calls_on_a_line_are_between_its_executions(profile: Profile) -> None:
    *rounds, total = ask(profile, "count enter add between 10 and 11")
    assert [each.times for each in rounds] == [3] * 6
    assert total.times == 18
    entered = [each.text for each in ask(profile, "between 10 and 10") if each.text.startswith("enter ")]
    assert entered == ["enter add"] * 5 + ["enter fib", "enter turns"]


_CONTEXTS = """#include <ucontext.h>
#include <stdlib.h>
static ucontext_t first, others[20];
static int wait_for(int i) {
    swapcontext(&others[i], &first);
    return i;
}
static void body(int i) {
    volatile int sum = 0;
    for (int turn = 0; turn < 5; turn++)
        sum += wait_for(i) + wait_for(i);
}
int main(void) {
    for (int i = 0; i < 20; i++) {
        getcontext(&others[i]);
        others[i].uc_stack.ss_sp = malloc(1 << 16);
        others[i].uc_stack.ss_size = 1 << 16;
        others[i].uc_link = &first;
        makecontext(&others[i], (void (*)(void))body, 1, i);
    }
    for (int round = 0; round <= 10; round++)
        for (int i = 0; i < 20; i++)
            swapcontext(&first, &others[i]);
    return 0;
}
"""


def test_a_line_on_which_stacks_are_switched_is_executed_once(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(_CONTEXTS)
    must("cc", "--trodden-profile=trace", "-O0", "-g", "p.c", "-o", "p", cwd=tmp_path)
    must("run", "-q", "-o", "p.trod", "./p", cwd=tmp_path)
    profile = load(tmp_path / "p.trod")
    for line, times in ((5, 200), (10, 120), (11, 100), (22, 231), (23, 220)):
        assert ask(profile, f"count {line}")[-1].times == times
