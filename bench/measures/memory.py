"""The memory of a run: what was resident at its end and at its peak, mapped counters included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bench.measures.model import Json, RunMeasure
from bench.run.executables import run_of
from bench.run.process_memory import MemoryWatcher
from bench.suite.model import SuiteProgram

_RUNS = 5


@dataclass(frozen=True)
class Memory(RunMeasure):
    """Bytes resident at the peak (``most``) and at the ``end``, of each run.

    How much of a library is resident depends on what else the system does, so there are several runs.
    """

    kind: ClassVar[str] = "memory"

    def measure(self, program: SuiteProgram) -> Json:
        """Run, and read the memory just before each process ends."""
        run = run_of(program, self.config, self.case, "memory")
        watchers = [MemoryWatcher() for _ in range(_RUNS)]
        for watcher in watchers:
            run.execute(waiter=watcher)
        return {"most": [each.peak for each in watchers], "end": [each.resident for each in watchers]}
