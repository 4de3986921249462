"""TZG04 §4.2: what longer paths cost, by the degree of overlaps, beside paths and pairs of paths."""

from __future__ import annotations

from functools import partial

from bench.build.configurations import DEGREES, OVERLAP_KINDS, PAIRS, THIRD, overlap_config, with_baselines
from bench.measures.instructions import Instructions
from bench.measures.model import Json
from bench.measures.profile_size import ProfileSize
from bench.measures.times import Times
from bench.papers import tzg04
from bench.support.statistics import geometric_mean
from bench.tables.layout.cells import under
from bench.tables.layout.means import AVERAGE, GEOMETRIC, Cell
from bench.tables.layout.model import Column, PaperRow, Plot, Programs, Section, Table
from bench.tables.layout.ratios import instruction_ratio, profile_size, relative_overhead, time_ratio
from bench.tables.layout.values import ADDED, BYTES, FACTOR, number_of

_PATHS = "paths"
_ASKED = (*DEGREES, THIRD, PAIRS)
_CONFIGS = (_PATHS, *(overlap_config(degree, kind) for degree in _ASKED for kind in OVERLAP_KINDS))
_ALL = tuple(overlap_config(degree) for degree in _ASKED)
_SIZED = (_PATHS, overlap_config("max"), overlap_config("auto"), overlap_config(THIRD), overlap_config(PAIRS))

_HEADS = {
    "max": "as far as it goes",
    "auto": "`auto`",
    THIRD: "a third of the largest",
    PAIRS: "pairs of paths",
}
_PLAIN_ROW = "paths alone"
_MEANS = (AVERAGE, GEOMETRIC)

_ratio = {"instructions": instruction_ratio, "time": time_ratio}


def _cell(ratio: str, config: str) -> Cell:
    return partial(_ratio[ratio], config=config)


def _paper(row: tzg04.CostRow) -> PaperRow:
    return PaperRow(
        f"{row.program}, {tzg04.SOURCE}",
        "TZG04 Table 9",
        {
            _PATHS: 1 + row.paths / 100,
            "loops": 1 + row.loops / 100,
            "procedures": 1 + row.procedures / 100,
            "all": 1 + row.together / 100,
            "factor": row.times_paths,
        },
    )


def _table_9(ratio: str, paper: tuple[PaperRow, ...], note: str) -> Section:
    paths = _cell(ratio, _PATHS)

    def factor(name: str, head: str, config: str) -> Column:
        return Column(name, head, relative_overhead(_cell(ratio, config), paths), FACTOR, _MEANS)

    third = {kind: overlap_config(THIRD, kind) for kind in OVERLAP_KINDS}
    auto, pairs = overlap_config("auto"), overlap_config(PAIRS)
    return Section(
        ratio,
        f"Added {ratio}: a third of the largest degree (TZG04 Table 9)",
        (
            Column(_PATHS, "paths", paths, ADDED, _MEANS),
            *(Column(kind, kind, _cell(ratio, config), ADDED, _MEANS) for kind, config in third.items()),
            factor("factor", "all / paths", third["all"]),
            Column("auto", "all, `auto`", _cell(ratio, auto), ADDED, _MEANS),
            factor("auto-factor", "`auto` / paths", auto),
            Column("pairs", "all, pairs", _cell(ratio, pairs), ADDED, _MEANS),
            factor("pairs-factor", "pairs / paths", pairs),
        ),
        note,
        paper,
    )


def _configs_of(kind: str) -> dict[str, str]:
    """The rows of a kind, each with its configuration."""
    return {_PLAIN_ROW: _PATHS, **{_HEADS.get(each, each): overlap_config(each, kind) for each in _ASKED}}


def _rows_by_degree(ratio: str, programs: Programs, overall: Json) -> Programs:
    """One row a degree: of each kind the geometric mean of the programs that have all of its degrees."""
    found: dict[str, dict[str, float]] = {row: {} for row in _configs_of("all")}
    for kind in OVERLAP_KINDS:
        cells = {row: _cell(ratio, config) for row, config in _configs_of(kind).items()}
        every = [
            {row: number_of(cell(figures)) for row, cell in cells.items()} for figures in programs.values()
        ]
        complete = [ratios for ratios in every if None not in ratios.values()]
        for row in cells if complete else ():
            found[row][kind] = geometric_mean([ratios[row] or 0.0 for ratios in complete])
    return {row: means for row, means in found.items() if means}


def _by_degree(ratio: str) -> Section:
    return Section(
        f"{ratio}-degrees",
        f"Added {ratio} by degree (TZG04 Figures 7 to 9)",
        tuple(Column(kind, kind, under(kind), ADDED) for kind in OVERLAP_KINDS),
        "Geometric means of the programs that were measured at all degrees.",
        rows=partial(_rows_by_degree, ratio),
        first="degree",
    )


def _by_program(ratio: str, kind: str, number: int) -> Section:
    configs = {_PATHS: _PATHS} | {degree: overlap_config(degree, kind) for degree in _ASKED}
    heads = {_PATHS: _PATHS, "max": "max", "auto": "auto", THIRD: "a third", PAIRS: PAIRS}
    return Section(
        f"{ratio}-{kind}",
        f"Added {ratio} by degree: {kind} (TZG04 Figure {number})",
        tuple(
            Column(name, heads.get(name, name), _cell(ratio, config), ADDED, (GEOMETRIC,))
            for name, config in configs.items()
        ),
    )


_SIZES = Section(
    "sizes",
    "Stored profiles",
    tuple(
        Column(name, head, partial(profile_size, config=config), BYTES, (AVERAGE,))
        for (name, head), config in zip(
            (("paths", "paths"), ("max", "max"), ("auto", "auto"), ("third", "a third"), ("pairs", "pairs")),
            _SIZED,
            strict=True,
        )
    ),
)

TABLE = Table(
    "tzg04-cost",
    "Longer paths: what they cost",
    "Overlapping paths over back edges (*loops*), over calls and returns (*procedures*), and over all of "
    "them (TZG04 §4.2), beside paths alone and pairs of paths, which are exact. *A third* is a third of the "
    "largest degree of the program, which the paper chooses. trodden counts both kinds or none; here the "
    "planner was told to leave one out.",
    (
        *(Instructions(config) for config in with_baselines(_CONFIGS)),
        Times(_CONFIGS),
        *(ProfileSize(config) for config in _SIZED),
    ),
    (
        _table_9(
            "time",
            tuple(map(_paper, tzg04.TABLE_9)),
            "Processor time: the median of the rounds, and in brackets their quartiles. *All / paths* "
            "divides what is added by what paths add; a program to which paths add no more than noise (the "
            "lower quartile is not above 0) has no such ratio.",
        ),
        _table_9("instructions", tuple(map(_paper, tzg04.TABLE_9)), "What the paper adds is time here, too."),
        _by_degree("time"),
        _by_degree("instructions"),
        *(
            _by_program(ratio, kind, number)
            for ratio in ("time", "instructions")
            for number, kind in enumerate(OVERLAP_KINDS, 7)
        ),
        _SIZES,
    ),
    tuple(
        Plot(
            f"{ratio}-degrees",
            f"{title} of a run by degree, plain = 1",
            f"{ratio}-degrees",
            OVERLAP_KINDS,
            ratio,
            "lines",
            (_PLAIN_ROW, "1", "2", "4", _HEADS["max"]),
            1.0,
        )
        for ratio, title in (("time", "Time"), ("instructions", "Instructions"))
    ),
)
