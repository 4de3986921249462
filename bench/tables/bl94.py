"""BL94 §6: how few counters are enough, where they stand, and what that saves."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import known, with_peers
from bench.figures.placement import (
    BLOCKS_BY_BLOCKS,
    BLOCKS_BY_EDGES,
    BUILT,
    BY_ESTIMATE,
    BY_NESTING,
    BY_RUN,
    EVERY_BLOCK,
    WORST_BY_NESTING,
    WORST_BY_RUN,
    placement_figures,
)
from bench.measures.instructions import Instructions
from bench.measures.model import Figures
from bench.measures.profiled import Profiled
from bench.measures.times import Times
from bench.papers import bl94
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Cell
from bench.tables.layout.model import Column, PaperRow, Plot, Section, Table
from bench.tables.layout.ratios import instruction_ratio, time_ratio
from bench.tables.layout.values import COUNT, FACTOR, FINE, MILLIONS, SHARE, Show, Value, number_of

_WAYS = ("every-block", "edges", "clang-ir", "gcc-arcs")
_INCREMENT = 5
"""How many instructions BL94 takes an increment for; a jump is one."""


PLACEMENTS = Profiled("edges", "ref", "placements", placement_figures)
"""What follows from the counts of an edge profile: its own placement, and all others."""


def _placed(placement: str, name: str) -> Cell:
    return picked(PLACEMENTS, "placed", placement, name)


def _needless(figures: Figures) -> Value | None:
    """Counters that need no jump of their own."""
    every, jumping = (number_of(_placed(BUILT, name)(figures)) for name in ("counters", "jumping"))
    return None if every is None or jumping is None else every - jumping


def _fewer(placement: str) -> Cell:
    """How many times fewer increments there are than with a counter in every block."""
    return quotient(_placed(EVERY_BLOCK, "increments"), _placed(placement, "increments"))


def _lighter(placement: str) -> Cell:
    """The same for all instructions of the probes, jumps included, as BL94 reckons them."""

    def probes(figures: Figures) -> Value | None:
        found = [number_of(_placed(placement, name)(figures)) for name in ("increments", "jumps")]
        increments, jumps = found
        return None if increments is None or jumps is None else increments + jumps / _INCREMENT

    return quotient(_placed(EVERY_BLOCK, "increments"), probes)


def _lost(figures: Figures) -> Value | None:
    """Which part of the reduction by exact weights those by nesting do not reach."""
    share = number_of(quotient(_placed(BY_RUN, "increments"), _placed(BY_NESTING, "increments"))(figures))
    return None if share is None else 1 - share


def _saving(name: str, head: str, cell: Cell, show: Show = FACTOR) -> Column:
    return Column(name, head, cell, show, (GEOMETRIC,))


_BLOCKS, _BLOCK_INSTRUCTIONS = picked(PLACEMENTS, "blocks"), picked(PLACEMENTS, "instructions")

_COUNTERS = Section(
    "counters",
    "How many edges have a counter (BL94 Table 2)",
    (
        Column("functions", "functions", picked(PLACEMENTS, "functions"), COUNT),
        Column("edges", "edges", picked(PLACEMENTS, "edges"), COUNT),
        Column("counters", "counters", _placed(BUILT, "counters"), COUNT),
        Column(
            "share",
            "of the edges",
            quotient(_placed(BUILT, "counters"), picked(PLACEMENTS, "edges")),
            SHARE,
            (AVERAGE,),
        ),
        Column("no-jump", "without a jump", _needless, COUNT),
        Column(
            "no-jump-share",
            "of the counters",
            quotient(_needless, _placed(BUILT, "counters")),
            SHARE,
            (AVERAGE,),
        ),
    ),
    "A counter needs a jump where both more follows the source of its edge and more leads into its target. "
    "LLVM lays such blocks out so that some of them need none; BL94 counts the jumps that it wrote.",
    tuple(
        PaperRow(
            f"{row.program}, {bl94.SOURCE}",
            "BL94 Table 2",
            {
                "edges": row.edges,
                "counters": row.profiled,
                "share": row.profiled / row.edges,
                "no-jump": row.no_jump,
                "no-jump-share": row.no_jump / row.profiled,
            },
        )
        for row in bl94.TABLE_2
    ),
)


_RUN = PaperRow(
    "SPEC, BL94",
    "BL94 §6.1, the range over ten programs",
    {"every-block": bl94.REDUNDANT_RUN, "edges": bl94.OPTIMAL_RUN},
)
_INSTRUCTIONS = Section(
    "instructions",
    "A run in instructions, the plain run being 1",
    tuple(_saving(way, known(way).shown, partial(instruction_ratio, way=way), FINE) for way in _WAYS),
    "Each build is compared with the plain one by the same compiler.",
)
_TIME = Section(
    "time",
    "A run in time, the plain run being 1 (BL94 Graph 1)",
    tuple(_saving(way, known(way).shown, partial(time_ratio, way=way)) for way in _WAYS),
    "The median of the rounds, and in brackets their quartiles.",
    (_RUN,),
)
_BY_ALGORITHM = Section(
    "placements",
    "Increments of different placements (BL94 Graphs 2 and 3)",
    (
        Column("every-block", "in every block", _placed(EVERY_BLOCK, "increments"), MILLIONS),
        Column("block-size", "instructions a block", quotient(_BLOCK_INSTRUCTIONS, _BLOCKS), FACTOR),
        _saving("eprof", "fewer: Eprof(Ecnt)", _fewer(BY_NESTING)),
        _saving("vprof-edges", "fewer: Vprof(Ecnt)", _fewer(BLOCKS_BY_EDGES)),
        _saving("vprof-blocks", "fewer: Vprof(Vcnt)", _fewer(BLOCKS_BY_BLOCKS)),
        _saving("built", "fewer: as trodden builds", _fewer(BUILT)),
        _saving("lighter-eprof", "lighter: Eprof(Ecnt)", _lighter(BY_NESTING)),
        _saving("lighter-vprof-edges", "lighter: Vprof(Ecnt)", _lighter(BLOCKS_BY_EDGES)),
        _saving("lighter-vprof-blocks", "lighter: Vprof(Vcnt)", _lighter(BLOCKS_BY_BLOCKS)),
    ),
    "*Fewer* is how many times fewer increments there are than with a counter in every block; *lighter* is "
    f"the same for all instructions of probes, an increment taken for {_INCREMENT} and a jump for one. All "
    "are placed by the weights of BL94 §5 (loops and their nesting). What trodden builds also counts the "
    "trips of some loops where they are left. Instructions of a block are those of LLVM's IR.",
    (
        PaperRow("C programs, BL94", "BL94 §6.1", {"eprof": bl94.FEWER_INCREMENTS}),
        PaperRow("eqntott, BL94", "BL94 §6.3", {"eprof": bl94.EQNTOTT, "built": bl94.EQNTOTT_TRIPS}),
    ),
)
_BY_WEIGHTS = Section(
    "weights",
    "Increments by different weights (BL94 Graph 4)",
    (
        _saving("run", "the run itself", _fewer(BY_RUN)),
        _saving("nesting", "nesting", _fewer(BY_NESTING)),
        _saving("estimate", "estimate", _fewer(BY_ESTIMATE)),
        _saving("worst-nesting", "nesting, at worst", _fewer(WORST_BY_NESTING)),
        _saving("worst-run", "the run itself, at worst", _fewer(WORST_BY_RUN)),
        Column("lost", "lost by nesting", _lost, SHARE, (AVERAGE,)),
    ),
    "How many times fewer increments there are than with a counter in every block, the edges of an "
    "Eprof(Ecnt) weighed by what this very run has counted (nothing can be better, unless loops tell their "
    "trips), by nesting and by trodden's estimate; *at worst* is a minimum spanning tree, not a maximum one.",
    (PaperRow("SPEC, BL94", "BL94 §6.4", {"lost": bl94.LOST_BY_NESTING}),),
)

TABLE = Table(
    "bl94",
    "Few counters in the right places",
    "What Ball and Larus measured in 1994 (BL94 §6), for the programs here. A counter in every block is "
    "their *redundant* profiling, and Eprof(Ecnt), the edges outside a maximum spanning tree, is *optimal*. "
    "Increments follow from the exact counts of one run on *ref* without further builds, as in the paper: "
    "every function is planned anew by each algorithm and each weighting.",
    (
        *(Instructions(way) for way in with_peers(_WAYS)),
        Times(_WAYS),
        PLACEMENTS,
    ),
    (_COUNTERS, _INSTRUCTIONS, _TIME, _BY_ALGORITHM, _BY_WEIGHTS),
    (
        Plot("graph-1", "Time of a run, plain = 1 (BL94 Graph 1)", "time", _WAYS, "time", base=1.0),
        Plot(
            "graph-2",
            "Fewer increments, and fewer instructions of probes (BL94 Graph 2)",
            "placements",
            ("eprof", "lighter-eprof"),
            "times fewer",
        ),
        Plot(
            "graph-3",
            "Fewer instructions of probes by three placements (BL94 Graph 3)",
            "placements",
            ("lighter-eprof", "lighter-vprof-edges", "lighter-vprof-blocks"),
            "times fewer",
        ),
        Plot(
            "graph-4",
            "Fewer increments by weights, at best and at worst (BL94 Graph 4)",
            "weights",
            ("run", "nesting", "worst-nesting", "worst-run"),
            "times fewer",
        ),
    ),
)
