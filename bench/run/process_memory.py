"""How a process is waited for: simply, or so that it can be asked for its memory on its way out.

What the system says of the memory of a process that has ended goes back to before it became the program in
question, when it was a copy of this one.  So it is stopped on its way out, its memory still there.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
from pathlib import Path
from resource import struct_rusage

from bench.support.errors import BenchError

# From sys/ptrace.h: attach to a process without stopping it; have it stop when it ends, memory still there.
_SEIZE, _CONTINUE, _TRACE_EXIT, _EXIT_STOP = 0x4206, 7, 0x40, 6
_RESIDENT = re.compile(r"^(VmRSS|VmHWM):\s+(\d+) kB$", re.MULTILINE)


class Waiter:
    """Waits for a process."""

    @property
    def before(self) -> tuple[str, ...]:
        """The words that it wants to have before a command."""
        return ()

    def started(self, pid: int) -> None:
        """Called by the thread that has started it."""

    def ended(self, pid: int) -> tuple[int, struct_rusage]:
        """Wait until it has ended; its status, and the processor time it has used, as ``wait4`` has them."""
        _, status, usage = os.wait4(pid, 0)
        return status, usage


class Watcher(Waiter):
    """Waits for one process, and keeps what was resident at its end and at most, in bytes."""

    def __init__(self) -> None:
        self._system = ctypes.CDLL(None, use_errno=True)
        self.resident = 0
        self.most = 0

    @property
    def before(self) -> tuple[str, ...]:
        """Have the process wait until it is watched, and become the program only then."""
        return ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh")

    def started(self, pid: int) -> None:
        """Attach to it, and let it go on."""
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        if self._system.ptrace(_SEIZE, pid, None, ctypes.c_void_p(_TRACE_EXIT)) != 0:
            reason = os.strerror(ctypes.get_errno())
            raise BenchError(f"process {pid} cannot be traced: {reason}; allow ptrace")
        os.kill(pid, signal.SIGCONT)

    def ended(self, pid: int) -> tuple[int, struct_rusage]:
        """Pass on all signals until it stops to end, then ask it, and let it end."""
        status, _ = super().ended(pid)
        while os.WIFSTOPPED(status) and status >> 16 != _EXIT_STOP:
            self._go_on(pid, 0 if status >> 16 else os.WSTOPSIG(status))
            status, _ = super().ended(pid)
        if not os.WIFSTOPPED(status):
            raise BenchError(f"process {pid} ended before it could be asked for its memory")
        text = Path(f"/proc/{pid}/status").read_text()
        figures = {name: 1024 * int(number) for name, number in _RESIDENT.findall(text)}
        self.resident, self.most = figures["VmRSS"], figures["VmHWM"]
        self._go_on(pid, 0)
        return super().ended(pid)

    def _go_on(self, pid: int, number: int) -> None:
        self._system.ptrace(_CONTINUE, pid, None, ctypes.c_void_p(number))
