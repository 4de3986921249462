"""How well the profile of a program is estimated without running it: scores of several estimates.

The program is built without optimisation or with it, by a build that keeps its IR, and run by its workload
(:mod:`bench.run.scripted`).  LLVM's estimates are made of the same IR.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.figures.estimate_scores import Scores, scores
from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.oracles.llvm_estimate import OPT, llvm_local
from bench.run.scripted import ScriptedProgram
from bench.suite import ESTIMATED
from bench.suite.calibration import FITTED_TO
from bench.suite.model import Program, SuiteProgram
from bench.support.hashing import hashed
from bench.support.memo import Memo
from trodden.collect.binary.program import read_program
from trodden.estimating.estimate import estimate
from trodden.profile.store.trod import load
from trodden.weigh.heuristics.rates import WL94, Rates, default_rates

PAPER = "wl94"
SHIPPED = "shipped"
LLVM = "llvm"
LEVELS = ("O0", "O2")

_fingerprints: Memo[str] = Memo()


def scripted_programs(level: str) -> list[ScriptedProgram]:
    """All programs that have a workload, at a level of optimisation."""
    return [ScriptedProgram(program, level) for program in ESTIMATED]


def is_scored(program: Program) -> bool:
    """Whether estimates of it are scored: it has a workload, and the shipped rates were not fitted to it."""
    return program.workload is not None and program.name not in FITTED_TO


def scores_with(scripted: ScriptedProgram, rates: Rates) -> Scores:
    """The scores of an estimate with some rates."""
    units = list(read_program(scripted.executable()).units.values())
    return scores(estimate(scripted.name, units, rates), load(scripted.profile()))


@dataclass(frozen=True)
class EstimateEvaluation(Measure):
    """Scores of estimates with the paper's rates, with those of trodden, and with LLVM's probabilities.

    LLVM analyses one function at a time, so the calls on top of its frequencies are ours.
    """

    level: str

    @property
    def key(self) -> str:
        """By level of optimisation."""
        return f"estimated/{self.level}"

    @property
    def tools(self) -> tuple[str, ...]:
        """LLVM's own estimates."""
        return (OPT,)

    def fingerprint(self, program: SuiteProgram) -> str:
        """The runs, the rates, and the code that scores."""
        return _fingerprints.get((program.name, self.level), lambda: self._fingerprint(program))

    def _fingerprint(self, program: SuiteProgram) -> str:
        rates = [repr(sorted(each.taken.items())) for each in (WL94, default_rates())]
        return hashed(ScriptedProgram(program, self.level).fingerprint(), code_of(__name__), *rates)

    def measure(self, program: SuiteProgram) -> Json:
        """Build, run, estimate and score."""
        scripted = ScriptedProgram(program, self.level)
        measured = load(scripted.profile())
        units = list(read_program(scripted.executable()).units.values())
        llvm = estimate(scripted.name, units, WL94, llvm_local(scripted.ir))
        return {
            PAPER: scores(estimate(scripted.name, units, WL94), measured),
            SHIPPED: scores(estimate(scripted.name, units, default_rates()), measured),
            LLVM: scores(llvm, measured),
        }
