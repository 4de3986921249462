"""An end before the end: what a bench has started must not go on building into the same directories.

Whoever is told to end, ends its children too.  A bench that is killed cannot, so that the next one does: all
that a bench has started can be told by a variable of its environment.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from bench.support.directories import WORK

_MARK = "TRODDEN_BENCH"


def end_children() -> None:
    """End everything that this process has started, and what that has started in turn."""
    for pid in _below(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def end_orphans() -> None:
    """End what a bench that was killed has left, and let what this one starts be known in turn.

    To be called only while no other bench can be at work in this checkout.
    """
    mark = f"{_MARK}={WORK}".encode()
    for directory in Path("/proc").glob("[0-9]*"):
        pid = int(directory.name)
        try:
            if pid != os.getpid() and mark in (directory / "environ").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
        except OSError:
            # It has ended meanwhile, or it is somebody else's.
            continue
    os.environ[_MARK] = str(WORK)


def _below(pid: int) -> list[int]:
    """All processes below one, whoever stands nearer to it first."""
    children: dict[int, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            # The name of the program, in brackets, may hold anything; its parent is the second word behind.
            parent = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(directory.name))
    found = list(children.get(pid, ()))
    for each in found:
        found += children.get(each, ())
    return found
