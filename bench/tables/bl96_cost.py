"""BL96 Table 1: what paths cost beside edges."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import GUIDED, known, with_peers
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
from bench.tables.layout.ratios import added_beside, instruction_ratio, instructions, seconds, time_ratio
from bench.tables.layout.values import ADDED, COUNT, FACTOR, MILLIONS, SECONDS, SHARE, Show

_PLAIN, _EDGES, _PATHS, _RIVAL = "clang", "edges", "paths", "clang-ir"
_WAYS = (_PATHS, GUIDED, _EDGES, _RIVAL)


_FOUND = {way: Profiled(way, "ref", "increments", increment_figures) for way in (_PATHS, GUIDED)}


def _costs(base: Column, ratio: dict[str, Cell]) -> tuple[Column, ...]:
    """Added by each way, and by paths for each part that edges add."""
    added = [Column(way, known(way).shown, ratio[way], ADDED, (AVERAGE, GEOMETRIC)) for way in _WAYS]
    beside = [
        Column(f"{way}-{_EDGES}", head, added_beside(ratio[way], ratio[_EDGES]), FACTOR, (AVERAGE, GEOMETRIC))
        for way, head in ((_PATHS, "paths / edges"), (GUIDED, "guided / edges"))
    ]
    return (base, *added, *beside)


def _percent(number: float) -> float:
    return 1 + number / 100


def _paper(row: bl96.CostRow) -> PaperRow:
    cells = {_PATHS: _percent(row.paths), _EDGES: _percent(row.edges), f"{_PATHS}-{_EDGES}": row.beside}
    if row.base_seconds is not None:
        cells["base"] = row.base_seconds
    return PaperRow(f"{row.program}, {bl96.SOURCE}", "BL96 Table 1", cells)


_INSTRUCTIONS = Section(
    "instructions",
    "Added instructions",
    _costs(
        Column("base", "plain", partial(instructions, way=_PLAIN), MILLIONS),
        {way: partial(instruction_ratio, way=way) for way in _WAYS},
    ),
)
_TIME = Section(
    "time",
    "Added time (BL96 Table 1)",
    _costs(
        Column("base", "plain", partial(seconds, way=_PLAIN), SECONDS),
        {way: partial(time_ratio, way=way) for way in _WAYS},
    ),
    "Processor time: the median of the rounds, and in brackets their quartiles. A program to which edges add "
    "nothing that is more than noise (the lower quartile of what they add is not above 0) has no ratio to "
    "them. BL96 has elapsed time, on a processor of 167 MHz.",
    tuple(map(_paper, bl96.TABLE_1)),
)


def _increment_columns(way: str, prefix: str, name: str) -> tuple[Column, ...]:
    """What the counters of a path profile did."""
    found = partial(picked, _FOUND[way])
    every = found("increments")
    edges = picked(PLACEMENTS, "placed", BUILT, "increments")
    plain: Cell = partial(instructions, way=_PLAIN)

    def column(short: str, head: str, cell: Cell, show: Show) -> Column:
        means = () if show in (COUNT, MILLIONS) else (AVERAGE,)
        return Column(f"{prefix}{short}", f"{head}{name}", cell, show, means)

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
    "Increments of memory: paths that came to their end, and the counters of loops of one block. *Hashed* "
    "are those of functions with too many paths for a table; *on cuts* are paths that ended only because "
    "their function had too many. *Instructions between* divides machine instructions of the whole plain "
    "process, libraries included, by the increments of the code that is instrumented.",
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
    "What paths cost beside edges",
    "BL96 Table 1 for the programs here: trodden's paths beside its own edges, as the paper has PP beside "
    "QPT2, and beside clang's edge counters. *Guided* paths are built with weights from a run on *train*.",
    (
        *(Instructions(way) for way in with_peers(_WAYS)),
        Times(_WAYS),
        *_FOUND.values(),
        PLACEMENTS,
    ),
    (_INSTRUCTIONS, _TIME, _INCREMENTS),
    (
        Plot(
            "instructions",
            "Instructions of a run, plain = 1",
            "instructions",
            _WAYS,
            "instructions",
            base=1.0,
        ),
        Plot("time", "Time of a run, plain = 1", "time", _WAYS, "time", base=1.0),
    ),
)
