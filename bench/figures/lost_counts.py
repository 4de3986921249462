"""Counts that threads lose: runs in which threads count concurrently, compared with exact counts.

Exact counts come from builds that lose nothing: for clang and gcc from their atomic counters, for trodden
from itself.  Such a build runs once normally and once under valgrind, which executes one thread at a time.
Functions in which the two runs differ, and functions whose work depends on the schedule of the threads, are
left out, since their exact counts are not known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

from bench.build.configurations import config_of
from bench.build.toolchain import output_of
from bench.measures.code import code_of
from bench.measures.model import BuildMeasure, Json
from bench.oracles.counters import Counters, from_gcda, from_profdata, of_profile
from bench.oracles.llvm_cov import LLVM_PROFDATA
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.profiles import collected
from bench.run.runs import RunResult
from bench.suite.model import SuiteProgram
from bench.suite.threaded import SAME_WORK
from bench.support.errors import BenchError
from bench.support.hashing import hashed

ROUNDS = 5
EXACT = {"clang-ir": "clang-ir-atomic", "gcc-arcs": "gcc-arcs-atomic"}
"""The configurations whose counters are exact for those of others; all others are their own reference."""

_GCOV_DUMP = "gcov-dump"
_EVERYTHING = re.compile("")
_SERIALIZED = ("valgrind", "--tool=none", "-q")


@dataclass(frozen=True)
class LostCounts(BuildMeasure):
    """Wrong counts of a build on *ref*, round by round."""

    rounds: int = ROUNDS
    kind: ClassVar[str] = "lost"

    @property
    def configs(self) -> tuple[str, ...]:
        """The build, and the one whose counts are exact."""
        return tuple(dict.fromkeys([self.config, self._exact]))

    @property
    def exclusive(self) -> bool:
        """Threads that share a core with other processes seldom count at the same time."""
        return True

    @property
    def tools(self) -> tuple[str, ...]:
        """Valgrind, and what reads the profile."""
        config = config_of(self.config)
        reader = () if config.trodden else (_GCOV_DUMP,) if config.compiler == "gcc" else (LLVM_PROFDATA,)
        return ("valgrind", *reader)

    @property
    def _exact(self) -> str:
        return EXACT.get(self.config, self.config)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The builds, their input, the code that compares and what it compares, and the rounds."""
        runs = [run_fingerprint(program, config, "ref") for config in self.configs]
        work = _same_work(program).pattern
        return hashed(self.kind, str(self.rounds), work, code_of(__name__), *runs)

    def measure(self, program: SuiteProgram) -> Json:
        """Determine the exact counts, then run once a round."""
        runs = [self._counters(program, self._exact, under) for under in (_SERIALIZED, ())]
        work = _same_work(program)
        exact = {name: counts for name, counts in steady(runs).items() if work.search(name)}
        found = [self._round(program, exact) for _ in range(self.rounds)]
        return {
            "functions": len(exact),
            "of functions": len(runs[0]),
            "counts": total(exact),
            "of counts": total(runs[0]),
            "left out": sorted(name for name in runs[0] if work.search(name) and name not in exact),
            "rounds": [asdict(each) for each in found],
        }

    def _round(self, program: SuiteProgram, exact: Counters) -> Deviation:
        found = self._counters(program, self.config)
        if unknown := exact.keys() - found.keys():
            raise BenchError(
                f"{program.name}: {self.config} has no counts of {min(unknown)}, which {self._exact} has"
            )
        return deviation(exact, found)

    def _counters(self, program: SuiteProgram, config: str, under: Sequence[str] = ()) -> Counters:
        run = run_of(program, config, "ref", self.kind)
        result = run.execute(under)
        found = counters(result, config, run.what)
        if not found:
            raise BenchError(f"{run.what}: the run has left no counters in {result.directory}")
        return found


def _same_work(program: SuiteProgram) -> re.Pattern[str]:
    """The functions whose work does not depend on the schedule of the threads."""
    return SAME_WORK.get(program.name, _EVERYTHING)


def counters(result: RunResult, config: str, what: str) -> Counters:
    """All counters of a run, whichever profiler wrote them."""
    if config_of(config).trodden:
        return of_profile(collected(result, what))
    if result.profraw_files:
        files = _relative(result, result.profraw_files)
        command = [LLVM_PROFDATA, "show", "--counts", "--all-functions", *files]
        return from_profdata(output_of(command, result.directory).splitlines())
    command = [_GCOV_DUMP, "-l", *_relative(result, result.gcda_files)]
    return from_gcda(output_of(command, result.directory).splitlines())


def _relative(result: RunResult, files: Sequence[Path]) -> list[str]:
    """Files relative to the directory of the run, so that their names are the same in every run."""
    return [str(path.relative_to(result.directory)) for path in files]


def steady(runs: Sequence[Counters]) -> Counters:
    """The functions that have the same counts in all runs: their work does not depend on the schedule."""
    first, *others = runs
    return {
        name: counts for name, counts in first.items() if all(each.get(name) == counts for each in others)
    }


@dataclass(frozen=True)
class Deviation:
    """The number of wrong counts, of all counts that there should be."""

    wrong: int
    of: int


def deviation(exact: Counters, found: Counters) -> Deviation:
    """How far counters are from the exact ones, in the functions of which these are known."""
    wrong = sum(_distance(counts, found.get(name, {})) for name, counts in exact.items())
    return Deviation(wrong, total(exact))


def total(counters: Counters) -> int:
    """The sum of all counts."""
    return sum(sum(counts.values()) for counts in counters.values())


def _distance(one: Mapping[int, int], other: Mapping[int, int]) -> int:
    return sum(abs(one.get(counter, 0) - other.get(counter, 0)) for counter in {*one, *other})
