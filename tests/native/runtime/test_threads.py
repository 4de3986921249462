"""Threads: all counts of each, however it exits and whether it exits at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.mapped_counts import VARIANTS, ProgramBuilder, run_counted
from trodden.collect.rawfile.model import Ending

ITERATIONS = 20
PATHS = "paths-O2"


@pytest.mark.parametrize("variant", VARIANTS)
def test_eight_threads_in_one_hot_function(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    """A million iterations; half of the threads call pthread_exit or are cancelled, some are detached."""
    done = run_counted(programs.build("thread_endings.c", variant), "ends", cwd=tmp_path)
    assert (done.status, done.errors) == (7, "")
    assert sum(done.reference()[done.raws[0].pid].values()) > 2_000_000
    done.check()


@pytest.mark.parametrize("mode", ["ends", "waiting"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_repeatedly(programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str) -> None:
    """They exit while others start; or wait at the end of the process, with all signals blocked."""
    program = programs.build("thread_endings.c", variant)
    for iteration in range(ITERATIONS):
        done = run_counted(program, mode, "50", cwd=tmp_path / str(iteration))
        assert (done.status, done.errors) == (7, "")
        done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_on_stacks_of_their_own(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    done = run_counted(programs.build("thread_endings.c", variant), "stacks", "2000", cwd=tmp_path)
    assert (done.status, done.errors) == (7, "")
    done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_that_are_stopped_anywhere(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    """They run on after their counts were read, so that reference counts are larger; the flow law holds."""
    program = programs.build("thread_endings.c", variant)
    for iteration in range(ITERATIONS // 2):
        done = run_counted(program, "running", cwd=tmp_path / str(iteration))
        assert (done.status, done.errors) == (7, "")
        (raw,) = done.raws
        assert (raw.ending, raw.frames_missing) == (Ending.EXIT, False)
        assert len({frame.thread for frame in raw.frames}) == 8
        reference, counted = done.reference()[raw.pid], done.counted()[raw.pid]
        assert counted.total() > 0
        assert all(counted[line] <= reference[line] + 8 for line in counted)
        done.check_flow()


@pytest.mark.parametrize("variant", VARIANTS)
def test_objects_of_threads_are_destroyed_in_time(
    programs: ProgramBuilder, tmp_path: Path, variant: str
) -> None:
    """What their destructors count, and those of keys, belongs to the thread that ends."""
    program = programs.build("thread_locals.cpp", variant)
    for iteration in range(ITERATIONS // 4):
        done = run_counted(program, cwd=tmp_path / str(iteration))
        assert (done.status, done.errors) == (0, "")
        done.check()
