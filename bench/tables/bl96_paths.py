"""BL96 Tables 2 and 3: statistics of paths, how well edges predict them, and how similar two inputs are."""

from __future__ import annotations

from collections.abc import Callable

from bench.figures.common_paths import common_figures
from bench.figures.path_statistics import HOT, MOST, path_statistics
from bench.measures.profiled import Profiled, ProfiledPair
from bench.papers import bl96
from bench.tables.layout.cells import picked, quotient
from bench.tables.layout.means import AVERAGE, Cell
from bench.tables.layout.model import Column, PaperRow, Plot, Section, Table
from bench.tables.layout.values import COUNT, FACTOR, MILLIONS, SHARE, Format, Value

_PATH_STATISTICS = Profiled("paths", what="walked", compute=path_statistics)
_COMMON = ProfiledPair("paths", what="common", compute=common_figures)


def _column(name: str, head: str, cell: Cell, format: Format = COUNT) -> Column:
    return Column(name, head, cell, format, (AVERAGE,))


def _lengths(of: str, prefix: str = "") -> tuple[Column, ...]:
    """The longest and the average path, in edges and in instructions."""

    def average(what: str) -> Cell:
        return quotient(picked(_PATH_STATISTICS, of, what), picked(_PATH_STATISTICS, of, "walks"))

    return (
        _column(f"{prefix}longest-edges", "longest, edges", picked(_PATH_STATISTICS, of, "longest_edges")),
        _column(
            f"{prefix}longest-instructions",
            "longest, instructions",
            picked(_PATH_STATISTICS, of, "longest_instructions"),
        ),
        _column(f"{prefix}average-edges", "average, edges", average("edges"), FACTOR),
        _column(f"{prefix}average-instructions", "average, instructions", average("instructions"), FACTOR),
    )


def _paper(cells: Callable[[bl96.PathRow], dict[str, Value]]) -> tuple[PaperRow, ...]:
    return tuple(
        PaperRow(f"{row.program}, {bl96.SOURCE}", "BL96 Table 2", cells(row)) for row in bl96.TABLE_2
    )


_PATHS = Section(
    "paths",
    "Executed paths (BL96 Table 2)",
    (
        _column("possible", "possible paths", picked(_PATH_STATISTICS, "possible")),
        _column("paths", "executed", picked(_PATH_STATISTICS, "paths")),
        *_lengths("lengths"),
        _column("routines", "executed functions", picked(_PATH_STATISTICS, "routines")),
        _column("most-paths", "most paths of a function", picked(_PATH_STATISTICS, "most_paths")),
        _column(
            "average-paths",
            "average of a function",
            quotient(picked(_PATH_STATISTICS, "paths"), picked(_PATH_STATISTICS, "routines")),
            FACTOR,
        ),
    ),
    "Averages are weighted by the count of each path. Instructions are those of LLVM's IR after "
    "optimisation. A function with too many paths is cut, so that it has no more than some thousand; the "
    "iterations of a loop of one block are not part of a path.",
    _paper(
        lambda row: {
            "paths": row.paths,
            "longest-edges": row.longest_edges,
            "longest-instructions": row.longest_instructions,
            "average-edges": row.average_edges,
            "average-instructions": row.average_instructions,
            "routines": row.routines,
            "most-paths": row.most_paths,
            "average-paths": row.average_paths,
        }
    ),
)
_PREDICTED = Section(
    "predicted",
    "How well an edge profile predicts them (BL96 Table 2)",
    (
        _column(
            "correct",
            "predicted paths",
            quotient(picked(_PATH_STATISTICS, "predicted"), picked(_PATH_STATISTICS, "paths")),
            SHARE,
        ),
        _column(
            "correct-walks",
            "of the path executions",
            quotient(
                picked(_PATH_STATISTICS, "predicted_walks"), picked(_PATH_STATISTICS, "lengths", "walks")
            ),
            SHARE,
        ),
        *_lengths("predicted_lengths"),
    ),
    "From the start of a path, follow the most frequent edge out of each block: the paths that are predicted "
    "completely, and how far the others are.",
    _paper(
        lambda row: {
            "correct": row.correct / 100,
            "longest-edges": row.predicted_longest_edges,
            "longest-instructions": row.predicted_longest_instructions,
            "average-edges": row.predicted_average_edges,
            "average-instructions": row.predicted_average_instructions,
        }
    ),
)
_HOT = Section(
    "hot",
    "Hot paths",
    (
        _column("paths", "executed", picked(_PATH_STATISTICS, "paths")),
        _column("most", f"for {MOST:.0%} of the executions", picked(_PATH_STATISTICS, "most_walks")),
        _column("hot", "hot paths", picked(_PATH_STATISTICS, "hot")),
        _column(
            "share",
            "their instructions",
            quotient(
                picked(_PATH_STATISTICS, "hot_instructions"),
                picked(_PATH_STATISTICS, "lengths", "instructions"),
            ),
            SHARE,
        ),
    ),
    f"A path is hot if at least {HOT:.1%} of all instructions on paths are on it.",
)
_BOTH = Section(
    "common",
    "Paths of *ref* that *train* has executed too (BL96 Table 3)",
    (
        _column("train", "executed by train", picked(_COMMON, "train")),
        _column("ref", "executed by ref", picked(_COMMON, "ref")),
        _column("common", "by both", picked(_COMMON, "common")),
        _column(
            "static", "of ref's paths", quotient(picked(_COMMON, "common"), picked(_COMMON, "ref")), SHARE
        ),
        _column(
            "dynamic",
            "of its executions",
            quotient(picked(_COMMON, "common_walks"), picked(_COMMON, "walks")),
            SHARE,
        ),
        _column("instructions", "instructions", picked(_COMMON, "common_instructions"), MILLIONS),
        _column(
            "share",
            "of all on paths",
            quotient(picked(_COMMON, "common_instructions"), picked(_COMMON, "instructions")),
            SHARE,
        ),
    ),
    "Both inputs are executed by the same build, so that a path has the same number in both.",
    tuple(
        PaperRow(
            f"{row.program}, {bl96.SOURCE}",
            "BL96 Table 3",
            {
                "common": row.common,
                "static": row.static / 100,
                "dynamic": row.dynamic / 100,
                "share": row.instructions / 100,
            },
        )
        for row in bl96.TABLE_3
    ),
)

TABLE = Table(
    "bl96-paths",
    "Statistics of paths",
    "BL96 Tables 2 and 3 for the programs here: how many paths are executed and how long they are, which of "
    "them an edge profile predicts, how few are hot, and how many of the paths of one input another has "
    "executed too.",
    (_PATH_STATISTICS, _COMMON),
    (_PATHS, _PREDICTED, _HOT, _BOTH),
    (
        Plot(
            "predicted",
            "Paths that an edge profile predicts completely",
            "predicted",
            ("correct", "correct-walks"),
            "share",
        ),
        Plot(
            "common",
            "Paths of ref that train has executed too",
            "common",
            ("static", "dynamic", "share"),
            "share of ref",
        ),
    ),
)
