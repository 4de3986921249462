"""longjmp: functions that are left, and come back to, in the middle of a block.

What jumps do within one program is among the programs that keep books (``test_exact.py``); here are other C
libraries, shared libraries, jumps from odd places, and the size of what the runtime keeps.
"""

from __future__ import annotations

import platform
import re
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
    """What differs from the books of these files, as line to count."""
    wanted = {f"{names[int(book)]}:{line}": int(count) for book, line, count in _ENTRY.findall(output)}
    counted: Counter[str] = Counter()
    for function in profile.functions.values():
        for block in function.blocks:
            for ref in set(block.lines):
                counted[f"{Path(function.files[ref.file].path).name}:{ref.line}"] += int(block.count)
    assert wanted
    return {place: counted[place] for place, count in wanted.items() if counted[place] != count}


def violations(profile: Profile) -> set[str]:
    return {function.name for function in profile.functions.values() if function.violations}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
def test_jumps_in_a_static_program(tmp_path: Path, level: str, stage: str) -> None:
    """There the real longjmp is the runtime's own, and sigsetjmp keeps its return address elsewhere."""
    own = ["-o", "x.trod", "--quiet", "--stage", stage, "--counters", "checked", "--target", STATIC]
    done = trodden("run", *own, PROGRAMS / "exact_jumps.c", level, *LOOPS_AS_WRITTEN, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (37, "")
    profile = load(tmp_path / "x.trod")
    assert check(profile, done.stdout, "exact_jumps.c") == {}
    assert (violations(profile), profile.notes) == (set(), ())


def odd(tmp_path: Path, word: str, level: str, stage: str) -> tuple[Profile, dict[str, int]]:
    own = ["-o", "x.trod", "--quiet", "--stage", stage, "--counters", "checked"]
    done = trodden("run", *own, PROGRAMS / "odd_jumps.c", level, *LOOPS_AS_WRITTEN, "--", word, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (5, "")
    profile = load(tmp_path / "x.trod")
    return profile, check(profile, done.stdout, "odd_jumps.c")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("word", ["stack", "child", "context"])
def test_odd_jumps_that_are_counted_exactly(tmp_path: Path, word: str, level: str, stage: str) -> None:
    """From a handler on a stack of its own; between contexts; in a child, out of its parent's functions."""
    profile, differences = odd(tmp_path, word, level, stage)
    assert differences == {}
    assert (violations(profile), profile.notes) == (set(), ())


@pytest.mark.parametrize("level", LEVELS)
def test_jumps_out_of_the_middle_of_a_block(tmp_path: Path, level: str) -> None:
    """Where the code tells what it does, the function that was interrupted is right, too."""
    profile, differences = odd(tmp_path, "middle", level, "late")
    assert (differences, violations(profile), profile.notes) == ({}, set(), ())


@pytest.mark.parametrize("level", LEVELS)
def test_jumps_that_cannot_be_followed_are_said(tmp_path: Path, level: str) -> None:
    """Counts of the function that was interrupted are made to fit together; they may be off by one."""
    profile, differences = odd(tmp_path, "middle", level, "early")
    assert violations(profile) == set()
    assert len(differences) <= 1
    completed, unknown = profile.notes
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
    assert (violations(profile), profile.notes) == (set(), ())


MANY = """
#include <setjmp.h>
static jmp_buf place;
static volatile int sink;
__attribute__((noinline)) static int deep(int n) {
    if (n == 0)
        longjmp(place, 1);
    sink = deep(n - 1);
    return sink + 1;
}
int main(void) {
    for (volatile int i = 0; i < 100000; i++)
        if (setjmp(place) == 0)
            deep(i == 77 ? 20000 : 3);
    return sink;
}
"""


def test_many_jumps_take_little_room(tmp_path: Path) -> None:
    """A hundred thousand jumps, one of them over twenty thousand frames: one record for each call."""
    (tmp_path / "many.c").write_text(MANY)
    must("cc", "-O2", "--trodden-counters=checked", "many.c", "-o", "many", cwd=tmp_path)
    assert execute(["./many"], tmp_path, {"TRODDEN_FILE": "x.raw"}).returncode == 0
    raw = read_raw(tmp_path / "x.raw")
    assert sorted(jump.count for jump in raw.jumps) == [-100000, 100000, 100000, 319997]
    profile = collect([tmp_path / "x.raw"])
    assert (violations(profile), profile.notes) == (set(), ())
    assert profile.functions["deep"].entries == 100000 * 4 + 20000 - 3
