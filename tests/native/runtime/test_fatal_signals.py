"""Fatal signals: the process ends as it does without trodden, with everything counted until then."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.native.building import TRODDEN
from tests.native.mapped_counts import (
    CHECKED,
    VARIANTS,
    CountedRun,
    ProgramBuilder,
    prepare_run,
    run_counted,
    source_of,
)
from trodden.collect.process_messages import NO_SPACE
from trodden.collect.rawfile.model import Ending

EXITS = {"none": 6, "exit": 3, "_exit": 4, "quick_exit": 5}
SIGNALS = {
    "abort": signal.SIGABRT,
    "assert": signal.SIGABRT,
    "term": signal.SIGTERM,
    "int": signal.SIGINT,
    "hup": signal.SIGHUP,
    "pipe": signal.SIGPIPE,
    "alrm": signal.SIGALRM,
    "bus": signal.SIGBUS,
    "usr1": signal.SIGUSR1,
    "quit": signal.SIGQUIT,
}
FAULTS = {"segv": signal.SIGSEGV, "fpe": signal.SIGFPE, "ill": signal.SIGILL}
HANDLED = {"returns": 50, "again": -signal.SIGSEGV, "leaves": 40 + signal.SIGABRT, "jumps": -signal.SIGTERM}
HANDLED |= {"default": -signal.SIGTERM}
KILLED = (
    " was killed (or ended unseen): functions active then are not known,"
    " counts may be off by one for each of them"
)


def uninstrumented(
    programs: ProgramBuilder, mode: str, cwd: Path, prepare: Callable[[], None] | None = None
) -> CountedRun:
    """The same without trodden."""
    return run_counted(
        programs.uninstrumented("fatal_signals.c"), mode, cwd=cwd / "uninstrumented", prepare=prepare
    )


def check_killed_by(done: CountedRun, number: int) -> None:
    (raw,) = done.raws
    assert (done.status, raw.ending, raw.signal) == (-number, Ending.SIGNAL, number)
    assert (raw.frames_missing, raw.counts_missing) == (False, False)
    done.check(f"process {raw.pid} ended by {signal.Signals(number).name}")


@pytest.mark.parametrize("mode", EXITS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_exits(programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str) -> None:
    done = run_counted(programs.build("fatal_signals.c", variant), mode, cwd=tmp_path)
    assert (done.status, done.raws[0].ending) == (EXITS[mode], Ending.EXIT)
    done.check()


@pytest.mark.parametrize("mode", SIGNALS | FAULTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_fatal_signals(programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str) -> None:
    done = run_counted(programs.build("fatal_signals.c", variant), mode, cwd=tmp_path)
    check_killed_by(done, (SIGNALS | FAULTS)[mode])


@pytest.mark.parametrize("mode", HANDLED)
@pytest.mark.parametrize("variant", VARIANTS)
def test_signals_that_the_program_handles(
    programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str
) -> None:
    """Its handlers return, raise the signal again, exit, or jump out."""
    done = run_counted(programs.build("fatal_signals.c", variant), mode, cwd=tmp_path)
    assert done.status == HANDLED[mode]
    if done.status < 0:
        check_killed_by(done, -done.status)
    else:
        done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_ignored_signals_stay_ignored(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    program = programs.build("fatal_signals.c", variant)

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    done = run_counted(program, "ignored", cwd=tmp_path, prepare=ignore)
    assert done.status == 51
    done.check()


@pytest.mark.parametrize("mode", ["uncaught", "noexcept"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_uncaught_exceptions(programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str) -> None:
    check_killed_by(run_counted(programs.build("uncaught.cpp", variant), mode, cwd=tmp_path), signal.SIGABRT)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stack_that_overflows(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    """Thousands of calls are active; the last one may not have reached its own count."""
    done = run_counted(programs.build("fatal_signals.c", variant), "overflow", cwd=tmp_path)
    (raw,) = done.raws
    assert (done.status, raw.ending, raw.signal) == (-signal.SIGSEGV, Ending.SIGNAL, signal.SIGSEGV)
    assert raw.frames_missing is False
    assert max(done.reference()[raw.pid].values()) > 500
    assert done.largest_difference() <= 1


@pytest.mark.parametrize("mode", [*EXITS, *SIGNALS, *FAULTS, *HANDLED, "signals", "rt", "kill"])
def test_behaviour_is_unchanged(programs: ProgramBuilder, tmp_path: Path, mode: str) -> None:
    """Status and output are those of the original program; so is what it sees of its own signals."""
    done = run_counted(programs.build("fatal_signals.c", "edges-O2"), mode, cwd=tmp_path)
    original = uninstrumented(programs, mode, tmp_path)
    assert (done.status, done.output) == (original.status, original.output)
    assert done.errors.replace("-edges-O2", "-uninstrumented") == original.errors
    assert list(done.reference().values()) == list(original.reference().values())


# Killed, without any notice


def build_durable(programs: ProgramBuilder, variant: str) -> Path:
    """A program that has all its counts in memory at every instruction."""
    return programs.build("busy_threads.c", variant, "--trodden-durable=on", name="busy_threads-durable")


def end_after(program: Path, threads: int, cwd: Path, seconds: float, number: signal.Signals) -> CountedRun:
    """Let a busy program run for that long, and end it."""
    counts, mapped, variables = prepare_run(cwd)
    with subprocess.Popen(
        [str(program), str(threads)], cwd=cwd, env=variables, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        time.sleep(seconds)
        process.send_signal(number)
    return CountedRun(process.returncode, "", "", (source_of(program),), counts, mapped)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("variant", VARIANTS)
def test_killed_at_any_moment(programs: ProgramBuilder, tmp_path: Path, variant: str, threads: int) -> None:
    """Every line is right except for those that threads were executing."""
    program = build_durable(programs, variant)
    chance = random.Random(f"{variant}{threads}")
    hits = 0
    for iteration in range(20):
        done = end_after(program, threads, tmp_path / str(iteration), chance.uniform(0, 0.02), signal.SIGKILL)
        (raw,) = done.raws
        assert (done.status, raw.ending, raw.counts_missing) == (-signal.SIGKILL, Ending.KILLED, False)
        hits += done.reference()[raw.pid].total()
        assert done.largest_difference() <= threads
        assert done.profile.messages[0] == f"process {raw.pid}{KILLED}"
    assert hits > 10_000


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("variant", [*VARIANTS, CHECKED])
def test_terminated_at_any_moment(
    programs: ProgramBuilder, tmp_path: Path, variant: str, threads: int
) -> None:
    """The instruction of every thread is known: counts differ at most by what that one does."""
    program = build_durable(programs, variant)
    chance = random.Random(f"{variant}{threads}")
    for iteration in range(20):
        done = end_after(program, threads, tmp_path / str(iteration), chance.uniform(0, 0.02), signal.SIGTERM)
        (raw,) = done.raws
        assert (done.status, raw.ending, raw.signal) == (-signal.SIGTERM, Ending.SIGNAL, signal.SIGTERM)
        assert (raw.counts_missing, raw.frames_missing) == (False, False)
        assert 0 in {frame.thread for frame in raw.frames}
        assert done.largest_difference() <= threads
        # Where the path register is dead, the path of a frame is unknown, and a message says so.
        messages = done.profile.messages[1:] if variant.startswith("paths") else ()
        done.check_flow(
            f"process {raw.pid} ended by SIGTERM", *(note.partition(": ")[2] for note in messages)
        )


def test_killed_together_with_the_run(programs: ProgramBuilder, tmp_path: Path) -> None:
    """The counts of a run that was killed, too, are found in its directory."""
    program = build_durable(programs, "edges-O2")
    _, mapped, variables = prepare_run(tmp_path)
    with subprocess.Popen(
        [*TRODDEN, "run", str(program), "2"],
        cwd=tmp_path,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        directories = list(Path("/dev/shm").glob(f"trodden-run-{os.getuid()}-{process.pid}-*"))
        os.killpg(process.pid, signal.SIGKILL)
    (directory,) = directories
    done = CountedRun(0, "", "", (source_of(program),), directory, mapped)
    (raw,) = done.raws
    assert raw.ending is Ending.KILLED
    assert done.largest_difference() <= 2
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()


# Where nothing can be written


OUTPUTS = {
    "missing": "/proc/missing/out.raw",
    "full": "/dev/full",
    "device": "/dev/null",
    "proc": "/proc/out.raw",
}


@pytest.mark.parametrize("mode", ["none", "exit", "segv", "term", "abort", "jumps", "again"])
@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_programs_that_cannot_write_end_unchanged(
    programs: ProgramBuilder, tmp_path: Path, output: str, mode: str
) -> None:
    done = run_counted(programs.build("fatal_signals.c", "edges-O2"), mode, cwd=tmp_path, file=output)
    original = uninstrumented(programs, mode, tmp_path)
    assert (done.status, done.output) == (original.status, original.output)
    assert list(done.reference().values()) == list(original.reference().values())
    complaint = done.errors.removesuffix(original.errors)
    if mode in ("none", "exit") and output != "/dev/null":
        assert complaint.startswith("trodden: cannot write ")
        assert complaint.count("\n") == 1
    else:
        assert complaint == ""


def limit_files(size: int) -> Callable[[], None]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize("size", [0, 100, 1 << 20, (4 << 20) + 4096, 5 << 20])
@pytest.mark.parametrize("mode", ["none", "segv", "jumps", "kill"])
def test_files_that_may_not_grow(programs: ProgramBuilder, tmp_path: Path, mode: str, size: int) -> None:
    """The program notices nothing, and what could be written is right."""
    prepare = limit_files(size)
    done = run_counted(programs.build("fatal_signals.c", "edges-O2"), mode, cwd=tmp_path, prepare=prepare)
    original = uninstrumented(programs, mode, tmp_path, prepare)
    assert (done.status, done.output) == (original.status, original.output)
    assert list(done.reference().values()) == list(original.reference().values())
    raws = done.raws
    assert len(raws) == (size >= 1 << 20)
    if mode == "none" and raws:
        done.check(*((NO_SPACE,) if size < 5 << 20 else ()))
    elif size >= 5 << 20:
        assert raws[0].counts_missing is False
        assert done.largest_difference() <= (1 if mode == "kill" else 0)
    elif raws:
        assert raws[0].counts_missing is True
