"""Instructions of a whole process by callgrind, its start and the writing of a profile included."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from bench.measures.model import Json, RunMeasure
from bench.run.callgrind import counting, instruction_count
from bench.run.executables import run_of
from bench.run.runs import Run
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError

_STRIP = "strip"


@dataclass(frozen=True)
class Instructions(RunMeasure):
    """The instructions of all threads together."""

    kind: ClassVar[str] = "instructions"

    @property
    def tools(self) -> tuple[str, ...]:
        """Callgrind is part of valgrind."""
        return ("valgrind", _STRIP)

    def measure(self, program: SuiteProgram) -> Json:
        """Run once under callgrind."""
        run = run_of(program, self.config, self.case, "callgrind")
        run.directory.parent.mkdir(parents=True, exist_ok=True)
        log = run.directory.with_suffix(".log")
        replace(run, executable=_stripped(run)).execute(counting(log))
        return instruction_count(log)


def _stripped(run: Run) -> Path:
    """A copy without symbols, some of which valgrind cannot read; it executes the same instructions."""
    bare = run.directory.with_suffix(".bare")
    command = [_STRIP, "-o", str(bare), str(run.executable)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{run.what}: {_STRIP} failed: {done.stderr.strip()}")
    return bare
