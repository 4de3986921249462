"""From the number of an interprocedural path to the path, and back (MR98 Algorithms 5.1, 5.2 and 6.1).

MR98 leaves the inverse of Algorithm 6.1 as an exercise.  It goes like 5.2, but where a piece leaves the
procedure in which it has started, it goes on behind the kept call whose edge has the largest value that is no
more than what is left of the number.

The printed Algorithm 6.1 applies ψ of the return vertex to numUnbalRLPaths[Exit_S] there.  The number of
paths from the exit of S, which numValidCompsFromExit stands for, is numUnbalRLPaths[Exit_S] itself; Figure
17 has that, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from trodden.plan.interprocedural.numbering import Numbering
from trodden.plan.interprocedural.points import SURROGATES, Arc, Kind
from trodden.plan.interprocedural.program import Site


class How(Enum):
    """A step of a path: along an arc, by a call into its callee, or from the exit to behind a call."""

    ALONG = "along"
    ENTER = "enter"
    RETURN = "return"


class Step(NamedTuple):
    """``arc`` is an arc of ``procedure``; for ENTER and RETURN the CALL arc of the caller."""

    how: How
    procedure: int
    arc: int


@dataclass(frozen=True)
class InterproceduralPath:
    """A path that starts in a procedure: at its entry (``whole``), or at GEntry_P.

    A path that was cut short ends before it comes to EXIT or GExit_P.
    """

    procedure: int
    whole: bool
    steps: tuple[Step, ...]


class _Position:
    """Where a path is, and what numbers depend on: the stacks of Algorithms 5.1, 5.2 and 6.1."""

    def __init__(self, numbering: Numbering, procedure: int, whole: bool) -> None:
        points = numbering.points[procedure]
        self.numbering = numbering
        self.procedure, self.balanced = procedure, whole
        self.node = points.entry if whole else points.inside
        self.completions = 1 if whole else numbering.unbalanced[procedure]
        self.calls: list[tuple[int, int, int]] = []

    @property
    def at_exit(self) -> bool:
        return self.node == self.numbering.points[self.procedure].exit

    @property
    def finished(self) -> bool:
        """Whether nothing of this path can follow."""
        if self.at_exit:
            return not self.calls and self.balanced
        return not self.numbering.points[self.procedure].outs[self.node]

    @property
    def open_sites(self) -> tuple[Site, ...]:
        """The kept calls of this path that have not returned, outermost first."""
        return tuple(self.numbering.site_of(number, point) for number, point, _ in self.calls)

    def take(self, arc: Arc) -> None:
        """Follow an arc of the procedure."""
        number = self.procedure
        if arc.kind is Kind.CALL:
            self.calls.append((number, arc.src, self.completions))
            self.completions = self.numbering.behind_call(number, arc.src).of(self.completions)
            self.procedure = self.numbering.callee[number][arc.src]
            self.node = self.numbering.points[self.procedure].entry
        else:
            self.node = arc.dst

    def return_to(self, procedure: int, point: int) -> int:
        """Return behind a call; what that adds to the number."""
        self.node = point
        if self.calls:
            self.procedure, _, self.completions = self.calls.pop()
            return 0
        self.procedure = procedure
        self.completions = self.numbering.unbalanced[procedure]
        return self.numbering.value_at_return(procedure, point - 1)


def path_with(numbering: Numbering, procedure: int, number: int) -> InterproceduralPath:
    """The path that has a number in the table of a procedure (Algorithm 5.2 and the inverse of 6.1)."""
    whole, rest = _start(numbering, procedure, number)
    steps = tuple(step for step, _, _ in _follow(numbering, procedure, whole, rest))
    return InterproceduralPath(procedure, whole, steps)


def prefix_with(
    numbering: Numbering, procedure: int, number: int, sites: Sequence[Site], last: tuple[int, int]
) -> InterproceduralPath:
    """The path of a table that was cut short at the point ``last`` (procedure and node) with a number.

    ``sites`` are the kept calls of this path that were active, outermost first.  They are needed, because a
    path may come to the same point with the same number in several calls of its procedure.
    """
    whole, rest = _start(numbering, procedure, number)
    steps: list[Step] = []
    wanted = tuple(sites)
    for step, left, position in _follow(numbering, procedure, whole, rest):
        steps.append(step)
        if (position.procedure, position.node) == last and position.open_sites == wanted:
            if left == 0:
                return InterproceduralPath(procedure, whole, tuple(steps))
            break
    name = numbering.program[last[0]].graph.name
    raise ValueError(f"{name}: no path is cut short at point {last[1]} with the number {number}")


def _start(numbering: Numbering, procedure: int, number: int) -> tuple[bool, int]:
    table = numbering.tables[procedure]
    if not 0 <= number < table.size:
        raise ValueError(f"{numbering.program[procedure].graph.name}: there is no path {number}")
    return (True, number) if number < table.whole else (False, number - table.whole)


def _follow(
    numbering: Numbering, procedure: int, whole: bool, rest: int
) -> Iterator[tuple[Step, int, _Position]]:
    """The steps of a path, what is left of the number after each, and where it leads."""
    at = _Position(numbering, procedure, whole)
    while not at.finished:
        if at.at_exit:
            point = _behind(at, rest)
            if point is None:
                return
            rest -= at.return_to(*point)
            yield Step(How.RETURN, point[0], numbering.call_arc(point[0], point[1] - 1)), rest, at
            continue
        number, points = at.procedure, numbering.points[at.procedure]
        outs, rho, completions = points.outs[at.node], numbering.rho[number], at.completions
        low, high = 0, len(outs)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if rho[outs[middle]].of(completions) <= rest else (low, middle)
        rest -= rho[outs[low]].of(completions)
        arc = points.arcs[outs[low]]
        at.take(arc)
        yield Step(How.ENTER if arc.kind is Kind.CALL else How.ALONG, number, outs[low]), rest, at


def _behind(at: _Position, rest: int) -> tuple[int, int] | None:
    """Where a path goes on at the exit of a procedure: procedure and point; ``None`` at Exit_global."""
    if at.calls:
        number, point, _ = at.calls[-1]
        return number, point + 1
    ways = at.numbering.returns[at.procedure]
    way = ways[bisect_right(ways, rest, key=lambda way: way.value) - 1]
    return None if way.point is None else (way.procedure, way.point)


def number_of(numbering: Numbering, path: InterproceduralPath) -> int:
    """The number of a path in the table of its procedure (Algorithms 5.1 and 6.1).

    For a path that was cut short, the number of the path that goes on from there with arcs of value 0.
    """
    table = numbering.tables[path.procedure]
    total = 0 if path.whole else table.whole
    at = _Position(numbering, path.procedure, path.whole)
    if not (table.whole if path.whole else table.inside):
        raise ValueError(f"{numbering.program[path.procedure].graph.name}: no path starts here")
    for step in path.steps:
        arc = numbering.points[step.procedure].arcs[step.arc]
        if at.finished:
            raise no_path(numbering, path)
        if step.how is How.RETURN:
            expected = (at.calls[-1][0], at.calls[-1][1]) if at.calls else (step.procedure, arc.src)
            called = numbering.callee[step.procedure].get(arc.src)
            if not at.at_exit or expected != (step.procedure, arc.src) or called != at.procedure:
                raise no_path(numbering, path)
            total += at.return_to(step.procedure, arc.dst)
            continue
        if (step.procedure, arc.src) != (at.procedure, at.node) or (
            (arc.kind is Kind.CALL) != (step.how is How.ENTER)
        ):
            raise no_path(numbering, path)
        total += numbering.rho[step.procedure][step.arc].of(at.completions)
        at.take(arc)
    if at.at_exit and not at.calls and not at.balanced:
        total += numbering.value_at_end(at.procedure)
    return total


def no_path(numbering: Numbering, path: InterproceduralPath) -> ValueError:
    """The error for steps that do not follow each other."""
    return ValueError(f"{numbering.program[path.procedure].graph.name}: this is no path")


def suffix_start(numbering: Numbering, steps: Sequence[Step]) -> int:
    """The index of the step with which the active suffix begins, a surrogate one if there is any (§3.4).

    What is before it is the context.
    """
    for index in range(len(steps) - 1, -1, -1):
        step = steps[index]
        if step.how is How.ALONG and numbering.points[step.procedure].arcs[step.arc].kind in SURROGATES:
            return index
    return 0


def blocks_of(numbering: Numbering, steps: Iterable[Step]) -> list[tuple[int, int]]:
    """The blocks that these steps come to, each with its procedure.

    A return comes back to the block of its call, which is named again.
    """
    found = []
    for step in steps:
        points = numbering.points[step.procedure]
        arc = points.arcs[step.arc]
        if step.how is How.ENTER or arc.kind is Kind.SUMMARY or arc.dst >= points.exit:
            continue
        found.append((step.procedure, points.block[arc.dst]))
    return found
