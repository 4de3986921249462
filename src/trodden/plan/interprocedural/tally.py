"""What a program that counts its interprocedural paths has recorded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.plan.interprocedural.program import Site


class Lost(NamedTuple):
    """A frame that was left in the middle: its path has a number in ``table`` and was at a point.

    ``sites`` are the kept calls of the path that were active, outermost first.  ``pending``: the frame itself
    was in a kept call, so the path had gone on in the callee, whose frame was lost too.
    """

    table: int
    number: int
    procedure: int
    point: int
    sites: tuple[Site, ...]
    pending: bool


@dataclass
class InterproceduralTally:
    """What a program has counted: paths by table and number, self loops, and what was lost.

    ``jumps`` is how often control arrived on a resume edge by a jump.
    """

    paths: Counter[tuple[int, int]] = field(default_factory=Counter)
    loops: Counter[tuple[int, int]] = field(default_factory=Counter)
    lost: Counter[Lost] = field(default_factory=Counter)
    jumps: Counter[tuple[int, int]] = field(default_factory=Counter)
