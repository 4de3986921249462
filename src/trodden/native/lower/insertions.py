"""Code for points of a function, before it becomes part of the function's text.

Each phase of the lowering returns insertions; :mod:`trodden.native.lower.assemble` puts them in, in the
order of the phases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Where(Enum):
    """The points at which code can be inserted."""

    CALL_PATH_ENTRY = auto()
    """The entry of the function: its step in the call-path tree comes before everything else."""
    ENTRY = auto()
    """The entry of the function."""
    RECORDS = auto()
    """The debug records at the top of a block, in front of all code there."""
    TOP = auto()
    """The top of a block, after its phis."""
    BEFORE_CALL = auto()
    """In front of the call that ends a block: one that may return twice, or any recording call."""
    AFTER_CALL = auto()
    """After such a call: executed each time it returns."""
    BOTTOM = auto()
    """The end of a block, in front of its terminator or of a call in tail position."""
    EDGE = auto()
    """A new block on an edge."""


class Point(NamedTuple):
    """A point of a function, in block ``number`` or on edge ``number``; 0 for the entry."""

    where: Where
    number: int


class Insertion(NamedTuple):
    """Lines for a point.  If that is an edge, ``label`` is the name of its new block, unless it has one."""

    point: Point
    lines: Sequence[str]
    label: str = ""


class ValuePhi(NamedTuple):
    """A phi of type i64 in a block; ``otherwise`` is the value of edges that have none in ``incoming``."""

    block: int
    name: str
    incoming: Mapping[int, str]
    otherwise: str


class CounterPhi(NamedTuple):
    """A phi that chooses among the addresses of counters, given by their slots."""

    block: int
    name: str
    incoming: Mapping[int, int]
    otherwise: int


class CursorPhi(NamedTuple):
    """A phi of where a trace goes on; every in-edge of the block is in ``incoming``."""

    block: int
    name: str
    incoming: Mapping[int, str]


Phi = ValuePhi | CounterPhi | CursorPhi


@dataclass(frozen=True)
class Emitted:
    """What a phase has emitted."""

    insertions: Sequence[Insertion] = ()
    phis: Sequence[Phi] = ()


class EdgeBlock(NamedTuple):
    """A new block on an edge."""

    label: str
    lines: list[str]


@dataclass
class FunctionCode:
    """All insertions of a function by their points, and its new phis by their blocks.

    ``blocks`` are the points in blocks whose lines are not yet part of the function's text.
    """

    blocks: dict[Point, list[str]]
    edges: Mapping[int, EdgeBlock]
    phis: Mapping[int, Sequence[Phi]]

    def take(self, where: Where, block: int) -> Sequence[str]:
        """The lines for a point of a block (0 for the entry), which now become part of the text."""
        return self.blocks.pop(Point(where, block), ())

    def check_all_taken(self, function: str) -> None:
        """Raise an error if lines for a point of a function have not been taken: a probe would be lost."""
        if self.blocks:
            points = ", ".join(f"{where.name} of block {block}" for where, block in self.blocks)
            raise RuntimeError(
                f"internal error: the code for {points} of function {function} was not emitted"
            )


def gather(phases: Iterable[Emitted]) -> FunctionCode:
    """Collect what the phases have emitted, in their order."""
    blocks: dict[Point, list[str]] = {}
    edges: dict[int, EdgeBlock] = {}
    phis: dict[int, list[Phi]] = {}
    for phase in phases:
        for point, lines, label in phase.insertions:
            if point.where is Where.EDGE:
                edges.setdefault(point.number, EdgeBlock(label, [])).lines.extend(lines)
            elif lines:
                blocks.setdefault(point, []).extend(lines)
        for phi in phase.phis:
            phis.setdefault(phi.block, []).append(phi)
    return FunctionCode(blocks, edges, phis)
