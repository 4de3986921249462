"""What the choices about path profiles cost: where paths are cut, time, and context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.builds import Way, trodden
from bench.figures.increments import PathIncrements, path_increments
from bench.programs import Program
from bench.series import Series
from bench.textual import added, middle, table
from bench.ways import known

_LIMITS = ("256", "1024", "4096", "65536")
_DEFAULT = "1024"
_RULES = ("cheapest", "node")
_UNCUT = "none"
PATHS = "--trodden-profile=paths"
PLAIN = known("clang").way


def _cut(rule: str, limit: str) -> Way:
    flags = (f"--trodden-max-paths={limit}", f"--trodden-cut-by={rule}")
    return trodden(f"paths-{rule}-{limit}", "-O2", PATHS, *flags)


CUTTING = {(rule, limit): _cut(rule, limit) for limit in _LIMITS for rule in _RULES}
CUTTING["loops", _DEFAULT] = _cut("loops", _DEFAULT)
CUTTING["", _UNCUT] = trodden("paths-uncut", "-O2", PATHS, f"--trodden-max-paths={_UNCUT}")
OPTIONS = {
    "paths": known("paths").way,
    "with cycles": trodden("paths-cycles", "-O2", PATHS, "--trodden-metric=cycles"),
    "in context": trodden("paths-context", "-O2", PATHS, "--trodden-context=on"),
}


@dataclass(frozen=True)
class Choices:
    """One program in several ways, and what the profile of each says of its counters, by the build's name."""

    series: Series
    increments: dict[str, PathIncrements]

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return {
            "instructions": self.series.instructions,
            "seconds": self.series.seconds,
            "increments": {name: asdict(found) for name, found in self.increments.items()},
        }


def measure(program: Program, ways: Sequence[Way], rounds: int = 0) -> Choices:
    """Build and measure in these ways, and plain."""
    series = Series.of(program)
    series.add(PLAIN)
    increments = {}
    for way in ways:
        series.add(way)
        increments[way.name] = path_increments(series.profile(way))
    series.count_instructions()
    series.take_times(rounds)
    return Choices(series, increments)


def cutting_table(measured: Sequence[Choices]) -> str:
    """For every rule and limit: added instructions, and cuts taken for a thousand increments."""
    head = ["cutting", "most paths"]
    for each in measured:
        name = each.series.program.name
        head += [name, "cut functions", "cuts / 1000", "hashed / 1000"]
    rows = []
    for (rule, limit), way in CUTTING.items():
        row = [rule or "not at all", limit]
        for each in measured:
            found = each.increments[way.name]
            row += [
                added(each.series.instruction_ratio(way.name, PLAIN.name)),
                str(found.functions_cut),
                f"{1000 * found.cut_share:.1f}",
                f"{1000 * found.hashed_share:.1f}",
            ]
        rows.append(row)
    return table(head, rows)


def option_table(measured: Sequence[Choices]) -> str:
    """What time and context cost beside paths alone."""
    timed = all(each.series.seconds for each in measured)
    rows = []
    for each in measured:
        series = each.series
        row = [series.program.name]
        row += [added(series.instruction_ratio(way.name, PLAIN.name)) for way in OPTIONS.values()]
        row += [f"{each.increments[way.name].walked:,}" for way in OPTIONS.values()]
        if timed:
            row += [added(middle(series.time_ratios(way.name, PLAIN.name))[0]) for way in OPTIONS.values()]
            row += [added(series.best_ratio(way.name, PLAIN.name)) for way in OPTIONS.values()]
        rows.append(row)
    columns = ["instructions", "paths walked", *(("time", "shortest") if timed else ())]
    return table(["options", *(f"{what}: {name}" for what in columns for name in OPTIONS)], rows)
