"""Start an instrumented program, wait for it, and answer with what it left behind.

The program's streams, signals and status are its own: nothing is piped, and a signal that a terminal sends
reaches it directly while we wait.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trodden.errors import CannotWrite, InputMissing


@dataclass(frozen=True)
class Ended:
    """How the program ended: its status as :mod:`subprocess` gives it, and the raw files it wrote."""

    status: int
    raws: tuple[Path, ...]
    directory: Path

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


def launch(program: str, arguments: Sequence[str]) -> Ended:
    """Run a program to its end with its counters going to a directory of ours."""
    try:
        directory = Path(tempfile.mkdtemp(prefix="trodden-run-"))
    except OSError as error:
        raise CannotWrite(f"no room for the raw counts ({error}); set TMPDIR to a writable place") from error
    environment = dict(os.environ, TRODDEN_FILE=str(directory / "%p.raw"))
    try:
        process = subprocess.Popen([program, *arguments], env=environment)
    except OSError as error:
        directory.rmdir()
        raise InputMissing(f"{program}: cannot be run ({error.strerror})") from error
    ignored = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        status = process.wait()
    finally:
        for number, handler in ignored.items():
            signal.signal(number, handler)
    return Ended(status, tuple(sorted(directory.glob("*.raw*"))), directory)
