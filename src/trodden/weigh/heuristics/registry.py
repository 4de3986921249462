"""All heuristics there are: those of the paper, and what goes beyond it.

A row more is a heuristic more; it takes part as soon as a table of rates names it.
"""

from __future__ import annotations

from trodden.weigh.heuristics.ball_larus import NINE, Heuristic
from trodden.weigh.heuristics.comparisons import KINDS
from trodden.weigh.heuristics.loops_and_errors import FURTHER
from trodden.weigh.heuristics.region_shape import WAYS
from trodden.weigh.heuristics.switches import MANY

HEURISTICS: tuple[Heuristic, ...] = (*NINE, *FURTHER, *WAYS, *KINDS, *MANY)

KEYS = frozenset(heuristic.key for heuristic in HEURISTICS)
