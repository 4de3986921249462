"""Signals: those that arrive while threads start, jump or end, and deaths in handlers."""

from __future__ import annotations

import platform
import signal
import subprocess
from pathlib import Path

import pytest

from tests.native.building import environment
from tests.native.mapped_counts import VARIANTS, ProgramBuilder, empty_counts, run_counted
from trodden.collect.rawfile.model import Ending

STATIC = "edges-O2"
"""The variant that is also built as a static program."""
BUILDS = [*((variant, ()) for variant in VARIANTS), (STATIC, ("-static",))]
IDS = [*VARIANTS, f"{STATIC}-static"]
MUSL = ("-static", "-target", f"{platform.machine()}-linux-musl")
ALL_BUILDS = [*BUILDS, (STATIC, MUSL)]
ALL_IDS = [*IDS, f"{STATIC}-musl"]
SWITCHES = ("swap", "set", "return", "start")
DEATHS = {
    "once": signal.SIGSEGV,
    "once on a stack": signal.SIGSEGV,
    "twice": signal.SIGSEGV,
    "in another": signal.SIGSEGV,
    "blocked": signal.SIGSEGV,
    "blocked and handled": signal.SIGSEGV,
    "thread": signal.SIGSEGV,
    "realtime": signal.SIGRTMIN + 3,
}
JUMPED = """\
jumped: 10 11
jumped:
jumped: 8 11
jumped: 7
"""
CONTINUED = "\n".join(["jumped as in BSD: 10 11", *["saved: 1 0"] * 4, "continued: 10 11", ""])
STARTED = """\
executed: 10 11
spawned: 10 11
0
after it: 10 11
spawned by name: 10 11
0
after it: 10 11
spawned with a mask: 8 12
0
after it: 10 11
1
after a failure: 10 11
"""


def build(programs: ProgramBuilder, source: str, variant: str, options: tuple[str, ...]) -> Path:
    """A program; a static one has a name of its own."""
    stem = Path(source).stem
    return programs.build(source, variant, *options, name=f"{stem}{''.join(options)}")


@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_signals_pending_at_a_jump(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...]
) -> None:
    """The handler jumps itself, while the mask is being restored: each frame is left once."""
    done = run_counted(build(programs, "pending_signals.c", variant, options), "jump", cwd=tmp_path)
    assert (done.status, done.output, done.errors) == (7, "0 0\n", "")
    done.check()


@pytest.mark.parametrize("mode", SWITCHES)
@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_signals_pending_at_a_switch_of_stacks(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...], mode: str
) -> None:
    """The handler exits: the frames of the stack that is resumed are active, and no others."""
    done = run_counted(build(programs, "pending_signals.c", variant, options), mode, cwd=tmp_path)
    assert (done.status, done.errors) == (signal.SIGUSR2, "")
    done.check()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_context_keeps_its_signal_mask(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    done = run_counted(programs.build("pending_signals.c", variant), "swap returns", cwd=tmp_path)
    assert (done.status, done.output) == (7, "at home: 0\nresumed: 1\n")
    done.check()


@pytest.mark.parametrize("mode", ["mask", "timer"])
@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_signals_that_starting_threads_handle(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...], mode: str
) -> None:
    done = run_counted(build(programs, "starting_threads.c", variant, options), mode, cwd=tmp_path)
    assert (done.status, done.errors) == (7, "")
    done.check()


@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_threads_that_start_while_the_process_exits(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...]
) -> None:
    program = build(programs, "starting_threads.c", variant, options)
    for iteration in range(10):
        done = run_counted(program, "exit", cwd=tmp_path / str(iteration))
        assert (done.status, done.errors) == (7, "")
        done.check()


@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_cancellation_at_any_instruction(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...]
) -> None:
    """The loop may be between its reference count and its counter; all else is equal."""
    done = run_counted(build(programs, "cancelled_cleanup.c", variant, options), cwd=tmp_path)
    assert (done.status, done.errors) == (7, "")
    (reference,), (counted,) = done.reference().values(), done.counted().values()
    differing = {line for line in reference.keys() | counted.keys() if reference[line] != counted[line]}
    loop = max(reference, key=lambda line: reference[line])
    assert reference[loop] > 1000
    assert differing <= {loop}
    assert done.largest_difference() <= 10
    done.check_flow()


