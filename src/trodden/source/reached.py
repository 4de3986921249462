"""How often control reached each line of a block.

A block is executed from its first line to its last, unless it is left in the middle: by a call that did not
return, or by a signal.  A profile says at which call, or on which line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trodden.plan.routes import PathCount
from trodden.profile.model import Count, FunctionProfile
from trodden.program.facts import BlockFacts, LineRef


@dataclass(frozen=True, slots=True)
class ReachedLines:
    """``counts[n]`` is how often line ``n`` of a block was reached; it is not certain from ``unknown`` on."""

    counts: Sequence[Count]
    unknown: int


def reached_lines(function: FunctionProfile, block: int) -> ReachedLines:
    """How often each line of a block was reached."""
    facts = function.facts.blocks[block]
    size = len(facts.lines)
    count = function.block_counts[block]
    ended = function.cut_short.get(block, 0)
    stops = function.stops_by_block.get(block, {})
    if not ended and not stops:
        return ReachedLines([count] * size, size)
    stopped = [0] * (size + 1)
    for position, times in stops.items():
        line = facts.line_at(position)
        if line is not None:
            ended -= times
            stopped[line + 1] += times
    counts: list[Count] = []
    for line in range(size):
        count -= stopped[line]
        counts.append(count)
    return ReachedLines(counts, _first_behind_call(facts) if ended > 0 else size)


def reached_on_path(function: FunctionProfile, path: PathCount, block: int) -> Iterator[tuple[LineRef, int]]:
    """The lines of the last block of a path, and on how many of its executions each was reached."""
    facts = function.facts.blocks[block]
    stops = {where: times for (number, where), times in function.path_stops.items() if number == path.id}
    ended = [(facts.line_at(position), times) for position, times in stops.items()]
    for index, ref in facts.statement_lines:
        before = sum(times for line, times in ended if line is not None and line < index)
        yield ref, max(path.count - before, 0)


def _first_behind_call(block: BlockFacts) -> int:
    """The first line of a block that a call or a signal may have kept from being reached."""
    return 1 if not block.call_lines else min(block.call_lines) + 1
