"""Times of builds that run in turn, so that other activity of the machine affects all of them alike.

In every round each build runs once, in an order of its own; ratios are computed within a round.  Rounds are
kept one by one.  All tables share them: builds that are added later, or have changed since, catch up in
further rounds together with their baselines.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass, replace
from math import ceil
from random import Random

from bench.build.configurations import baseline_of, with_baselines
from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.run.executables import run_of
from bench.run.fingerprints import build_fingerprint, execution_code
from bench.run.inputs import case_fingerprint
from bench.run.runs import TIMED, RunResult
from bench.suite.model import CaseName, SuiteProgram
from bench.support.errors import BenchError
from bench.support.hashing import hashed

ROUNDS = 9
"""The default number of rounds."""

FEWEST = 7
"""With fewer rounds quartiles would be meaningless."""

# A run that is shorter than this is repeated within a round.
_SAMPLE_SECONDS = 0.3

_repeats: dict[tuple[str, str, str], int] = {}


@dataclass(frozen=True)
class Times(Measure):
    """Times of some builds and their baselines on a case, round by round.

    A round is kept as ``{config: [processor seconds, elapsed seconds]}``; ``builds`` are the fingerprints of
    the builds that were measured.
    """

    requested: tuple[str, ...]
    case: CaseName = "long"
    rounds: int = ROUNDS

    @property
    def key(self) -> str:
        """By case; all configurations share it."""
        return f"times/{self.case}"

    @property
    def configs(self) -> tuple[str, ...]:
        """All builds, baselines first."""
        return with_baselines(self.requested)

    @property
    def exclusive(self) -> bool:
        """Nothing else may run."""
        return True

    def fingerprint(self, program: SuiteProgram) -> str:
        """The input; the fingerprints of builds are part of what is kept."""
        return hashed(code_of(__name__), execution_code(), case_fingerprint(program, self.case))

    def measure(self, program: SuiteProgram) -> Json:
        """All rounds at once."""
        value = None
        while self.remaining(program, value):
            value = self.extend(program, value)
        return value

    def extend(self, program: SuiteProgram, before: Json) -> Json:
        """One more round of the builds that lack one."""
        value = self._current(program, before)
        lacking = with_baselines(self._lacking(value))
        rounds = value["rounds"]
        for config in lacking:
            self._warm_up(program, config)
        order = list(lacking)
        Random(f"{program.name} {self.case} {len(rounds)}").shuffle(order)
        samples = {config: self._sample(program, config) for config in order}
        return {
            "rounds": [*rounds, {config: samples[config] for config in lacking}],
            "builds": value["builds"] | {config: build_fingerprint(program, config) for config in lacking},
        }

    def remaining(self, program: SuiteProgram, value: Json) -> int:
        """The rounds until every build has enough."""
        current = self._current(program, value)
        return max(self.rounds - self._together(current, config) for config in self.configs)

    def merged(self, other: Measure) -> Measure:
        """The builds of both."""
        if not isinstance(other, Times):
            raise BenchError(f"{self.key} is not one measure")
        requested = tuple(dict.fromkeys([*self.requested, *other.requested]))
        return replace(self, requested=requested, rounds=max(self.rounds, other.rounds))

    def without(self, configs: Collection[str]) -> Measure | None:
        """The builds that still have their baselines."""
        requested = tuple(
            config for config in self.configs if config not in configs and baseline_of(config) not in configs
        )
        return replace(self, requested=requested) if requested else None

    def part(self, program: SuiteProgram, value: Json) -> Json:
        """The rounds of these builds alone, without builds that have changed since."""
        current, configs = self._current(program, value), self.configs
        rounds = [
            {config: each[config] for config in configs if config in each} for each in current["rounds"]
        ]
        return {"rounds": [each for each in rounds if each]}

    def _current(self, program: SuiteProgram, value: Json) -> Json:
        """What is kept, without the samples of builds that have changed since."""
        if value is None:
            return {"rounds": [], "builds": {}}
        builds = {
            config: state
            for config, state in value["builds"].items()
            if config not in self.configs or state == build_fingerprint(program, config)
        }
        rounds = [{config: each[config] for config in each if config in builds} for each in value["rounds"]]
        return {"rounds": [each for each in rounds if each], "builds": builds}

    def _lacking(self, value: Json) -> list[str]:
        """The builds that have too few rounds together with their baselines."""
        return [config for config in self.configs if self._together(value, config) < self.rounds]

    def _together(self, value: Json, config: str) -> int:
        """The rounds that a build has together with its baseline, at most as many as are requested."""
        both = sum(config in each and baseline_of(config) in each for each in value["rounds"])
        return min(both, self.rounds)

    def _warm_up(self, program: SuiteProgram, config: str) -> None:
        """One run that does not count, which determines how many runs make a sample."""
        key = (program.name, config, self.case)
        if key not in _repeats:
            result = self._run(program, config)
            _repeats[key] = max(1, ceil(_SAMPLE_SECONDS / max(result.seconds, 0.001)))

    def _sample(self, program: SuiteProgram, config: str) -> list[float]:
        results = [self._run(program, config) for _ in range(_repeats[program.name, config, self.case])]
        total = (sum(each.seconds for each in results), sum(each.elapsed for each in results))
        return [round(each / len(results), 6) for each in total]

    def _run(self, program: SuiteProgram, config: str) -> RunResult:
        """One run, whose directory is removed, since it may be in memory."""
        run = run_of(program, config, self.case, TIMED)
        try:
            return run.execute()
        finally:
            shutil.rmtree(run.directory, ignore_errors=True)