@pytest.mark.parametrize("mode", DEATHS)
@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_deaths_in_handlers_and_with_blocked_signals(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...], mode: str
) -> None:
    done = run_counted(build(programs, "dying_handlers.c", variant, options), mode, cwd=tmp_path)
    number = DEATHS[mode]
    (raw,) = done.raws
    assert (done.status, raw.ending, raw.signal) == (-number, Ending.SIGNAL, number)
    assert (raw.frames_missing, raw.counts_missing) == (False, False)
    assert done.profile.messages[0].startswith(f"process {raw.pid} ended by ")
    done.check(*(note.partition(": ")[2] or note for note in done.profile.messages))
    assert len(done.profile.messages) == 1


@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_programs_see_their_own_signal_settings(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...]
) -> None:
    """Masks, pending signals and actions, in threads, contexts and children."""
    program = build(programs, "signal_settings.c", variant, options)
    original = programs.uninstrumented("signal_settings.c")
    ran = [
        subprocess.run(
            [str(each)], cwd=tmp_path, env=environment({}), capture_output=True, text=True, timeout=60
        )
        for each in (program, original)
    ]
    assert ran[0].stdout == ran[1].stdout
    assert [each.returncode for each in ran] == [5, 5]


@pytest.mark.parametrize(("variant", "options"), ALL_BUILDS, ids=ALL_IDS)
def test_masks_that_jumps_contexts_and_new_programs_get(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...]
) -> None:
    """Signals of faults are part of them; and what a program starts without vfork leaves nothing behind."""
    done = run_counted(build(programs, "carried_masks.c", variant, options), cwd=tmp_path)
    expected = JUMPED + (STARTED if options == MUSL else CONTINUED + STARTED)
    assert (done.status, done.output, done.errors) == (7, expected, "")
    done.check()


SLEEPS = ("nanosleep", "nanosleep until", "usleep", "empty poll", "empty select", "sem_timedwait")
WAITS = ("poll", "ppoll", "select", "epoll", "sigtimedwait", "semop", "recv", "read")
WAITS_WITH_MASK = ("ppoll with a mask", "pselect with a mask", "epoll with a mask", "sigsuspend")
NUMBERS_ARE_IN_THE_CODE = tuple(map(int, platform.libc_ver()[1].split(".")[:2])) < (2, 41)
"""Later versions make most system calls from one place, and those fail with EINTR."""


@pytest.mark.parametrize("handler", [(), ("handler",)], ids=["default", "handler"])
@pytest.mark.parametrize("mode", [*SLEEPS, *WAITS, *WAITS_WITH_MASK])
@pytest.mark.parametrize("options", [(), ("-static",)], ids=["dynamic", "static"])
def test_waits_that_a_blocked_signal_arrives_in(
    programs: ProgramBuilder, tmp_path: Path, options: tuple[str, ...], mode: str, handler: tuple[str, ...]
) -> None:
    """They go on, unless they wait with a mask that does not block it."""
    done = run_counted(build(programs, "blocked_waits.c", STATIC, options), mode, *handler, cwd=tmp_path)
    original = subprocess.run(
        [str(programs.uninstrumented("blocked_waits.c")), mode, *handler],
        env=environment({"MAPPED_COUNTS": str(empty_counts(tmp_path / "unused"))}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.errors, original.stderr) == ("", "")
    if NUMBERS_ARE_IN_THE_CODE:
        assert (done.status, done.output) == (original.returncode, original.stdout)
        dies = mode in WAITS_WITH_MASK and not handler
        assert original.returncode == (-signal.SIGTRAP if dies else 7)
    notes = [note.partition(": ")[2] or note for note in done.profile.messages]
    assert all(" ended by SIGTRAP" in note for note in notes)
    done.check(*notes)


MIXED = {
    **dict.fromkeys(("signalfd", "sigwaitinfo", "timers", "nested", "repaired", "scheduler", "children"), 7),
    **dict.fromkeys(("blocked by a jump", "blocked by a handler", "inherited"), -signal.SIGSEGV),
}


@pytest.mark.parametrize("mode", MIXED)
@pytest.mark.parametrize(("variant", "options"), BUILDS, ids=IDS)
def test_signals_of_faults_in_unusual_ways(
    programs: ProgramBuilder, tmp_path: Path, variant: str, options: tuple[str, ...], mode: str
) -> None:
    done = run_counted(build(programs, "signal_mix.c", variant, options), mode, cwd=tmp_path)
    original = subprocess.run(
        [str(programs.uninstrumented("signal_mix.c")), mode],
        env=environment({"MAPPED_COUNTS": str(empty_counts(tmp_path / "unused"))}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (original.returncode, original.stderr) == (MIXED[mode], "")
    assert (done.status, done.errors, done.output) == (MIXED[mode], "", original.stdout)
    notes = [note.partition(": ")[2] or note for note in done.profile.messages]
    assert all(" ended by SIGSEGV" in note for note in notes)
    done.check(*notes)
