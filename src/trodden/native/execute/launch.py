"""Run a command, and return its status and the raw files of its instrumented processes.

The program's streams, signals and status are its own: nothing is piped, a signal from a terminal reaches it
directly, and a signal that would end this process is forwarded.
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

from trodden import temporary
from trodden.errors import InputMissing
from trodden.native.execute.drain import Drain
from trodden.native.execute.rundir import make_directory, raw_files, still_counting
from trodden.native.execute.trace_size import WHOLE, TraceSize

_GRACE = 1.0
"""Seconds to wait for processes that outlive the first one: most of them are about to end."""

_SHELL = "/bin/sh"
_TEXT_CHECKED = 256
_MACHINES = {62: "x86_64", 183: "aarch64"}


@dataclass(frozen=True)
class Ended:
    """How the program ended: its status as in :mod:`subprocess`, and the raw files that it left.

    ``running`` are the raw files of processes that it has started and that still run.  ``packed`` is the
    directory with the packed traces of its processes, if there are any, each named after its raw file;
    ``messages`` are about traces that could not be packed.
    """

    status: int
    raws: tuple[Path, ...]
    directory: Path
    running: tuple[Path, ...] = ()
    packed: Path | None = None
    messages: tuple[str, ...] = ()

    def clear(self) -> None:
        """Remove the raw files and traces, except for the raw files of processes that still run."""
        if self.packed is not None:
            shutil.rmtree(self.packed, ignore_errors=True)
        if not self.running:
            shutil.rmtree(self.directory, ignore_errors=True)
            return
        for raw in self.raws:
            with contextlib.suppress(OSError):
                raw.unlink()

    def leave(self) -> int:
        """End as the program did: with the same status, or by the same signal."""
        if self.status >= 0:
            return self.status
        number = -self.status
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return 128 + number


def launch(
    program: str,
    arguments: Sequence[str],
    wait: bool = False,
    preload: Path | None = None,
    size: TraceSize = WHOLE,
) -> Ended:
    """Run a program, instrumented or not, to its end, with all raw files in a directory of their own.

    With ``wait``, until all processes that it has started have ended, not only the first one.  ``preload`` is
    a library that all of them are started with, ``size`` how much of their traces is kept.
    """
    directory = make_directory()
    environment = dict(os.environ, TRODDEN_FILE=str(directory / "%p.raw"), TRODDEN_TRACE_DRAINED="1")
    environment.update(size.variables())
    drain = Drain(directory)
    if preload is not None:
        environment["LD_PRELOAD"] = ":".join(filter(None, (str(preload), os.environ.get("LD_PRELOAD"))))
    with _signals() as running:
        try:
            process = _start(program, arguments, environment)
        except OSError as error:
            temporary.remove(directory)
            raise InputMissing(f"{program}: cannot be run ({error.strerror}){_advice(error)}") from error
        temporary.keep(directory)
        drain.start()
        running.begin(process)
        status = process.wait()
        left = _still_running(directory, wait)
        packed = drain.finish()
    found = raw_files(directory)
    raws = tuple(raw for raw in found if raw not in left)
    return Ended(status, raws, directory, tuple(left), packed, tuple(drain.messages))


def _advice(error: OSError) -> str:
    match error.errno:
        case errno.ENOEXEC:
            return "; for programs of another machine install qemu-user"
        case errno.ENOENT:
            return "; the interpreter that it names may be missing"
        case errno.EACCES:
            return "; is it executable?"
    return ""


def _still_running(directory: Path, wait: bool) -> list[Path]:
    """The raw files of processes that still run; each may have started others meanwhile."""
    while True:
        seen = raw_files(directory)
        left = still_counting(seen, _GRACE)
        if not (wait and left) and (left or raw_files(directory) == seen):
            return left


def _start(program: str, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a program; what the kernel cannot execute, through an interpreter if there is one for it."""
    try:
        return subprocess.Popen([program, *arguments], env=environment)
    except OSError as error:
        interpreter = _interpreter(program) if error.errno == errno.ENOEXEC else None
        if interpreter is None:
            raise
        return subprocess.Popen([interpreter, program, *arguments], env=environment)


def _interpreter(program: str) -> str | None:
    """The emulator of the machine that a program is for; the shell for a script that does not name one.

    A shell would execute such a script itself, and POSIX has ``execvp`` do the same.  What has a null byte in
    its first bytes is no text.
    """
    with open(program, "rb") as stream:
        head = stream.read(_TEXT_CHECKED)
    if head[:4] != b"\x7fELF":
        return None if b"\0" in head else _SHELL
    name = _MACHINES.get(int.from_bytes(head[18:20], "little"), "")
    return shutil.which(f"qemu-{name}") or shutil.which(f"qemu-{name}-static") if name else None


class _Running:
    """The program, and the signals that arrived for it before its process id was known."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pending: list[int] = []

    def begin(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        while self._pending:
            process.send_signal(self._pending.pop(0))

    def forward(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._pending.append(number)
        else:
            self._process.send_signal(number)


@contextlib.contextmanager
def _signals() -> Iterator[_Running]:
    """Outlive the program: a terminal's signals reach it as well, those for this process alone are forwarded.

    Handlers, unlike ignored signals, are not inherited: the program starts with the original dispositions.
    """
    running = _Running()

    def ignore(number: int, frame: FrameType | None) -> None:
        """The program has received it as well."""

    handlers = dict.fromkeys((signal.SIGINT, signal.SIGQUIT), ignore)
    handlers |= dict.fromkeys((signal.SIGTERM, signal.SIGHUP), running.forward)
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, handler)
    try:
        yield running
    finally:
        for number, previous in before.items():
            signal.signal(number, previous if previous is not None else signal.SIG_DFL)
