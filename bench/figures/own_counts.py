"""The counts of *threads* compared with the reference counts that the program keeps by itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from bench.figures.lost_counts import ROUNDS, Deviation
from bench.measures.code import code_of
from bench.measures.model import BuildMeasure, Json
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.profiles import collected
from bench.suite.model import SuiteProgram
from bench.suite.threaded import THREADS
from bench.support.errors import BenchError
from bench.support.hashing import hashed
from trodden.profile.model import Profile

_HOT = "step"


@dataclass(frozen=True)
class OwnCounts(BuildMeasure):
    """Wrong counts of trodden on *ref* by the program's own account, round by round.

    Of a program that keeps no reference counts there are no rounds.
    """

    rounds: int = ROUNDS
    kind: ClassVar[str] = "books"

    @property
    def exclusive(self) -> bool:
        """Threads that share a core with other processes seldom count at the same time."""
        return True

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build, its input, the code that compares, and the number of rounds."""
        run = run_fingerprint(program, self.config, "ref")
        return hashed(self.kind, str(self.rounds), code_of(__name__), run)

    def measure(self, program: SuiteProgram) -> Json:
        """Run once a round."""
        if program.name != THREADS.name:
            return []
        return [self._round(program) for _ in range(self.rounds)]

    def _round(self, program: SuiteProgram) -> Json:
        run = run_of(program, self.config, "ref", self.kind)
        result = run.execute()
        return asdict(compare_own_counts(collected(result, run.what), result.stdout.read_text()))


def compare_own_counts(profile: Profile, printed: str) -> Deviation:
    """Compare entries of all functions, and both directions of the branch in the hot one."""
    reference = {name: int(count) for name, count in map(str.split, printed.splitlines())}
    odd = reference.pop("odd")
    found = {name: int(function.entries) for name, function in profile.functions.items()}
    wrong = sum(abs(found.get(name, 0) - count) for name, count in reference.items())
    hot = profile.functions[_HOT]
    taken = sorted(int(edge.count or 0) for edge in hot.edges if edge.src == hot.blocks[0].id)
    expected = sorted((odd, reference[_HOT] - odd))
    if len(taken) != len(expected):
        raise BenchError(
            f"{_HOT}: its first block was compiled with {len(taken)} successors; it should have "
            f"{len(expected)}"
        )
    wrong += sum(abs(one - other) for one, other in zip(taken, expected, strict=True))
    return Deviation(wrong, sum(reference.values()) + reference[_HOT])
