"""Threads: every count of every one of them, however it ends and whether it ends at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.ledger import VARIANTS, Workshop, walk
from trodden.collect.rawfile.model import Ending

OFTEN = 20
PATHS = "paths-O2"


@pytest.mark.parametrize("variant", VARIANTS)
def test_eight_threads_in_one_hot_function(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """A million turns; half of the threads leave by pthread_exit or are cancelled, some are detached."""
    done = walk(workshop.build("ledger_threads.c", variant), "ends", cwd=tmp_path)
    assert (done.status, done.errors) == (7, "")
    assert sum(done.books()[done.raws[0].pid].values()) > 2_000_000
    done.check()


@pytest.mark.parametrize("mode", ["ends", "waiting"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_time_and_again(workshop: Workshop, tmp_path: Path, variant: str, mode: str) -> None:
    """They end while others begin; or wait at the end of the process, with all signals blocked."""
    program = workshop.build("ledger_threads.c", variant)
    for turn in range(OFTEN):
        done = walk(program, mode, "50", cwd=tmp_path / str(turn))
        assert (done.status, done.errors) == (7, "")
        done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_on_stacks_of_their_own(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    done = walk(workshop.build("ledger_threads.c", variant), "stacks", "2000", cwd=tmp_path)
    assert (done.status, done.errors) == (7, "")
    done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_that_are_stopped_anywhere(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """They go on for a moment after their counts were taken, so books say more; but the flow is whole."""
    program = workshop.build("ledger_threads.c", variant)
    for turn in range(OFTEN // 2):
        done = walk(program, "running", cwd=tmp_path / str(turn))
        assert (done.status, done.errors) == (7, "")
        (raw,) = done.raws
        assert (raw.ending, raw.stack_cut) == (Ending.EXIT, False)
        assert len({frame.thread for frame in raw.frames}) == 8
        books, counted = done.books()[raw.pid], done.counted()[raw.pid]
        assert counted.total() > 0
        assert all(counted[line] <= books[line] + 8 for line in counted)
        done.check_flow()


@pytest.mark.parametrize("variant", VARIANTS)
def test_objects_of_threads_are_destroyed_in_time(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """What their destructors count, and those of keys, belongs to the thread that ends."""
    program = workshop.build("ledger_locals.cpp", variant)
    for turn in range(OFTEN // 4):
        done = walk(program, cwd=tmp_path / str(turn))
        assert (done.status, done.errors) == (0, "")
        done.check()
