"""longjmp: functions that are left, and resumed, in the middle of a block.

Jumps within one program are among the programs with reference counts (``test_exact.py``); here are other C
libraries, shared libraries, unusual jumps, and the size of the runtime's records.
"""

from __future__ import annotations

import platform
import re
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, execute, must, trodden
from trodden.collect.rawfile.raw import read_raw
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.store.trod import load

LEVELS = ("-O0", "-O2")
STAGES = ("late", "early")
LOOPS_AS_WRITTEN = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")
STATIC = f"{platform.machine()}-linux-musl"
_ENTRY = re.compile(r"^(\d):(\d+)=(\d+)$", re.MULTILINE)


def check(profile: Profile, output: str, *names: str) -> dict[str, int]:
    """The lines of these files whose counts differ from the reference counts, with their counts."""
    wanted = {f"{names[int(file)]}:{line}": int(count) for file, line, count in _ENTRY.findall(output)}
    counted: Counter[str] = Counter()
    for function in profile.functions.values():
        for block in function.blocks:
            for ref in set(block.lines):
                counted[f"{Path(function.files[ref.file].path).name}:{ref.line}"] += int(block.count)
    assert wanted
    return {line: counted[line] for line, count in wanted.items() if counted[line] != count}


def violations(profile: Profile) -> set[str]:
    return {function.name for function in profile.functions.values() if function.violations}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
def test_jumps_in_a_static_program(tmp_path: Path, level: str, stage: str) -> None:
    """There the runtime contains the real longjmp, and sigsetjmp keeps its return address elsewhere."""
    own = ["-o", "x.trod", "--quiet", "--stage", stage, "--counters", "checked", "--target", STATIC]
    done = trodden("run", *own, PROGRAMS / "exact_jumps.c", level, *LOOPS_AS_WRITTEN, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (37, "")
    profile = load(tmp_path / "x.trod")
    assert check(profile, done.stdout, "exact_jumps.c") == {}
    assert (violations(profile), profile.messages) == (set(), ())


def run_unusual(tmp_path: Path, word: str, level: str, stage: str) -> tuple[Profile, dict[str, int]]:
    own = ["-o", "x.trod", "--quiet", "--stage", stage, "--counters", "checked"]
    done = trodden(
        "run", *own, PROGRAMS / "unusual_jumps.c", level, *LOOPS_AS_WRITTEN, "--", word, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (5, "")
    profile = load(tmp_path / "x.trod")
    return profile, check(profile, done.stdout, "unusual_jumps.c")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("word", ["stack", "child", "context"])
def test_unusual_jumps_that_are_counted_exactly(tmp_path: Path, word: str, level: str, stage: str) -> None:
    """From a handler on a stack of its own; between contexts; in a child, out of its parent's functions."""
    profile, differences = run_unusual(tmp_path, word, level, stage)
    assert differences == {}
    assert (violations(profile), profile.messages) == (set(), ())


@pytest.mark.parametrize("level", LEVELS)
def test_jumps_out_of_the_middle_of_a_block(tmp_path: Path, level: str) -> None:
    """Where the frame can be located, the interrupted function is right, too."""
    profile, differences = run_unusual(tmp_path, "middle", level, "late")
    assert (differences, violations(profile), profile.messages) == ({}, set(), ())


@pytest.mark.parametrize("level", LEVELS)
def test_jumps_that_cannot_be_followed_are_reported(tmp_path: Path, level: str) -> None:
    """The counts of the interrupted function are completed; they may be off by one."""
    profile, differences = run_unusual(tmp_path, "middle", level, "early")
    assert violations(profile) == set()
    assert len(differences) <= 1
    completed, unknown = profile.messages
    assert completed.endswith("counts were completed in fault")
    assert unknown.endswith("1 active calls fit no call site; counts may be off by as many")


@pytest.mark.parametrize("level", LEVELS)
def test_jumps_out_of_a_shared_library(tmp_path: Path, level: str) -> None:
    checked = ["--trodden-counters=checked", level, *LOOPS_AS_WRITTEN]
    must("cc", *checked, "-fPIC", "-shared", PROGRAMS / "jump_library.c", "-o", "libjumps.so", cwd=tmp_path)
    here = [f"-L{tmp_path}", "-ljumps", f"-Wl,-rpath,{tmp_path}"]
    must("cc", *checked, PROGRAMS / "jump_host.c", *here, "-o", "host", cwd=tmp_path)
    done = execute(["./host"], tmp_path, {"TRODDEN_FILE": "x.raw"})
    assert (done.returncode, done.stderr) == (8, "")
    profile = collect([tmp_path / "x.raw"])
    assert check(profile, done.stdout, "jump_host.c", "jump_library.c") == {}
    assert (violations(profile), profile.messages) == (set(), ())


MANY = """
#include <setjmp.h>
static jmp_buf env;
static volatile int sink;
__attribute__((noinline)) static int deep(int n) {
    if (n == 0)
        longjmp(env, 1);
    sink = deep(n - 1);
    return sink + 1;
}
int main(void) {
    for (volatile int i = 0; i < 100000; i++)
        if (setjmp(env) == 0)
            deep(i == 77 ? 20000 : 3);
    return sink;
}
"""


def test_many_jumps_take_little_space(tmp_path: Path) -> None:
    """A hundred thousand jumps, one of them over twenty thousand frames: one record for each call."""
    (tmp_path / "many.c").write_text(MANY)
    must("cc", "-O2", "--trodden-counters=checked", "many.c", "-o", "many", cwd=tmp_path)
    assert execute(["./many"], tmp_path, {"TRODDEN_FILE": "x.raw"}).returncode == 0
    raw = read_raw(tmp_path / "x.raw")
    assert sorted(jump.count for jump in raw.non_local_exits) == [-100000, 100000, 100000, 319997]
    profile = collect([tmp_path / "x.raw"])
    assert (violations(profile), profile.messages) == (set(), ())
    assert profile.functions["deep"].entries == 100000 * 4 + 20000 - 3


def test_threads_that_jump_while_the_process_dies_are_found(tmp_path: Path) -> None:
    """One that waits for the lock in the middle of a jump gets it from the thread that stops all others."""
    must("cc", "-O1", "-pthread", PROGRAMS / "jumps_at_the_end.c", "-o", "program", cwd=tmp_path)
    for number in range(30):
        raw = tmp_path / f"{number}.raw"
        done = execute(["./program"], tmp_path, {"TRODDEN_FILE": str(raw)})
        assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")
        assert not read_raw(raw).frames_missing
