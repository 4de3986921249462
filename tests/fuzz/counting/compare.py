"""What trodden has counted, beside what the program has counted by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.counting.configuration import Configuration
from tests.fuzz.counting.observed import Line, Observed
from tests.fuzz.counting.program import Program
from tests.fuzz.counting.sequences import ALONE, compare_sequences
from tests.fuzz.counting.traced import compare_trace, damages
from tests.fuzz.counting.walks import compare_walks
from trodden.api.traces import with_counts
from trodden.profile.model import Profile
from trodden.source.lines import line_counts


@dataclass(frozen=True)
class Difference:
    """A count that is not what the program says it is."""

    what: str
    counted: object
    expected: object

    def __str__(self) -> str:
        return f"{self.what}: counted {self.counted}, expected {self.expected}"


@dataclass(frozen=True)
class Comparison:
    """All that was compared, and where both differ."""

    compared: Counter[str]
    differences: tuple[Difference, ...]


def compare(program: Program, configuration: Configuration, seen: Observed, profile: Profile) -> Comparison:
    """Lines, and for functions of jumps edges and paths where the blocks are those of the source."""
    compared: Counter[str] = Counter()
    found: list[Difference] = []
    unfinished = 0 if program.exact else _unfinished(program, seen)
    if profile.traces is not None:
        found += [Difference(f"the trace is damaged in {each}", "so", "nowhere") for each in damages(profile)]
        for what, told, expected_order in compare_sequences(program, seen, profile, compared):
            found.append(Difference(what, told, expected_order))
        profile = with_counts(profile)
    for line, counted in _lines(program, configuration, profile):
        compared["lines"] += 1
        expected = seen.lines.get(line, 0)
        if counted is not None and abs(counted - expected) > unfinished:
            found.append(Difference(f"{_name(program, line)}:{line[1]}", counted, expected))
    if program.exact:
        for name, function in profile.functions.items():
            found += [Difference(f"flow of {name}", each, "none") for each in function.violations]
        # A child of a fork continues the walks of its parent under their numbers.
        if (
            configuration.level == "-O0"
            and not program.features.forks
            and not program.guarded
            and seen.complete
        ):
            # Traces know what follows a call apart from what is before it, and so more than marks tell.
            comparing = compare_walks if profile.traces is None else compare_trace
            for what, number, expected_number in comparing(program, seen, profile, compared):
                found.append(Difference(what, number, expected_number))
    return Comparison(compared, tuple(found))


def _name(program: Program, line: Line) -> str:
    return f"{('first', 'second')[line[0]]}.{program.suffix}"


def _unfinished(program: Program, seen: Observed) -> int:
    """At most how many functions were active at the end."""
    texts = (program.first.splitlines(), program.second.splitlines())
    return 2 + sum(
        1 for walk in seen.walks if not texts[walk[-1][0]][walk[-1][1]].strip().startswith("return x;")
    )


def _lines(
    program: Program, configuration: Configuration, profile: Profile
) -> Iterator[tuple[Line, int | None]]:
    """The count of every line that counts itself; ``None`` if the profile leaves it in doubt."""
    texts = (program.first, program.second)
    paths = [_path(profile, _name(program, (number, 0))) for number in range(2)]
    if configuration.as_written:
        counts = line_counts(profile)
        for number, text in enumerate(texts):
            of_file = counts.get(paths[number], {})
            for index, line in enumerate(text.splitlines(), 1):
                if ("HIT()" in line or "MARK()" in line) and "if (0)" not in line:
                    here = of_file.get(index)
                    yield (number, index), 0 if here is None else int(here.count) if here.exact else None
        return
    blocks: Counter[tuple[str, int]] = Counter()
    for function in profile.functions.values():
        for block in function.blocks:
            for path, line_number, _ in {
                (function.files[ref.file].path, ref.line, ref.instance) for ref in block.lines
            }:
                blocks[path, line_number] += int(block.count)
    for number, text in enumerate(texts):
        for index, line in enumerate(text.splitlines(), 1):
            if ALONE.match(line):
                yield (number, index), blocks[paths[number], index]


def _path(profile: Profile, name: str) -> str:
    found = {
        file.path
        for function in profile.functions.values()
        for file in function.files
        if Path(file.path).name == name
    }
    return found.pop() if found else name
