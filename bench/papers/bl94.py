"""Ball, Larus: Optimally Profiling and Tracing Programs (1994), §6: SPEC programs of 1989."""

from __future__ import annotations

from typing import NamedTuple

SOURCE = "BL94"


class EdgeRow(NamedTuple):
    """A row of Table 2: edges, those with a counter, and those of the latter that needed no jump."""

    program: str
    edges: int
    profiled: int
    no_jump: int


TABLE_2 = (
    EdgeRow("cc1", 48398, 20577, 10533),
    EdgeRow("espresso", 11059, 4540, 2426),
    EdgeRow("xlisp", 4813, 2207, 1264),
    EdgeRow("eqntott", 3095, 1296, 756),
    EdgeRow("spice", 15145, 5888, 3131),
    EdgeRow("doduc", 7957, 3128, 1672),
    EdgeRow("dnasa7", 5517, 2274, 1241),
    EdgeRow("matrix300", 4744, 1969, 1116),
    EdgeRow("fpppp", 7042, 2887, 1630),
    EdgeRow("tomcatv", 4661, 1923, 1099),
)

# The graphs are known only by what the text says of them.
REDUNDANT_RUN = "1.10 .. 3.25"
"""§6.1, of Graph 1: a run with a counter in every block, the plain run being 1."""
OPTIMAL_RUN = "1.05 .. 1.91"
"""§6.1, of Graph 1: a run with the fewest counters."""
FEWER_INCREMENTS = "3 .. 4"
"""§6.1, of Graph 2: how many times fewer increments the four C programs needed."""
EQNTOTT, EQNTOTT_TRIPS = 4.3, 7.7
"""§6.3, after Goldberg: the same for eqntott alone, and with trip counts of loops."""
LOST_BY_NESTING = "1% .. 34%"
"""§6.4, of Graph 4: how much less the heuristic weights save than exact ones."""


class TraceRow(NamedTuple):
    """A row of Table 3: bytes of all that AE writes and of its witnesses, and seconds; old and new."""

    program: str
    old_file: int
    new_file: int
    old_trace: int
    new_trace: int
    old_run: float
    new_run: float


TABLE_3 = (
    TraceRow("compress", 6_026_198, 4_691_816, 2_760_522, 926_180, 6.6, 5.4),
    TraceRow("sgefa", 1_717_923, 1_550_131, 1_298_882, 1_131_091, 4.1, 4.5),
    TraceRow("polyd", 19_509_062, 16_033_055, 5_523_958, 2_047_951, 19.0, 15.5),
    TraceRow("pdp", 11_314_225, 10_875_475, 1_496_013, 1_057_263, 10.4, 9.2),
)

BITS_SMALLER = "3 .. 7"
"""§6.2: how many times smaller a trace of bits is than one with a byte for each witness."""
