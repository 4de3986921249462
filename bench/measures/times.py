"""Times of builds that take turns, so that whatever else the machine does meets all of them alike.

In every round each build runs in turn, in an order of its own; ratios are those within a round.  Rounds are
kept one by one.  All tables share them: builds that are asked for later, or have changed since, catch up in
further rounds together with the plain builds that they are compared with.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass, replace
from math import ceil
from random import Random

from bench.build.configurations import peer, with_peers
from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.executables import run_of
from bench.run.fingerprints import build_fingerprint, carrying_out, case_fingerprint
from bench.run.runs import TIMED, Ran
from bench.suite.model import CaseName, SuiteProgram
from bench.support.errors import BenchError

ROUNDS = 9
"""How many rounds there are unless told otherwise."""

FEWEST = 7
"""With fewer rounds quartiles would say nothing."""

# A run that is shorter than this is repeated until it is not, each time it is timed.
_SAMPLE_SECONDS = 0.3

_repeats: dict[tuple[str, str, str], int] = {}


@dataclass(frozen=True)
class Times(Measure):
    """Times of some builds and their plain peers on a case, round by round.

    A round is kept as ``{way: [processor seconds, seconds by the clock]}``; ``builds`` are the fingerprints
    of the builds that were measured.
    """

    asked: tuple[str, ...]
    case: CaseName = "long"
    rounds: int = ROUNDS

    @property
    def key(self) -> str:
        """By case; all ways share it."""
        return f"times/{self.case}"

    @property
    def ways(self) -> tuple[str, ...]:
        """All builds, the plain ones first."""
        return with_peers(self.asked)

    @property
    def exclusive(self) -> bool:
        """Nothing else may run."""
        return True

    def fingerprint(self, program: SuiteProgram) -> str:
        """What they are given; builds have fingerprints of their own among what is kept."""
        return hashed(code_of(__name__), carrying_out(), case_fingerprint(program, self.case))

    def take(self, program: SuiteProgram) -> Json:
        """All rounds at once."""
        value = None
        while self.left(program, value):
            value = self.go_on(program, value)
        return value

    def go_on(self, program: SuiteProgram, before: Json) -> Json:
        """One more round of the builds that lack one."""
        value = self._current(program, before)
        turn = with_peers(self._lacking(value))
        rounds = value["rounds"]
        for way in turn:
            self._warm_up(program, way)
        order = list(turn)
        Random(f"{program.name} {self.case} {len(rounds)}").shuffle(order)
        taken = {way: self._sample(program, way) for way in order}
        return {
            "rounds": [*rounds, {way: taken[way] for way in turn}],
            "builds": value["builds"] | {way: build_fingerprint(program, way) for way in turn},
        }

    def left(self, program: SuiteProgram, value: Json) -> int:
        """The rounds until every build has its own."""
        current = self._current(program, value)
        return max(self.rounds - self._together(current, way) for way in self.ways)

    def joined(self, other: Measure) -> Measure:
        """The builds of both."""
        if not isinstance(other, Times):
            raise BenchError(f"{self.key} is not one measure")
        asked = tuple(dict.fromkeys([*self.asked, *other.asked]))
        return replace(self, asked=asked, rounds=max(self.rounds, other.rounds))

    def without(self, ways: Collection[str]) -> Measure | None:
        """The builds that are left with their peers."""
        asked = tuple(way for way in self.ways if way not in ways and peer(way) not in ways)
        return replace(self, asked=asked) if asked else None

    def part(self, program: SuiteProgram, value: Json) -> Json:
        """The rounds of these builds alone, as they are now."""
        kept, ways = self._current(program, value), self.ways
        rounds = [{way: each[way] for way in ways if way in each} for each in kept["rounds"]]
        return {"rounds": [each for each in rounds if each]}

    def _current(self, program: SuiteProgram, value: Json) -> Json:
        """What is kept, without the samples of builds that have changed since."""
        if value is None:
            return {"rounds": [], "builds": {}}
        builds = {
            way: state
            for way, state in value["builds"].items()
            if way not in self.ways or state == build_fingerprint(program, way)
        }
        rounds = [{way: each[way] for way in each if way in builds} for each in value["rounds"]]
        return {"rounds": [each for each in rounds if each], "builds": builds}

    def _lacking(self, value: Json) -> list[str]:
        """The builds that have too few rounds together with their peers."""
        return [way for way in self.ways if self._together(value, way) < self.rounds]

    def _together(self, value: Json, way: str) -> int:
        """The rounds that a build has together with its peer, no more than are asked for."""
        both = sum(way in each and peer(way) in each for each in value["rounds"])
        return min(both, self.rounds)

    def _warm_up(self, program: SuiteProgram, way: str) -> None:
        """One run that does not count, and from it how many make a sample."""
        place = (program.name, way, self.case)
        if place not in _repeats:
            ran = self._run(program, way)
            _repeats[place] = max(1, ceil(_SAMPLE_SECONDS / max(ran.seconds, 0.001)))

    def _sample(self, program: SuiteProgram, way: str) -> list[float]:
        runs = [self._run(program, way) for _ in range(_repeats[program.name, way, self.case])]
        total = (sum(ran.seconds for ran in runs), sum(ran.elapsed for ran in runs))
        return [round(each / len(runs), 6) for each in total]

    def _run(self, program: SuiteProgram, way: str) -> Ran:
        """One run, of which nothing is left: it may have been in memory."""
        run = run_of(program, way, self.case, TIMED)
        try:
            return run.carry_out()
        finally:
            shutil.rmtree(run.directory, ignore_errors=True)
