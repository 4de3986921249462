"""Which chunk of a thread a position is in."""

from __future__ import annotations

from bisect import bisect_right

from trodden.profile.trace.threads import ThreadTrace


def chunk_at(thread: ThreadTrace, position: int) -> int:
    """The chunk in which the block with a number is executed."""
    return max(min(bisect_right(thread.starts(), position) - 1, len(thread.main) - 1), 0)


def chunk_at_share(thread: ThreadTrace, share: float) -> int:
    """The chunk at a share of the records, from 0 to 1."""
    wanted = share * sum(chunk.piece.size for chunk in thread.main)
    for index, chunk in enumerate(thread.main):
        wanted -= chunk.piece.size
        if wanted < 0:
            return index
    return max(len(thread.main) - 1, 0)


def chunk_at_time(thread: ThreadTrace, nanoseconds: int) -> int:
    """The chunk that was in use at a time after the first one began; behind the last one after the end."""
    if not thread.main:
        return 0
    end = nanoseconds_of(thread)
    if end is not None and nanoseconds > end:
        return len(thread.main)
    began = [chunk.began - thread.main[0].began for chunk in thread.main]
    return max(bisect_right(began, nanoseconds) - 1, 0)


def nanoseconds_of(thread: ThreadTrace) -> int | None:
    """How long after the first chunk began the last one ended; ``None`` if that is not known."""
    ends = [chunk.ended for chunk in thread.chunks]
    return max(ends) - thread.main[0].began if thread.main and all(ends) else None
