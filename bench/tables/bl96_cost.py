"""BL96 Table 1: the cost of paths compared with that of edges."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import GUIDED, label_of, with_baselines
from bench.figures.increments import increment_figures
from bench.figures.placement import BUILT
from bench.measures.instructions import Instructions
from bench.measures.profiled import Profiled
from bench.measures.times import Times
from bench.papers import bl96
from bench.tables.bl94 import PLACEMENTS
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Cell
from bench.tables.layout.model import Column, PaperRow, Plot, Section, Table
from bench.tables.layout.ratios import instruction_ratio, instructions, relative_overhead, seconds, time_ratio
from bench.tables.layout.values import ADDED, COUNT, FACTOR, MILLIONS, SECONDS, SHARE, Format

_PLAIN, _EDGES, _PATHS, _RIVAL = "clang", "edges", "paths", "clang-ir"
_CONFIGS = (_PATHS, GUIDED, _EDGES, _RIVAL)


_FOUND = {
    config: Profiled(config, what="increments", compute=increment_figures) for config in (_PATHS, GUIDED)
}


def _costs(base: Column, ratio: dict[str, Cell]) -> tuple[Column, ...]:
    """What each configuration adds, and what paths add relative to edges."""
    added = [
        Column(config, label_of(config), ratio[config], ADDED, (AVERAGE, GEOMETRIC)) for config in _CONFIGS
    ]
    relative = [
        Column(
            f"{config}-{_EDGES}",
            head,
            relative_overhead(ratio[config], ratio[_EDGES]),
            FACTOR,
            (AVERAGE, GEOMETRIC),
        )
        for config, head in ((_PATHS, "paths / edges"), (GUIDED, "guided / edges"))
    ]
    return (base, *added, *relative)


def _percent(number: float) -> float:
    return 1 + number / 100


def _paper(row: bl96.CostRow) -> PaperRow:
    cells = {_PATHS: _percent(row.paths), _EDGES: _percent(row.edges), f"{_PATHS}-{_EDGES}": row.relative}
    if row.base_seconds is not None:
        cells["base"] = row.base_seconds
    return PaperRow(f"{row.program}, {bl96.SOURCE}", "BL96 Table 1", cells)


_INSTRUCTIONS = Section(
    "instructions",
    "Added instructions",
    _costs(
        Column("base", "plain", partial(instructions, config=_PLAIN), MILLIONS),
        {config: partial(instruction_ratio, config=config) for config in _CONFIGS},
    ),
)
_TIME = Section(
    "time",
    "Added time (BL96 Table 1)",
    _costs(
        Column("base", "plain", partial(seconds, config=_PLAIN), SECONDS),
        {config: partial(time_ratio, config=config) for config in _CONFIGS},
    ),
    "Processor time: the median of the rounds, and in brackets their quartiles. A program to which edges add "
    "no more than noise (the lower quartile of what they add is not above 0) has no ratio. BL96 has elapsed "
    "time, on a processor of 167 MHz.",
    tuple(map(_paper, bl96.TABLE_1)),
)


def _increment_columns(config: str, prefix: str, name: str) -> tuple[Column, ...]:
    """The increments of a path profile."""
    found = partial(picked, _FOUND[config])
    every = found("increments")
    edges = picked(PLACEMENTS, "placed", BUILT, "increments")
    plain: Cell = partial(instructions, config=_PLAIN)

    def column(short: str, head: str, cell: Cell, format: Format) -> Column:
        means = () if format in (COUNT, MILLIONS) else (AVERAGE,)
        return Column(f"{prefix}{short}", f"{head}{name}", cell, format, means)

    return (
        column("increments", "increments", every, MILLIONS),
        column("edges", "edge increments for each", quotient(edges, every), FACTOR),
        column("hashed", "hashed", quotient(found("hashed"), every), SHARE),
        column("cut", "on cuts", quotient(found("cut"), every), SHARE),
        column("between", "instructions between", quotient(plain, every), FACTOR),
    )


_INCREMENTS = Section(
    "increments",
    "Increments of paths and of edges (BL96 Table 1)",
    (
        Column("functions", "functions", picked(_FOUND[_PATHS], "functions"), COUNT),
        Column("functions-cut", "of these cut", picked(_FOUND[_PATHS], "functions_cut"), COUNT),
        *_increment_columns(_PATHS, "", ""),
        *_increment_columns(GUIDED, "guided-", ", guided"),
    ),
    "Increments of memory: completed paths, and the counters of loops of one block. *Hashed* are those of "
    "functions with too many paths for a table; *on cuts* are paths that ended only because their function "
    "had too many. *Instructions between* divides the machine instructions of the whole plain process, "
    "libraries included, by the increments of the instrumented code.",
    tuple(
        PaperRow(
            f"{row.program}, {bl96.SOURCE}",
            "BL96 Table 1",
            {
                "increments": row.path_increments * 1e6,
                "edges": row.edge_increments,
                "hashed": row.hashed / 100,
                "between": row.between,
            },
        )
        for row in bl96.TABLE_1
    ),
)

TABLE = Table(
    "bl96-cost",
    "The cost of paths compared with edges",
    "BL96 Table 1 for the programs here: trodden's paths compared with its edges, as the paper compares PP "
    "with QPT2, and with clang's edge counters. *Guided* paths are built with weights from a run on *train*.",
    (
        *(Instructions(config) for config in with_baselines(_CONFIGS)),
        Times(_CONFIGS),
        *_FOUND.values(),
        PLACEMENTS,
    ),
    (_INSTRUCTIONS, _TIME, _INCREMENTS),
    (
        Plot(
            "instructions",
            "Instructions of a run, plain = 1",
            "instructions",
            _CONFIGS,
            "instructions",
            base=1.0,
        ),
        Plot("time", "Time of a run, plain = 1", "time", _CONFIGS, "time", base=1.0),
    ),
)
