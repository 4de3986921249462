"""All heuristics: those of the paper, and those that go beyond it.

To add one, add a row to one of the tables; it takes effect as soon as a table of rates names it.
"""

from __future__ import annotations

from trodden.weigh.heuristics.ball_larus import BALL_LARUS
from trodden.weigh.heuristics.comparisons import COMPARISONS
from trodden.weigh.heuristics.heuristic import Heuristic
from trodden.weigh.heuristics.loops_and_errors import LOOPS_AND_ERRORS
from trodden.weigh.heuristics.region_shape import REGION_SHAPE
from trodden.weigh.heuristics.switches import SWITCHES

HEURISTICS: tuple[Heuristic, ...] = (*BALL_LARUS, *LOOPS_AND_ERRORS, *REGION_SHAPE, *COMPARISONS, *SWITCHES)

KEYS = frozenset(heuristic.key for heuristic in HEURISTICS)
