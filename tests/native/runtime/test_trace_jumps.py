"""A signal handler jumps out: the trace goes up to the call that the signal has arrived in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.native.building import must
from trodden.profile.store.trod import load
from trodden.source.lines import line_counts

PROGRAM = """#include <setjmp.h>
#include <signal.h>
static sigjmp_buf back;
static volatile int n;
static void leave(int way) {
    if (way)
        siglongjmp(back, 1);
}
static void on_signal(int number) {
    n++;
    leave(number);
}
static void silent(void) {
    n += 2;
}
static void sends(void) {
    silent();
    n += 3;
    leave(0);
    n += 4;
    raise(SIGUSR1);
    n += 5;
}
int main(void) {
    signal(SIGUSR1, on_signal);
    for (volatile int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            silent();
            leave(0);
            n += 6;
            if (i == 1)
                sends();
            else
                raise(SIGUSR1);
            n += 7;
        } else {
            n += 8;
        }
    }
    return 0;
}
"""
"""What silent() does writes no record, and what follows a call of it none before the next choice."""
_ADDS = re.compile(r"jumps\.c:\d+ \w+ b\d+ +n(?:\+\+| \+= (\d));")


@pytest.mark.parametrize("encoding", ["paths", "witnesses", "bits"])
def test_what_was_executed_since_the_last_record(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "jumps.c").write_text(PROGRAM)
    options = ("--quiet", "-o", "jumps.trod", "--profile", "trace", "--trace", encoding)
    must("run", *options, "jumps.c", "-O0", cwd=tmp_path)
    found = _ADDS.findall(must("replay", "jumps.trod", cwd=tmp_path))
    assert [each for each in found if each] == [*"268", *"262348", *"268"]
    assert found.count("") == 3
    must("profile-of", "jumps.trod", "-o", "counts.trod", cwd=tmp_path)
    lines = line_counts(load(tmp_path / "counts.trod"))[str(tmp_path / "jumps.c")]
    texts = enumerate(PROGRAM.splitlines(), 1)
    counts = {int(text[-2]): lines[number].count for number, text in texts if " n += " in text}
    assert counts == {2: 4, 3: 1, 4: 1, 5: 0, 6: 3, 7: 0, 8: 3}
