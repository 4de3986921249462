"""How well a program that has not run is foretold: scores of several estimates against its measured runs.

The program is built without optimisation or with it, by a build that keeps its IR, and run in all its ways
by a script of ours (:mod:`bench.run.scripted`).  LLVM is asked about that very IR.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.figures.estimates import FITTED_TO, Scores, scores
from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.oracles.llvm_estimate import OPT, llvm_local
from bench.run.fingerprints import Once
from bench.run.scripted import Subject, every_subject, follows_from, prepare
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.collect.binary.program import read_program
from trodden.estimate.estimate import estimate
from trodden.profile.store.trod import load
from trodden.weigh.heuristics.rates import WL94, Rates, default_rates

PAPER = "wl94"
SHIPPED = "shipped"
LLVM = "llvm"
LEVELS = ("O0", "O2")

_fingerprints: Once[str] = Once()


def subject_of(name: str, level: str) -> Subject:
    """The program of this name among those that are estimated."""
    for subject in every_subject(level):
        if subject.name == name:
            return subject
    raise BenchError(f"{name}: is not among the programs that are estimated")


def is_scored(program: SuiteProgram) -> bool:
    """Whether estimates of it are scored: it has runs of its own, and shipped rates were not fitted to it."""
    known = {subject.name for subject in every_subject(LEVELS[0])}
    return program.name in known and program.name not in FITTED_TO


def scores_with(subject: Subject, rates: Rates) -> Scores:
    """Estimate a program that was prepared with some rates, and score that."""
    units = list(read_program(subject.executable).units.values())
    return scores(estimate(subject.name, units, rates), load(subject.measured))


@dataclass(frozen=True)
class Estimated(Measure):
    """Scores of estimates with the paper's rates, with those that come with trodden, and with LLVM's odds.

    LLVM looks at one function at a time, so the calls on top of its frequencies are ours.
    """

    level: str

    @property
    def key(self) -> str:
        """The name that the figure is kept under."""
        return f"estimated/{self.level}"

    @property
    def tools(self) -> tuple[str, ...]:
        """LLVM's own estimate comes from there."""
        return (OPT,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The runs, the rates, which are no source of trodden, and the code that scores."""
        return _fingerprints.get((program.name, self.level), lambda: self._fingerprint(program.name))

    def _fingerprint(self, name: str) -> str:
        rates = [repr(sorted(each.taken.items())) for each in (WL94, default_rates())]
        code = code_of(__name__, scores.__module__, llvm_local.__module__)
        return hashed(follows_from(subject_of(name, self.level)), code, *rates)

    def take(self, program: SuiteProgram) -> Json:
        """Build, run, estimate and score."""
        subject = subject_of(program.name, self.level)
        prepare([subject], 1)
        measured = load(subject.measured)
        units = list(read_program(subject.executable).units.values())
        llvm = estimate(subject.name, units, WL94, llvm_local(subject.ir))
        return {
            PAPER: scores(estimate(subject.name, units, WL94), measured),
            SHIPPED: scores(estimate(subject.name, units, default_rates()), measured),
            LLVM: scores(llvm, measured),
        }
