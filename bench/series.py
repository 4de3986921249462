"""Several builds of one program side by side: same input, same output, figures that can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from bench.builds import Built, Way, build
from bench.programs import Program
from bench.running import Ran, Runner, must_agree, remarks, runner
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile

# A run that is shorter than this is repeated until it is not, each time it is timed.
_SAMPLE_SECONDS = 0.5


@dataclass
class Series:
    """Builds of a program, by name; the first one is what all others have to agree with."""

    program: Program
    input_file: Path
    commands: dict[str, list[str]] = field(default_factory=dict)
    runs: dict[str, Ran] = field(default_factory=dict)
    instructions: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    @staticmethod
    def of(program: Program) -> Series:
        """A series without builds yet, on the program's own input."""
        return Series(program, program.input_file())

    def add(self, way: Way) -> Built:
        """Build in one more way, run it, and see that it does what the others do."""
        built = build(self.program, way)
        self.commands[way.name] = self.program.command(built.executable, self.input_file)
        self.runs[way.name] = self._runner(way.name).run(self.commands[way.name])
        self._must_agree(way.name, self.runs[way.name])
        return built

    def profile(self, way: Way) -> Profile:
        """What the last run of a build counted, and in the open what it admits of itself."""
        found = collect([self._runner(way.name).raw])
        remarks(self.program.name, found)
        return found

    def count_instructions(self) -> None:
        """Count the instructions of every build that has not been counted yet."""
        for name, command in self.commands.items():
            if name not in self.instructions:
                self.instructions[name], ran = self._runner(name).instructions(command)
                self._must_agree(name, ran)

    def take_times(self, rounds: int) -> None:
        """Let the builds take turns, so many rounds, and keep the mean time of a run in each."""
        first = next(iter(self.runs.values()))
        repeats = max(1, ceil(_SAMPLE_SECONDS / max(first.seconds, 0.001)))
        for _ in range(rounds):
            for name, command in self.commands.items():
                spent = sum(self._runner(name).run(command).seconds for _ in range(repeats))
                self.seconds.setdefault(name, []).append(spent / repeats)

    def instruction_ratio(self, way: str, plain: str) -> float:
        """Instructions of a build for each one of another."""
        return self.instructions[way] / self.instructions[plain]

    def time_ratios(self, way: str, plain: str) -> list[float]:
        """The time of a build beside that of another, round by round."""
        pairs = zip(self.seconds[way], self.seconds[plain], strict=True)
        return [one / other for one, other in pairs if other > 0]

    def best_ratio(self, way: str, plain: str) -> float:
        """The shortest time of a build beside the shortest of another."""
        return min(self.seconds[way]) / min(self.seconds[plain])

    def _runner(self, way: str) -> Runner:
        return runner(self.program.name, way)

    def _must_agree(self, way: str, ran: Ran) -> None:
        first = next(iter(self.runs))
        must_agree(self.program.name, {first: self.runs[first], way: ran})
