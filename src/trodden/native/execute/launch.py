"""Start an instrumented program, wait for it, and answer with what it left behind.

The program's streams, signals and status are its own: nothing is piped, a signal that a terminal sends
reaches it directly while we wait, and one that ends us is passed on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from trodden.errors import InputMissing
from trodden.native.execute.rundir import make_directory, raw_files, still_counting

_PATIENCE = 1.0
"""Seconds: who has been left alone is often just about to end."""

_MACHINES = {62: "x86_64", 183: "aarch64"}


@dataclass(frozen=True)
class Ended:
    """How the program ended: its status as :mod:`subprocess` gives it, and the raw files that it left.

    ``running`` are the raw files of processes that it has started and that are still at work.
    """

    status: int
    raws: tuple[Path, ...]
    directory: Path
    running: tuple[Path, ...] = ()

    def clear(self) -> None:
        """Remove the counts, but for those that are still being made."""
        if not self.running:
            shutil.rmtree(self.directory, ignore_errors=True)
            return
        for raw in self.raws:
            with contextlib.suppress(OSError):
                raw.unlink()

    def leave(self) -> int:
        """End as the program did: the same status, or by the same signal."""
        if self.status >= 0:
            return self.status
        number = -self.status
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return 128 + number


def launch(program: str, arguments: Sequence[str], wait: bool = False) -> Ended:
    """Run a program to its end with its counters going to a directory of ours.

    With ``wait`` the end is that of all processes it has started, not only of the first.
    """
    directory = make_directory()
    environment = dict(os.environ, TRODDEN_FILE=str(directory / "%p.raw"))
    with _signals() as running:
        try:
            process = _start(program, arguments, environment)
        except OSError as error:
            directory.rmdir()
            foreign = error.errno == errno.ENOEXEC
            advice = "; for programs of another machine install qemu-user" if foreign else ""
            raise InputMissing(f"{program}: cannot be run ({error.strerror}){advice}") from error
        running.begin(process)
        status = process.wait()
        left = _left_behind(directory, wait)
    found = raw_files(directory)
    return Ended(status, tuple(raw for raw in found if raw not in left), directory, tuple(left))


def _left_behind(directory: Path, wait: bool) -> list[Path]:
    """Who still counts; each may have started others while we waited for it."""
    while True:
        seen = raw_files(directory)
        left = still_counting(seen, _PATIENCE)
        if not (wait and left) and (left or raw_files(directory) == seen):
            return left


def _start(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a program; one of another machine through that machine's emulator, if there is one."""
    try:
        return subprocess.Popen([program, *arguments], env=environment)
    except OSError as error:
        emulator = _emulator(program) if error.errno == errno.ENOEXEC else None
        if emulator is None:
            raise
        return subprocess.Popen([emulator, program, *arguments], env=environment)


def _emulator(program: str) -> str | None:
    with open(program, "rb") as stream:
        head = stream.read(20)
    machine = int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" else -1
    name = _MACHINES.get(machine, "")
    return shutil.which(f"qemu-{name}") or shutil.which(f"qemu-{name}-static") if name else None


class _Running:
    """The program, and what came for it before we knew its number: it may already be at work by then."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: list[int] = []

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        while self._waiting:
            process.send_signal(self._waiting.pop(0))

    def pass_on(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._waiting.append(number)
        else:
            self._process.send_signal(number)


@contextlib.contextmanager
def _signals() -> Iterator[_Running]:
    """Outlive the program: a terminal's signals reach it too, those meant for us alone are passed on.

    Handlers, unlike ignoring, are not inherited: the program starts with the signals as we found them.
    """
    running = _Running()

    def wait_on(number: int, frame: FrameType | None) -> None:
        """The program has got it as well."""

    handlers = dict.fromkeys((signal.SIGINT, signal.SIGQUIT), wait_on)
    handlers |= dict.fromkeys((signal.SIGTERM, signal.SIGHUP), running.pass_on)
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield running
    finally:
        for number, previous in before.items():
            signal.signal(number, previous if previous is not None else signal.SIG_DFL)
