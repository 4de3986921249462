"""Ball, Larus: Efficient Path Profiling (1996), §6: SPEC95's integer programs one by one, and the averages.

The Fortran programs of SPEC95, which resemble nothing here, are in the averages alone.
"""

from __future__ import annotations

from typing import NamedTuple

SOURCE = "BL96"
INTEGER, FLOAT, ALL = "SPEC95 integer average", "SPEC95 floating average", "SPEC95 average"


class CostRow(NamedTuple):
    """A row of Table 1; overheads and hashed increments in percent, path increments in millions."""

    program: str
    base_seconds: float | None
    paths: float
    edges: float
    relative: float
    path_increments: float
    edge_increments: float
    hashed: float
    between: float


TABLE_1 = (
    CostRow("099.go", 885.0, 53.4, 24.1, 2.2, 1002.4, 1.5, 27.7, 33.2),
    CostRow("124.m88ksim", 571.0, 35.6, 18.7, 1.9, 4824.9, 1.2, 3.9, 16.2),
    CostRow("126.gcc", 322.0, 96.9, 52.8, 1.8, 9.4, 1.7, 16.8, 15.1),
    CostRow("129.compress", 351.0, 19.4, 21.9, 0.9, 3015.7, 1.5, 0.0, 16.6),
    CostRow("130.li", 480.0, 25.4, 26.7, 1.0, 3282.4, 1.4, 1.2, 16.8),
    CostRow("132.ijpeg", 749.0, 17.4, 16.3, 1.1, 1164.9, 1.1, 1.2, 31.0),
    CostRow("134.perl", 332.0, 72.9, 51.5, 1.4, 1133.0, 1.9, 23.4, 22.2),
    CostRow("147.vortex", 684.0, 37.7, 34.1, 1.1, 3576.3, 1.5, 23.7, 20.3),
    # The paper prints 22251.1 path increments here; the average of the eight rows above is 2251.1.
    CostRow(INTEGER, None, 44.8, 30.8, 1.4, 2251.1, 1.5, 12.2, 21.4),
    CostRow(FLOAT, None, 19.8, 4.3, 4.0, 1081.8, 1.2, 41.3, 142.1),
    CostRow(ALL, None, 30.9, 16.1, 2.8, 1601.5, 1.3, 28.4, 88.4),
)


class PathRow(NamedTuple):
    """A row of Table 2: lengths in edges and instructions, of paths and of what edges predict of them."""

    program: str
    paths: int
    longest_edges: int
    longest_instructions: int
    average_edges: float
    average_instructions: float
    correct: float
    predicted_longest_edges: int
    predicted_longest_instructions: int
    predicted_average_edges: float
    predicted_average_instructions: float
    routines: int
    most_paths: int
    average_paths: float


TABLE_2 = (
    PathRow("099.go", 24414, 105, 314, 10.9, 33.2, 4.3, 84, 252, 5.0, 19.3, 407, 1574, 60.0),
    PathRow("124.m88ksim", 1113, 138, 360, 5.8, 16.2, 29.8, 138, 360, 4.3, 9.1, 220, 70, 5.1),
    PathRow("126.gcc", 9319, 711, 1074, 7.4, 15.1, 20.8, 711, 1074, 4.6, 10.5, 1027, 163, 9.1),
    PathRow("129.compress", 249, 80, 146, 6.5, 16.7, 43.0, 80, 146, 4.6, 8.8, 69, 34, 3.6),
    PathRow("130.li", 770, 153, 252, 9.0, 16.8, 38.1, 62, 109, 7.0, 14.6, 216, 64, 3.6),
    PathRow("132.ijpeg", 1199, 139, 416, 7.0, 31.0, 36.4, 139, 202, 5.1, 22.2, 252, 194, 4.8),
    PathRow("134.perl", 1421, 123, 305, 10.7, 22.2, 24.5, 115, 207, 7.3, 16.7, 233, 125, 6.1),
    PathRow("147.vortex", 2223, 584, 841, 8.9, 20.3, 39.5, 584, 841, 8.5, 13.6, 627, 65, 3.5),
    PathRow(INTEGER, 5088, 254, 464, 8.3, 21.4, 29.5, 239, 399, 5.8, 14.4, 381, 286, 12.0),
    PathRow(FLOAT, 782, 204, 2048, 5.9, 142.1, 44.6, 139, 1967, 4.5, 49.0, 182, 128, 4.2),
    PathRow(ALL, 2696, 226, 1344, 6.9, 88.4, 37.9, 183, 1270, 5.1, 33.6, 270, 198, 7.7),
)


class CommonRow(NamedTuple):
    """A row of Table 3: paths in both runs, and their share of all paths, executions and instructions."""

    program: str
    common: int
    static: float
    dynamic: float
    instructions: float


TABLE_3 = (
    CommonRow("099.go", 13670, 52.8, 99.5, 98.6),
    CommonRow("124.m88ksim", 800, 71.1, 97.1, 93.3),
    CommonRow("126.gcc", 9058, 63.5, 94.6, 88.9),
    CommonRow("129.compress", 201, 78.2, 99.2, 98.0),
    CommonRow("130.li", 522, 67.8, 87.4, 87.7),
    CommonRow("132.ijpeg", 1099, 85.3, 99.9, 100.0),
    CommonRow("134.perl", 687, 41.8, 71.9, 63.8),
    CommonRow("147.vortex", 2160, 96.0, 100.0, 100.0),
)
