"""The end of a thread's trace: the frames that were active then prove more than the last record does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from trodden.recover.trace.events import Event
from trodden.recover.trace.procedure import NO_CALL, Procedure


class ActiveFrame(NamedTuple):
    """A frame at the end: the function by its number, and its block, ``None`` if it was about to return.

    ``total`` is the sum of the arcs from the start of its region to the block, in a trace of paths, if that
    is known.
    """

    function: int
    block: int | None
    interrupted: bool = False
    total: int | None = None


class Ended(Protocol):
    """A reader that has read the last record."""

    @property
    def top(self) -> tuple[int, int, int, bool] | None:
        """The innermost frame: how many there are, its function, its block, and whether it is in a call."""

    def go_on(self) -> list[Event] | None:
        """What the innermost frame does next, if it is certain."""

    def extend(self, blocks: Sequence[int]) -> list[Event]:
        """The innermost frame has come so far in its region."""


class Procedures(Protocol):
    """What knows the procedures of a program."""

    def procedure(self, number: int) -> Procedure | None:
        """The tables of a function."""


_MOST_STEPS = 1 << 16


def finish(reader: Ended, program: Procedures, frames: Sequence[ActiveFrame]) -> Iterator[Event]:
    """What happened after the last record, until these frames (innermost first) were active."""
    wanted = frames[::-1]
    for _ in range(_MOST_STEPS):
        top = reader.top
        if top is None:
            return
        depth, function, at, in_call = top
        if depth <= len(wanted) and wanted[depth - 1].function == function:
            block = wanted[depth - 1].block
            if in_call and at == block:
                return
            code = program.procedure(function)
            if not in_call and block is not None and code is not None and depth == len(wanted):
                way, arrived = _way_of(code, at, block, wanted[depth - 1].total)
                if arrived and (wanted[depth - 1].interrupted or not code.silent[at]):
                    yield from reader.extend(way)
                    return
                if not code.silent[at]:
                    yield from reader.extend(way)
                    return
        events = reader.go_on()
        if events is None:
            return
        yield from events


def _way_of(code: Procedure, start: int, block: int, total: int | None) -> tuple[list[int], bool]:
    """The same as :func:`way_to`, of a frame that may tell which of several ways it has taken."""
    way = None if total is None else code.way_by_sum(start, total, block)
    return way_to(code, start, block) if way is None else (way, True)


def way_to(code: Procedure, start: int, block: int) -> tuple[list[int], bool]:
    """The blocks that were executed for certain on the way from the start of a region to a block.

    The second result is whether they lead there: not if several ways do, or none.
    """
    if not 0 <= block < code.exit:
        return [], False
    before: dict[int, list[int]] = {}
    seen, pending = {start}, [start]
    while pending:
        vertex = pending.pop()
        if code.calls[vertex] != NO_CALL:
            continue
        for arc in code.arcs[vertex]:
            if not arc.ends and arc.target != code.exit:
                before.setdefault(arc.target, []).append(vertex)
                if arc.target not in seen:
                    seen.add(arc.target)
                    pending.append(arc.target)
    leading, pending = {block}, [block]
    while pending:
        for vertex in before.get(pending.pop(), ()):
            if vertex not in leading:
                leading.add(vertex)
                pending.append(vertex)
    if start not in leading:
        return [], False
    way = [start]
    while way[-1] != block:
        onward = {arc.target for arc in code.arcs[way[-1]] if not arc.ends and arc.target in leading}
        if len(onward) != 1:
            return way, False
        way.append(onward.pop())
        if len(way) > code.exit:
            return way[:1], False
    return way, True
