"""The memory of a run: what was resident at its end and at most, mapped counters included."""

from __future__ import annotations

from dataclasses import dataclass

from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.process_memory import Watcher
from bench.suite.model import CaseName, SuiteProgram

_RUNS = 5


@dataclass(frozen=True)
class Memory(Measure):
    """The memory of a build on a case, in bytes: ``most`` ever resident, and at the ``end``, of each run.

    How much of a library is resident depends on what else the system does, so there are several runs.
    """

    way: str
    case: CaseName = "ref"

    @property
    def key(self) -> str:
        """By way and case."""
        return f"memory/{self.way}/{self.case}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build and what it is given."""
        return hashed(code_of(__name__), run_fingerprint(program, self.way, self.case))

    def take(self, program: SuiteProgram) -> Json:
        """Run and ask on the way out."""
        run = run_of(program, self.way, self.case, "memory")
        watchers = [Watcher() for _ in range(_RUNS)]
        for watcher in watchers:
            run.carry_out(waiter=watcher)
        return {"most": [each.most for each in watchers], "end": [each.resident for each in watchers]}
