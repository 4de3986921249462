from __future__ import annotations

import os
from pathlib import Path

from bench.run.process_memory import MemoryWatcher


def test_memory_is_that_of_the_program_alone(tmp_path: Path) -> None:
    # This process is far larger than its child, and the system counts its size until exec.
    watcher = MemoryWatcher()
    command = [*watcher.before, "/bin/true"]
    pid = os.posix_spawn(command[0], command, {})
    watcher.started(pid)
    status, usage = watcher.wait(pid)
    assert os.waitstatus_to_exitcode(status) == 0
    assert 0 < watcher.resident <= watcher.peak < 16 * 1048576
    assert usage.ru_utime < 0.2
