"""What it costs to keep the last paths of each thread beside their counts."""

from __future__ import annotations

from collections.abc import Sequence

from bench.builds import trodden
from bench.path_choices import PATHS, PLAIN, Choices, measure
from bench.programs import Program
from bench.textual import added, middle, table
from bench.ways import known

_ALONE = known("paths").way
_SHORT = trodden("paths-last-64", "-O2", PATHS, "--trodden-last=64")
_LONG = trodden("paths-last-4096", "-O2", PATHS, "--trodden-last=4096")
_WAYS = (_ALONE, _SHORT, _LONG)
_SHOWN = ("paths", "last 64", "last 4096")


def measure_lasts(program: Program, rounds: int) -> Choices:
    """Build and measure paths alone and with the last ones kept."""
    return measure(program, _WAYS, rounds)


def lasts_table(measured: Sequence[Choices]) -> str:
    """Instructions and time, and how many instructions more each path costs that comes to its end."""
    timed = all(each.series.seconds for each in measured)
    rows = []
    for each in measured:
        series = each.series
        more = series.instructions[_SHORT.name] - series.instructions[_ALONE.name]
        row = [series.program.name]
        row += [added(series.instruction_ratio(way.name, PLAIN.name)) for way in _WAYS]
        row += [f"{series.instruction_ratio(_SHORT.name, _ALONE.name):.2f}"]
        row += [f"{more / max(1, each.increments[_SHORT.name].ended):.2f}"]
        if timed:
            row += [added(middle(series.time_ratios(way.name, PLAIN.name))[0]) for way in _WAYS]
        rows.append(row)
    head = ["last paths", *(f"instructions: {name}" for name in _SHOWN), "beside paths", "for each path end"]
    return table([*head, *(f"time: {name}" for name in _SHOWN if timed)], rows)
