"""Counts of a program that keeps books of its own, held against these."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from bench.figures.lost_counts import ROUNDS
from bench.figures.own_counts import THREADS, beside_books
from bench.measures.code import code_of
from bench.measures.model import Json, Measure, hashed
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from trodden.errors import TroddenError
from trodden.profile.from_runs import collect


@dataclass(frozen=True)
class Books(Measure):
    """What trodden has counted on *ref* beside what the program says that it has done, round by round.

    There are no rounds of a program that says nothing.
    """

    way: str
    rounds: int = ROUNDS

    @property
    def key(self) -> str:
        """By way."""
        return f"books/{self.way}"

    @property
    def ways(self) -> tuple[str, ...]:
        """The build."""
        return (self.way,)

    @property
    def exclusive(self) -> bool:
        """Threads that have to share a core with others do not meet."""
        return True

    def fingerprint(self, program: SuiteProgram) -> str:
        """The build, what it is given, which code compares, and how often."""
        code = code_of(__name__, beside_books.__module__)
        return hashed("books", str(self.rounds), code, run_fingerprint(program, self.way, "ref"))

    def take(self, program: SuiteProgram) -> Json:
        """Run as many times as there are rounds."""
        if program.name != THREADS.name:
            return []
        return [self._round(program) for _ in range(self.rounds)]

    def _round(self, program: SuiteProgram) -> Json:
        ran = run_of(program, self.way, "ref", "books").carry_out()
        try:
            found = collect(ran.raws)
        except TroddenError as error:
            raise BenchError(f"{program.name}, {self.way}: no profile: {error}") from error
        return asdict(beside_books(found, (ran.directory / "stdout").read_text()))
