"""Every kind of death: the same one as without trodden, and all that was counted until then."""

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
from tests.native.ledger import CHECKED, VARIANTS, Walk, Workshop, prepare_walk, source_of, walk
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


def plainly(workshop: Workshop, mode: str, cwd: Path, prepare: Callable[[], None] | None = None) -> Walk:
    """The same without trodden."""
    return walk(workshop.plain("ledger_deaths.c"), mode, cwd=cwd / "plain", prepare=prepare)


def died_by(done: Walk, number: int) -> None:
    (raw,) = done.raws
    assert (done.status, raw.ending, raw.signal) == (-number, Ending.SIGNAL, number)
    assert (raw.stack_cut, raw.partly) == (False, False)
    done.check(f"process {raw.pid} ended by {signal.Signals(number).name}")


@pytest.mark.parametrize("mode", EXITS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_ways_out(workshop: Workshop, tmp_path: Path, variant: str, mode: str) -> None:
    done = walk(workshop.build("ledger_deaths.c", variant), mode, cwd=tmp_path)
    assert (done.status, done.raws[0].ending) == (EXITS[mode], Ending.EXIT)
    done.check()


@pytest.mark.parametrize("mode", SIGNALS | FAULTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_deaths_by_signals(workshop: Workshop, tmp_path: Path, variant: str, mode: str) -> None:
    done = walk(workshop.build("ledger_deaths.c", variant), mode, cwd=tmp_path)
    died_by(done, (SIGNALS | FAULTS)[mode])


@pytest.mark.parametrize("mode", HANDLED)
@pytest.mark.parametrize("variant", VARIANTS)
def test_signals_that_the_program_sees_to(
    workshop: Workshop, tmp_path: Path, variant: str, mode: str
) -> None:
    """Its handlers return, raise the signal again, leave the process, or jump out."""
    done = walk(workshop.build("ledger_deaths.c", variant), mode, cwd=tmp_path)
    assert done.status == HANDLED[mode]
    if done.status < 0:
        died_by(done, -done.status)
    else:
        done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_ignored_signals_stay_ignored(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    program = workshop.build("ledger_deaths.c", variant)

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    done = walk(program, "ignored", cwd=tmp_path, prepare=ignore)
    assert done.status == 51
    done.check()


@pytest.mark.parametrize("mode", ["uncaught", "noexcept"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_exceptions_that_nobody_catches(workshop: Workshop, tmp_path: Path, variant: str, mode: str) -> None:
    died_by(walk(workshop.build("ledger_uncaught.cpp", variant), mode, cwd=tmp_path), signal.SIGABRT)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stack_that_overflows(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """Thousands of calls are active; the last one may not have got as far as its own books."""
    done = walk(workshop.build("ledger_deaths.c", variant), "overflow", cwd=tmp_path)
    (raw,) = done.raws
    assert (done.status, raw.ending, raw.signal) == (-signal.SIGSEGV, Ending.SIGNAL, signal.SIGSEGV)
    assert raw.stack_cut is False
    assert max(done.books()[raw.pid].values()) > 500
    assert done.off_by() <= 1


@pytest.mark.parametrize("mode", [*EXITS, *SIGNALS, *FAULTS, *HANDLED, "signals", "rt", "kill"])
def test_nobody_notices(workshop: Workshop, tmp_path: Path, mode: str) -> None:
    """Status and output are those of the plain program; so is what it is told of its own signals."""
    done = walk(workshop.build("ledger_deaths.c", "edges-O2"), mode, cwd=tmp_path)
    plain = plainly(workshop, mode, tmp_path)
    assert (done.status, done.output) == (plain.status, plain.output)
    assert done.errors.replace("-edges-O2", "-plain") == plain.errors
    assert list(done.books().values()) == list(plain.books().values())


# Killed, with no time for anything


def build_durable(workshop: Workshop, variant: str) -> Path:
    """A program that has all its counts in memory at every moment."""
    return workshop.build("ledger_busy.c", variant, "--trodden-durable=on", name="ledger_busy-durable")


def end_soon(program: Path, threads: int, cwd: Path, seconds: float, number: signal.Signals) -> Walk:
    """Let a busy program run for so long, and end it."""
    counts, ledger, variables = prepare_walk(cwd)
    with subprocess.Popen(
        [str(program), str(threads)], cwd=cwd, env=variables, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        time.sleep(seconds)
        process.send_signal(number)
    return Walk(process.returncode, "", "", (source_of(program),), counts, ledger)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("variant", VARIANTS)
def test_killed_at_any_moment(workshop: Workshop, tmp_path: Path, variant: str, threads: int) -> None:
    """Every line is right but for those that threads were in the middle of."""
    program = build_durable(workshop, variant)
    chance = random.Random(f"{variant}{threads}")
    hits = 0
    for turn in range(20):
        done = end_soon(program, threads, tmp_path / str(turn), chance.uniform(0, 0.02), signal.SIGKILL)
        (raw,) = done.raws
        assert (done.status, raw.ending, raw.partly) == (-signal.SIGKILL, Ending.KILLED, False)
        hits += done.books()[raw.pid].total()
        assert done.off_by() <= threads
        assert done.profile.notes[0] == f"process {raw.pid}{KILLED}"
    assert hits > 10_000


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("variant", [*VARIANTS, CHECKED])
def test_ended_by_others_at_any_moment(
    workshop: Workshop, tmp_path: Path, variant: str, threads: int
) -> None:
    """Where all threads are is known to the instruction: books differ by what that one does."""
    program = build_durable(workshop, variant)
    chance = random.Random(f"{variant}{threads}")
    for turn in range(20):
        done = end_soon(program, threads, tmp_path / str(turn), chance.uniform(0, 0.02), signal.SIGTERM)
        (raw,) = done.raws
        assert (done.status, raw.ending, raw.signal) == (-signal.SIGTERM, Ending.SIGNAL, signal.SIGTERM)
        assert (raw.partly, raw.stack_cut) == (False, False)
        assert 0 in {frame.thread for frame in raw.frames}
        assert done.off_by() <= threads
        # Where the path register is not needed any more, a frame cannot say its path, and that is said.
        said = done.profile.notes[1:] if variant.startswith("paths") else ()
        done.check_flow(f"process {raw.pid} ended by SIGTERM", *(note.partition(": ")[2] for note in said))


def test_killed_together_with_the_run(workshop: Workshop, tmp_path: Path) -> None:
    """The counts of a run that was killed, too, are found where they were made."""
    program = build_durable(workshop, "edges-O2")
    _, ledger, variables = prepare_walk(tmp_path)
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
    done = Walk(0, "", "", (source_of(program),), directory, ledger)
    (raw,) = done.raws
    assert raw.ending is Ending.KILLED
    assert done.off_by() <= 2
    for path in directory.iterdir():
        path.unlink()
    directory.rmdir()


# Where there is no room


PLACES = {"missing": "missing/out.raw", "full": "/dev/full", "device": "/dev/null", "proc": "/proc/out.raw"}


@pytest.mark.parametrize("mode", ["none", "exit", "segv", "term", "abort", "jumps", "again"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_programs_that_can_write_nothing_end_as_they_would(
    workshop: Workshop, tmp_path: Path, place: str, mode: str
) -> None:
    done = walk(workshop.build("ledger_deaths.c", "edges-O2"), mode, cwd=tmp_path, file=place)
    plain = plainly(workshop, mode, tmp_path)
    assert (done.status, done.output) == (plain.status, plain.output)
    assert list(done.books().values()) == list(plain.books().values())
    complaint = done.errors.removesuffix(plain.errors)
    if mode in ("none", "exit") and place != "/dev/null":
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
def test_files_that_may_not_grow(workshop: Workshop, tmp_path: Path, mode: str, size: int) -> None:
    """The program notices nothing, and what there is room for is right."""
    prepare = limit_files(size)
    done = walk(workshop.build("ledger_deaths.c", "edges-O2"), mode, cwd=tmp_path, prepare=prepare)
    plain = plainly(workshop, mode, tmp_path, prepare)
    assert (done.status, done.output) == (plain.status, plain.output)
    assert list(done.books().values()) == list(plain.books().values())
    raws = done.raws
    assert len(raws) == (size >= 1 << 20 if mode == "none" else size > 4 << 20)
    if mode == "none" and raws:
        done.check()
    elif size >= 5 << 20:
        assert raws[0].partly is False
        assert done.off_by() <= (1 if mode == "kill" else 0)
    elif raws:
        assert raws[0].partly is True
