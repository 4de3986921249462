"""A path spelled out: the blocks and edges behind a path's number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PathStart(Enum):
    """How control came to the start of a path."""

    ENTRY = "entry"
    BACK_EDGE = "back_edge"
    CUT = "cut"
    HANDLER = "handler"


class PathEnd(Enum):
    """How a path ended; unwound means in the middle of a block, by exit, longjmp or an exception."""

    EXIT = "exit"
    BACK_EDGE = "back_edge"
    CUT = "cut"
    UNWOUND = "unwound"


@dataclass(frozen=True, slots=True)
class Route:
    """What a path leads through.

    ``blocks`` are vertices, EXIT left out.  ``edges`` are the edges between them and, unless the route was
    cut short, the one it ended on (to EXIT, or a back edge or cut edge): then there are as many as blocks.
    The first ``context`` blocks tell how control had come to the loop where the walk of this path began
    (MR98 §7); 0 for a path that is not in context.  Where a path starts behind edges of several
    kinds, HANDLER goes before CUT and CUT before BACK_EDGE.

    A walk that began behind a back edge in context ``starts`` with BACK_EDGE at ``blocks[context]``.  Then
    ``again`` are the places in ``blocks`` of all loop entries that had been come to by a back edge, the last
    of them being ``context`` itself, and ``came`` is how the context began.
    """

    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    starts: PathStart
    ends: PathEnd
    context: int = 0
    again: tuple[int, ...] = ()
    came: PathStart | None = None


@dataclass(frozen=True, slots=True)
class PathCount:
    """A path of a function and how often it was walked from its start to its end.

    ``blocks`` are the vertices it led through, EXIT left out; ``edges`` the edges it took, with the last one:
    that to EXIT, or the back edge or cut edge on which it ended.  One that was cut short took none from
    its last block, and has a number of its own: that of the possible paths times its last block plus
    one, plus the number it would have had (the latter alone where no way leads on from its last block).
    The first ``context`` blocks are not part of what was walked but tell how control had come to the
    loop (MR98 §7).  ``cycles`` is the time spent, with all that was called on the way.
    """

    id: int
    count: int
    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    starts: PathStart
    ends: PathEnd
    cycles: int | None = None
    context: int = 0
