"""Processes of an interrupted benchmark: they must not continue to build into the same directories.

A benchmark that is interrupted kills its children.  One that is killed cannot, so the next one does: all
processes of a benchmark have a variable in their environment.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from bench.support.directories import WORK

_MARK = "TRODDEN_BENCH"


def kill_children() -> None:
    """Kill all descendants of this process."""
    for pid in _descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def kill_leftovers() -> None:
    """Kill what a killed benchmark has left, and mark what this one is going to start.

    To be called only while no other benchmark can be running in this checkout.
    """
    mark = f"{_MARK}={WORK}".encode()
    for directory in Path("/proc").glob("[0-9]*"):
        pid = int(directory.name)
        try:
            if pid != os.getpid() and mark in (directory / "environ").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
        except OSError:
            # It has ended in the meantime, or belongs to another user.
            continue
    os.environ[_MARK] = str(WORK)


def _descendants(pid: int) -> list[int]:
    """All descendants of a process, children before grandchildren."""
    children: dict[int, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            # The name of the program, in parentheses, may contain anything; the parent follows the state.
            parent = int((directory / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(directory.name))
    found = list(children.get(pid, ()))
    for each in found:
        found += children.get(each, ())
    return found
