"""What a path profile costs: trodden's paths beside its edges and clang's, in instructions and in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.builds import clang, trodden
from bench.increments import (
    PAPER_EDGE_INCREMENTS,
    PAPER_EDGES,
    PAPER_HASHED,
    PAPER_PATHS,
    PathIncrements,
    path_increments,
)
from bench.placement import placement
from bench.programs import WORK, Program
from bench.series import Series
from bench.tables import added, geometric_mean, middle, table
from trodden.profile.store import save

PATHS = "--trodden-profile=paths"
PLAIN = clang("clang", "-O2")
IR_PGO = clang("clang-ir", "-O2", "-fprofile-generate", "-mllvm", "-disable-vp")
EDGE_PROFILE = trodden("trodden", "-O2")
PATH_PROFILE = trodden("paths", "-O2", PATHS)
_GUIDED = "paths-guided"
_SHOWN = {
    IR_PGO.name: "clang -fprofile-generate",
    EDGE_PROFILE.name: "edges",
    PATH_PROFILE.name: "paths",
    _GUIDED: "paths, guided",
}
_OURS = (EDGE_PROFILE.name, PATH_PROFILE.name, _GUIDED)


@dataclass(frozen=True)
class Costs:
    """One program in all ways: its figures, and what its profiles say of their counters."""

    series: Series
    edge_increments: int
    paths: PathIncrements
    guided: PathIncrements

    def as_json(self) -> dict[str, Any]:
        """For the file of results."""
        return {
            "version": self.series.program.version,
            "instructions": self.series.instructions,
            "seconds": self.series.seconds,
            "edge increments": self.edge_increments,
            "paths": self.paths.as_json(),
            "paths, guided": self.guided.as_json(),
        }


def measure(program: Program, rounds: int) -> Costs:
    """Build and measure; the guided build takes its weights from the run of the path profile before it."""
    series = Series.of(program)
    for way in (PLAIN, IR_PGO, EDGE_PROFILE):
        series.add(way)
    edge_increments = placement(series.profile(EDGE_PROFILE)).optimal
    series.add(PATH_PROFILE)
    profile = series.profile(PATH_PROFILE)
    weights = WORK / "weights" / f"{program.name}.trod"
    weights.parent.mkdir(parents=True, exist_ok=True)
    save(profile, weights)
    guided = replace(trodden(_GUIDED, "-O2", PATHS, f"--trodden-weights={weights}"), reads=(weights,))
    series.add(guided)
    increments = path_increments(series.profile(guided))
    series.count_instructions()
    series.take_times(rounds)
    return Costs(series, edge_increments, path_increments(profile), increments)


def instruction_table(measured: Sequence[Costs]) -> str:
    """Added instructions in percent, and for each one that clang adds."""
    return _table(
        "added instructions",
        measured,
        lambda series: f"{series.instructions[PLAIN.name] / 1e6:,.1f}M",
        lambda series, way: series.instruction_ratio(way, PLAIN.name),
    )


def time_table(measured: Sequence[Costs]) -> str:
    """Added time: the median of the rounds' ratios."""
    return _table(
        "added time, median of ratios",
        measured,
        _plain_time,
        lambda series, way: middle(series.time_ratios(way, PLAIN.name))[0],
    )


def best_time_table(measured: Sequence[Costs]) -> str:
    """Added time: the shortest against the shortest."""
    return _table(
        "added time, shortest runs",
        measured,
        _plain_time,
        lambda series, way: series.best_ratio(way, PLAIN.name),
    )


def spread_table(measured: Sequence[Costs]) -> str:
    """How far apart the middle half of the rounds lies."""
    rows = []
    for each in measured:
        spread = [middle(each.series.time_ratios(name, PLAIN.name)) for name in _SHOWN]
        cells = [f"{added(low)} .. {added(high)}" for _, low, high in spread]
        rows.append([each.series.program.name, *cells])
    return table(("added time, quartiles", *_SHOWN.values()), rows)


def _plain_time(series: Series) -> str:
    return f"{middle(series.seconds[PLAIN.name])[0] * 1000:.1f} ms"


def _table(
    what: str,
    measured: Sequence[Costs],
    plain: Callable[[Series], str],
    ratio: Callable[[Series, str], float],
) -> str:
    rows, beside = [], []
    for each in measured:
        more = {name: ratio(each.series, name) for name in _SHOWN}
        clangs = more[IR_PGO.name] - 1
        beside.append([(more[name] - 1) / clangs if clangs > 0 else None for name in _OURS])
        cells = [added(more[name]) for name in _SHOWN]
        rows.append([each.series.program.name, plain(each.series), *cells, *map(_factor, beside[-1])])
    means = [_factor(_mean(column)) for column in zip(*beside, strict=True)]
    rows.append(["geometric mean", "", *[""] * len(_SHOWN), *means])
    rows.append(["BL96, SPEC95, time", "", "", PAPER_EDGES, PAPER_PATHS, "", *[""] * len(_OURS)])
    return table((what, "plain", *_SHOWN.values(), *(f"{_SHOWN[name]} / clang" for name in _OURS)), rows)


def _mean(values: Sequence[float | None]) -> float | None:
    """The geometric mean, where everything that goes into it is a cost."""
    positive = [value for value in values if value is not None and value > 0]
    return geometric_mean(positive) if positive and len(positive) == len(values) else None


def _factor(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def increment_table(measured: Sequence[Costs]) -> str:
    """BL96 Table 1: increments of paths and of edges, how many were cut, how many were hashed."""
    rows = []
    for each in measured:
        found, plain = each.paths, each.series.instructions[PLAIN.name]
        rows.append(
            [
                each.series.program.name,
                f"{found.functions:,}",
                f"{found.functions_cut:,}",
                f"{found.walked:,}",
                f"{found.increments / 1e6:,.2f}M",
                f"{each.guided.increments / 1e6:,.2f}M",
                f"{each.edge_increments / 1e6:,.2f}M",
                f"{each.edge_increments / found.increments:.2f}",
                f"{100 * found.cut_share:.1f}%",
                f"{100 * each.guided.cut_share:.1f}%",
                f"{100 * found.hashed_share:.1f}%",
                f"{plain / found.increments:.1f}",
            ]
        )
    paper = ["BL96, SPEC95", *[""] * 6, PAPER_EDGE_INCREMENTS, "", "", PAPER_HASHED, "88.4"]
    head = (
        *("increments", "functions", "of these cut", "paths walked", "paths", "paths, guided", "edges"),
        *("edges / paths", "on cuts", "on cuts, guided", "hashed", "instructions between"),
    )
    return table(head, [*rows, paper])
