"""Tallam, Zhang, Gupta: Extending Path Profiling across Loop Backedges and Procedure Boundaries (2004).

The figures of §4 are plots without numbers; of these only what the text and the tables say is here.
"""

from __future__ import annotations

from typing import NamedTuple

SOURCE = "TZG04"


class FlowRow(NamedTuple):
    """A row of Table 1: the share of all path executions, in percent, that longer paths cover."""

    program: str
    loops: float
    procedures: float
    total: float


TABLE_1 = (
    FlowRow("130.li", 19.9, 70.2, 90.1),
    FlowRow("099.go", 32.3, 52.4, 84.7),
    FlowRow("134.perl", 9.6, 75.9, 85.5),
    FlowRow("008.espresso", 56.4, 26.1, 82.5),
    FlowRow("147.vortex", 2.1, 94.1, 96.2),
    FlowRow("197.parser", 16.2, 72.7, 88.9),
    FlowRow("181.mcf", 27.8, 54.2, 82.0),
    FlowRow("300.twolf", 69.1, 13.9, 83.0),
    FlowRow("126.gcc", 26.1, 50.8, 76.9),
)

AVERAGE = "Average"


class BoundsRow(NamedTuple):
    """A row of Table 8: the flow, what paths and what overlaps of a degree make of it, and the degrees."""

    program: str
    real: int
    definite_by_paths: int
    potential_by_paths: int
    definite: int
    potential: int
    chosen: int
    largest: int


TABLE_8 = (
    BoundsRow("130.li", 3_539_310, 2_350_308, 4_793_897, 3_411_257, 3_666_315, 2, 12),
    BoundsRow("099.go", 1_043_000, 260_200, 4_549_045, 1_017_335, 1_089_760, 10, 29),
    BoundsRow("134.perl", 583_202, 530_643, 706_814, 583_163, 583_289, 10, 29),
    BoundsRow("008.espresso", 1_176_329, 677_091, 18_988_987, 1_173_703, 1_970_368, 14, 45),
    BoundsRow("147.vortex", 1_150_460, 1_082_634, 1_210_629, 1_148_352, 1_152_686, 6, 18),
    BoundsRow("197.parser", 3_783_648, 2_268_678, 4_861_451, 3_224_556, 4_344_380, 2, 5),
    BoundsRow("181.mcf", 4_454_330, 2_718_793, 6_553_449, 4_345_860, 4_577_679, 7, 22),
    BoundsRow("300.twolf", 4_509_841, 3_041_739, 6_908_699, 4_415_177, 4_636_763, 4, 14),
    BoundsRow("126.gcc", 2_076_527, 978_781, 4_487_127, 2_068_457, 2_087_944, 14, 48),
    BoundsRow(AVERAGE, 2_479_627, 1_545_429, 5_895_566, 2_376_428, 2_678_798, 8, 25),
)
"""The averages are those of flows, so that their quotients are not averages of quotients."""


class CostRow(NamedTuple):
    """A row of Table 9: what is added to the time of a run in percent, and all of it in those of paths."""

    program: str
    paths: float
    loops: float
    procedures: float
    together: float
    times_paths: float


TABLE_9 = (
    CostRow("130.li", 33.5, 43.5, 67.3, 110.8, 3.3),
    CostRow("099.go", 20.3, 33.0, 47.8, 80.8, 3.98),
    CostRow("134.perl", 9.9, 12.7, 58.2, 70.9, 7.16),
    CostRow("008.espresso", 25.1, 47.7, 33.5, 81.2, 3.23),
    CostRow("147.vortex", 17.3, 17.9, 62.3, 80.2, 4.64),
    CostRow("197.parser", 25.7, 30.1, 50.0, 80.1, 3.12),
    CostRow("181.mcf", 31.9, 49.6, 54.7, 104.3, 3.27),
    CostRow("300.twolf", 25.3, 46.2, 41.1, 87.3, 3.45),
    CostRow("126.gcc", 15.8, 23.4, 62.5, 85.9, 5.44),
    CostRow(AVERAGE, 22.7, 33.8, 53.0, 86.8, 4.2),
)
