"""Instructions of a whole run by callgrind: what leads to main and the writing of a profile included."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.callgrind import callgrind, collected
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.runs import Run
from bench.suite.model import CaseName, SuiteProgram
from bench.support.errors import BenchError

_STRIP = "strip"


@dataclass(frozen=True)
class Instructions(Measure):
    """The instructions of a build on a case, of all its threads together."""

    way: str
    case: CaseName = "ref"

    @property
    def key(self) -> str:
        """By way and case."""
        return f"instructions/{self.way}/{self.case}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    @property
    def tools(self) -> tuple[str, ...]:
        """Valgrind has callgrind."""
        return ("valgrind", _STRIP)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build and what it is given."""
        return hashed(code_of(__name__), run_fingerprint(program, self.way, self.case))

    def take(self, program: SuiteProgram) -> Json:
        """Run once under callgrind."""
        run = run_of(program, self.way, self.case, "callgrind")
        run.directory.parent.mkdir(parents=True, exist_ok=True)
        log = run.directory.with_suffix(".log")
        replace(run, executable=_stripped(run)).carry_out(callgrind(log))
        return collected(log)


def _stripped(run: Run) -> Path:
    """A copy without symbols: it executes the same, and valgrind stumbles over some that linkers write."""
    bare = run.directory.with_suffix(".bare")
    command = [_STRIP, "-o", str(bare), str(run.executable)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{run.what}: {_STRIP} failed: {done.stderr.strip()}")
    return bare
