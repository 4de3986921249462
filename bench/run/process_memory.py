"""Waiting for a process: simply, or with a look at its memory just before it ends.

What the system reports of the memory of a process that has ended includes the time before ``exec``, when it
was a copy of this process.  So the process is traced and stopped when it exits, its memory still mapped.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
from pathlib import Path
from resource import struct_rusage

from bench.support.errors import BenchError

# From sys/ptrace.h: attach to a process without stopping it; stop it when it exits, memory still mapped.
_SEIZE, _CONTINUE, _TRACE_EXIT, _EXIT_STOP = 0x4206, 7, 0x40, 6
_RESIDENT = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


class Waiter:
    """Waits for a process."""

    @property
    def before(self) -> tuple[str, ...]:
        """The arguments that have to precede a command."""
        return ()

    def started(self, pid: int) -> None:
        """Called by the thread that has started the process."""

    def wait(self, pid: int) -> tuple[int, struct_rusage]:
        """Wait until it has ended; returns its status and the processor time it used, as ``wait4`` does."""
        _, status, usage = os.wait4(pid, 0)
        return status, usage


class MemoryWatcher(Waiter):
    """Waits for one process, and keeps what was resident at its end and at its peak, in bytes."""

    def __init__(self) -> None:
        self._system = ctypes.CDLL(None, use_errno=True)
        self.resident = 0
        self.peak = 0

    @property
    def before(self) -> tuple[str, ...]:
        """Let the process stop until it is traced, and execute the program only then."""
        return ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh")

    def started(self, pid: int) -> None:
        """Attach to it, and let it continue."""
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if self._system.ptrace(_SEIZE, pid, None, ctypes.c_void_p(_TRACE_EXIT)) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise BenchError(f"process {pid} cannot be traced: {reason}; allow ptrace")
        os.kill(pid, signal.SIGCONT)

    def wait(self, pid: int) -> tuple[int, struct_rusage]:
        """Forward all signals until it stops to exit, read its memory, and let it exit."""
        status, _ = super().wait(pid)
        while os.WIFSTOPPED(status) and status >> 16 != _EXIT_STOP:
            self._resume(pid, 0 if status >> 16 else os.WSTOPSIG(status))
            status, _ = super().wait(pid)
        if not os.WIFSTOPPED(status):
            raise BenchError(f"process {pid} ended before its memory could be read")
        text = Path(f"/proc/{pid}/status").read_text()
        figures = {name: 1024 * int(number) for name, number in _RESIDENT.findall(text)}
        self.resident, self.peak = figures["VmRSS"], figures["VmHWM"]
        self._resume(pid, 0)
        return super().wait(pid)

    def _resume(self, pid: int, number: int) -> None:
        self._system.ptrace(_CONTINUE, pid, None, ctypes.c_void_p(number))
