"""Traces that begin, or go on elsewhere, where more functions are active than a chunk usually names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import must
from trodden.profile.store.trod import load
from trodden.source.lines import line_counts

DEEP = 3000
PROGRAM = """#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static sigjmp_buf back;
static volatile int sum;
static void on_signal(int number) {
    siglongjmp(back, number);
}
static void bottom(int forks) {
    if (forks) {
        if (fork())
            wait(NULL);
    } else if (!sigsetjmp(back, 1)) {
        raise(SIGUSR1);
    }
}
static void deep(int n, int forks) {
    if (n == 0) {
        bottom(forks);
        return;
    }
    deep(n - 1, forks);
    sum++;
}
int main(int argc, char **argv) {
    signal(SIGUSR1, on_signal);
    deep(3000, argc > 1);
    return 0;
}
"""


@pytest.mark.parametrize(("arguments", "times"), [(("fork",), 2), ((), 1)], ids=["fork", "jump"])
@pytest.mark.parametrize("encoding", ["paths", "witnesses"])
def test_all_functions_return(tmp_path: Path, encoding: str, arguments: tuple[str, ...], times: int) -> None:
    (tmp_path / "deep.c").write_text(PROGRAM)
    options = ("--quiet", "-o", "deep.trod", "--profile", "trace", "--trace", encoding)
    must("run", *options, "deep.c", "-O0", "--", *arguments, cwd=tmp_path)
    must("profile-of", "deep.trod", "-o", "counts.trod", cwd=tmp_path)
    lines = line_counts(load(tmp_path / "counts.trod"))[str(tmp_path / "deep.c")]
    returned = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if "sum++" in text)
    assert lines[returned].count == times * DEEP
