"""A decoded path: the blocks and edges of a path number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class PathStart(Enum):
    """How control came to the start of a path."""

    ENTRY = "entry"
    BACK_EDGE = "back_edge"
    CUT = "cut"
    RESUME = "handler"  # the name in the format


class PathEnd(Enum):
    """How a path ended; unwound means in the middle of a block, by exit, longjmp or an exception."""

    EXIT = "exit"
    BACK_EDGE = "back_edge"
    CUT = "cut"
    UNWOUND = "unwound"


@dataclass(frozen=True, slots=True)
class Route:
    """The blocks and edges of a path.

    ``blocks`` are vertices, EXIT left out.  ``edges`` are the edges between them and, unless the route was
    cut short, the one it ended on (to EXIT, or a back edge or cut edge): then there are as many as blocks.
    The first ``context`` blocks are the loop context: the prefix by which control had reached the loop in
    which this path starts (MR98 §7); 0 for a path without context.  Where a path starts after edges of
    several kinds, RESUME takes precedence over CUT and CUT over BACK_EDGE.

    A path in context that starts after a back edge ``starts`` with BACK_EDGE at ``blocks[context]``.  Then
    ``reentries`` are the indices in ``blocks`` of all loop headers that were reached by a back edge, the last
    of them being ``context`` itself, and ``context_starts`` is how the context starts.
    """

    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    starts: PathStart
    ends: PathEnd
    context: int = 0
    reentries: tuple[int, ...] = ()
    context_starts: PathStart | None = None


@dataclass(frozen=True, slots=True)
class PathCount:
    """A path of a function and how often it was executed from its start to its end.

    ``blocks`` are its vertices, EXIT left out; ``edges`` its edges with the one on which it ended: an edge to
    EXIT, a back edge or a cut edge.  A path that was cut short took no edge from its last block.  Its ``id``
    is ``number * (block + 1) + s``, where ``number`` is the number of paths, ``block`` its last block and
    ``s`` the sum of values up to there (``s`` alone where the last block has no successors).  The first
    ``context`` blocks were not executed as part of this path: they are its loop context (MR98 §7).
    ``cycles`` is the time spent on it, that of its callees included.
    """

    id: int
    count: int
    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    starts: PathStart
    ends: PathEnd
    cycles: int | None = None
    context: int = 0
