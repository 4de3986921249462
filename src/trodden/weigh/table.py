"""All heuristics there are: those of the paper, and what goes beyond it.

A row more is a heuristic more; it takes part as soon as a table of rates names it.
"""

from __future__ import annotations

from trodden.weigh.further import FURTHER
from trodden.weigh.heuristics import NINE, Heuristic
from trodden.weigh.kinds import KINDS
from trodden.weigh.many import MANY
from trodden.weigh.ways import WAYS

HEURISTICS: tuple[Heuristic, ...] = (*NINE, *FURTHER, *WAYS, *KINDS, *MANY)

KEYS = frozenset(heuristic.key for heuristic in HEURISTICS)
