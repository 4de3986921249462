"""Counts that threads lose: runs in which threads count at the same time, beside what is right.

What is right is told by builds that lose nothing: of clang and gcc by their atomic counters, of trodden by
itself.  Such a build runs once as it is, and once under valgrind, which lets one thread run at a time.
Functions in which the two differ, or that are known to do other work when threads meet in another order,
are left out, for nobody knows what they should have counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.build.configurations import known
from bench.figures.counters import Counters, Off, from_gcda, from_profdata, of_profile, off, steady, total
from bench.figures.own_counts import SAME_WORK
from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.oracles.gcov import called
from bench.oracles.llvm_cov import LLVM_PROFDATA
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.runs import Ran
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.errors import TroddenError
from trodden.profile.from_runs import collect

ROUNDS = 5
EXACT = {"clang-ir": "clang-ir-atomic", "gcc-arcs": "gcc-arcs-atomic"}
"""The ways whose counters say what those of others should be; all others speak for themselves."""

_GCOV_DUMP = "gcov-dump"
_CODE = (__name__, of_profile.__module__)
_EVERYTHING = re.compile("")
_IN_TURN = ("valgrind", "--tool=none", "-q")


@dataclass(frozen=True)
class Lost(Measure):
    """Wrong counts of a build on *ref*, round by round."""

    way: str
    rounds: int = ROUNDS

    @property
    def key(self) -> str:
        """By way."""
        return f"lost/{self.way}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build, and the one that is right."""
        return tuple(dict.fromkeys([self.way, self._exact]))

    @property
    def exclusive(self) -> bool:
        """Threads that have to share a core with others do not meet."""
        return True

    @property
    def tools(self) -> tuple[str, ...]:
        """Valgrind, and what reads the profile."""
        way = known(self.way).way
        reader = () if way.trodden else (_GCOV_DUMP,) if way.cc[0] == "gcc" else (LLVM_PROFDATA,)
        return ("valgrind", *reader)

    @property
    def _exact(self) -> str:
        return EXACT.get(self.way, self.way)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The builds, what they are given, what is compared by which code, and how often."""
        runs = [run_fingerprint(program, way, "ref") for way in self.ways]
        return hashed("lost", str(self.rounds), _work(program).pattern, code_of(*_CODE), *runs)

    def take(self, program: SuiteProgram) -> Json:
        """Find out what is right, then run as many times as there are rounds."""
        runs = [self._counters(program, self._exact, under) for under in (_IN_TURN, ())]
        work = _work(program)
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

    def _round(self, program: SuiteProgram, exact: Counters) -> Off:
        found = self._counters(program, self.way)
        if unknown := exact.keys() - found.keys():
            raise BenchError(
                f"{program.name}: {self.way} knows nothing of {min(unknown)}, which {self._exact} has counted"
            )
        return off(exact, found)

    def _counters(self, program: SuiteProgram, way: str, under: Sequence[str] = ()) -> Counters:
        ran = run_of(program, way, "ref", "lost").carry_out(under)
        found = counters(ran, way)
        if not found:
            raise BenchError(f"{program.name}, {way}: the run has left no counters in {ran.directory}")
        return found


def _work(program: SuiteProgram) -> re.Pattern[str]:
    """The functions whose work does not depend on the order in which threads meet."""
    return SAME_WORK.get(program.name, _EVERYTHING)


def counters(ran: Ran, way: str) -> Counters:
    """All counters of a run, whoever has made the build."""
    if known(way).way.trodden:
        try:
            return of_profile(collect(ran.raws))
        except TroddenError as error:
            raise BenchError(f"{way}: no profile: {error}") from error
    if ran.profraws:
        shown = [LLVM_PROFDATA, "show", "--counts", "--all-functions", *_names(ran, ran.profraws)]
        return from_profdata(called(shown, ran.directory).splitlines())
    return from_gcda(called([_GCOV_DUMP, "-l", *_names(ran, ran.gcdas)], ran.directory).splitlines())


def _names(ran: Ran, files: Sequence[Path]) -> list[str]:
    """Files as seen from the directory of the run, so that they are called the same in every run."""
    return [str(path.relative_to(ran.directory)) for path in files]
