"""BL94 §6: how few counters are sufficient, where they are placed, and what that saves."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import label_of, with_baselines
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
from bench.tables.layout.values import COUNT, FACTOR, FINE, MILLIONS, SHARE, Format, Value, number_of

_CONFIGS = ("every-block", "edges", "clang-ir", "gcc-arcs")
_INCREMENT = 5
"""The number of instructions of an increment in BL94; a jump is one."""


PLACEMENTS = Profiled("edges", what="placements", compute=placement_figures)
"""The placement of an edge profile and all others, evaluated with the counts of the profile."""


def _placed(placement: str, name: str) -> Cell:
    return picked(PLACEMENTS, "placed", placement, name)


def _without_jump(figures: Figures) -> Value | None:
    """Counters that need no jump of their own."""
    every, jumping = (number_of(_placed(BUILT, name)(figures)) for name in ("counters", "jumping"))
    return None if every is None or jumping is None else every - jumping


def _fewer(placement: str) -> Cell:
    """How many times fewer increments there are than with a counter in every block."""
    return quotient(_placed(EVERY_BLOCK, "increments"), _placed(placement, "increments"))


def _cheaper(placement: str) -> Cell:
    """The same for all instructions of the probes, jumps included, as BL94 counts them."""

    def probes(figures: Figures) -> Value | None:
        found = [number_of(_placed(placement, name)(figures)) for name in ("increments", "jumps")]
        increments, jumps = found
        return None if increments is None or jumps is None else increments + jumps / _INCREMENT

    return quotient(_placed(EVERY_BLOCK, "increments"), probes)


def _lost(figures: Figures) -> Value | None:
    """The share of the reduction by exact weights that weights by nesting do not achieve."""
    share = number_of(quotient(_placed(BY_RUN, "increments"), _placed(BY_NESTING, "increments"))(figures))
    return None if share is None else 1 - share


def _saving(name: str, head: str, cell: Cell, format: Format = FACTOR) -> Column:
    return Column(name, head, cell, format, (GEOMETRIC,))


_BLOCKS, _BLOCK_INSTRUCTIONS = picked(PLACEMENTS, "blocks"), picked(PLACEMENTS, "instructions")

_COUNTERS = Section(
    "counters",
    "Edges with a counter (BL94 Table 2)",
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
        Column("no-jump", "without a jump", _without_jump, COUNT),
        Column(
            "no-jump-share",
            "of the counters",
            quotient(_without_jump, _placed(BUILT, "counters")),
            SHARE,
            (AVERAGE,),
        ),
    ),
    "A counter on a critical edge needs a jump. LLVM lays such blocks out so that some of them need none; "
    "BL94 counts the jumps that were inserted.",
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
    "Instructions of a run, the plain run being 1",
    tuple(
        _saving(config, label_of(config), partial(instruction_ratio, config=config), FINE)
        for config in _CONFIGS
    ),
    "Each build is compared with the plain build by the same compiler.",
)
_TIME = Section(
    "time",
    "Time of a run, the plain run being 1 (BL94 Graph 1)",
    tuple(_saving(config, label_of(config), partial(time_ratio, config=config)) for config in _CONFIGS),
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
        _saving("lighter-eprof", "cheaper: Eprof(Ecnt)", _cheaper(BY_NESTING)),
        _saving("lighter-vprof-edges", "cheaper: Vprof(Ecnt)", _cheaper(BLOCKS_BY_EDGES)),
        _saving("lighter-vprof-blocks", "cheaper: Vprof(Vcnt)", _cheaper(BLOCKS_BY_BLOCKS)),
    ),
    "*Fewer* is how many times fewer increments there are than with a counter in every block; *cheaper* is "
    f"the same for all instructions of probes, with {_INCREMENT} for an increment and one for a jump. All "
    "placements use the weights of BL94 §5 (nesting of loops). What trodden builds also computes the trip "
    "counts of some loops at their exits. Instructions of a block are those of LLVM's IR.",
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
    "How many times fewer increments there are than with a counter in every block, with an Eprof(Ecnt) whose "
    "edges are weighted by the counts of this very run (nothing is better, except trip counts), by nesting, "
    "and by trodden's estimate; *at worst* uses a minimum spanning tree instead of a maximum one.",
    (PaperRow("SPEC, BL94", "BL94 §6.4", {"lost": bl94.LOST_BY_NESTING}),),
)

TABLE = Table(
    "bl94",
    "Few counters in the right places",
    "The measurements of Ball and Larus (BL94 §6) on the programs here. A counter in every block is their "
    "*redundant* profiling, and Eprof(Ecnt), the edges outside a maximum spanning tree, is *optimal*. "
    "Increments are computed from the exact counts of one run on *ref* without further builds, as in the "
    "paper: every function is planned by each algorithm and each weighting.",
    (
        *(Instructions(config) for config in with_baselines(_CONFIGS)),
        Times(_CONFIGS),
        PLACEMENTS,
    ),
    (_COUNTERS, _INSTRUCTIONS, _TIME, _BY_ALGORITHM, _BY_WEIGHTS),
    (
        Plot("graph-1", "Time of a run, plain = 1 (BL94 Graph 1)", "time", _CONFIGS, "time", base=1.0),
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
