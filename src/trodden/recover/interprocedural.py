"""From the counts of interprocedural paths to those of edges and of each procedure's own paths (MR98 §3.4).

The active suffixes of all paths, those that were cut short included, partition what was executed.  So an edge
was taken as often as it is in an active suffix, whatever the mode.

The own paths of a procedure, which a path profile of it alone would have, follow from context paths only: an
interprocedural path ends those whose last edge is in its active suffix, and what such a path was before is in
the context.  A piece that begins inside of a callee tells nothing of how its caller came to the call.

A frame that was in a kept call when it was lost is *pending*: its interprocedural path went on in the callee,
where it is counted, but its own path ended there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import (
    How,
    InterproceduralPath,
    Step,
    path_with,
    prefix_with,
    suffix_start,
)
from trodden.plan.interprocedural.points import EDGES, ENDS, Kind
from trodden.plan.interprocedural.tally import InterproceduralTally, Lost
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.recover.budget import Budget
from trodden.recover.edges_from_blocks import edge_name

_STEPS_A_PATH = 1024


@dataclass(frozen=True)
class CountedPath:
    """An interprocedural path and how often its active suffix was executed in its context.

    The steps before ``suffix`` are the context.  ``lost`` is where it was cut short, if it was.
    """

    number: int
    path: InterproceduralPath
    suffix: int
    count: int
    lost: Lost | None = None


@dataclass
class InterproceduralFlow:
    """All counts of a program, by procedure.

    ``edges`` and ``entries`` are how often edges were taken and procedures entered, without arrivals by
    jumps. ``own`` are the own paths of each procedure, whole or cut short; none for pieces and for split
    paths.
    """

    paths: list[CountedPath]
    edges: list[list[int]]
    entries: list[int]
    own: list[Counter[Route]] | None
    violations: list[str] = field(default_factory=list)


def recover_interprocedural(
    numbering: Numbering,
    tally: InterproceduralTally,
    loops: Mapping[tuple[int, int], int],
    budget: Budget | None = None,
) -> InterproceduralFlow:
    """Decode all paths and add them up; ``loops`` are the counts of self loops, by procedure and edge."""
    whole_paths = numbering.mode is Mode.CONTEXT and not numbering.split
    recovery = _Recovery(numbering, budget or Budget(len(tally.paths) + len(tally.lost), _STEPS_A_PATH))
    for (table, number), count in sorted(tally.paths.items()):
        recovery.add_path(table, number, count)
    for lost, count in sorted(tally.lost.items()):
        recovery.add_lost(lost, count)
    recovery.check_starts(tally.jumps)
    if whole_paths:
        recovery.check_own()
    for (procedure, edge), count in loops.items():
        recovery.edges[procedure][edge] += count
    return InterproceduralFlow(
        sorted(recovery.paths, key=lambda path: -path.count),
        recovery.edges,
        recovery.entries,
        recovery.own if whole_paths else None,
        recovery.violations,
    )


class _Recovery:
    def __init__(self, numbering: Numbering, budget: Budget) -> None:
        self._numbering = numbering
        self._budget = budget
        self.paths: list[CountedPath] = []
        self.edges = [[0] * len(procedure.graph.edges) for procedure in numbering.program]
        self.entries = [0] * len(numbering.program)
        self.own: list[Counter[Route]] = [Counter() for _ in numbering.program]
        self.starts: list[Counter[int]] = [Counter() for _ in numbering.program]
        self.violations: list[str] = []

    def add_path(self, table: int, number: int, count: int) -> None:
        try:
            path = path_with(self._numbering, table, number)
        except ValueError as error:
            self.violations.append(f"{error}, but it was counted")
            return
        self._add(CountedPath(number, path, suffix_start(self._numbering, path.steps), count), False)

    def add_lost(self, lost: Lost, count: int) -> None:
        last = lost.procedure, lost.point
        try:
            path = prefix_with(self._numbering, lost.table, lost.number, lost.sites, last)
        except ValueError as error:
            self.violations.append(str(error))
            return
        suffix = suffix_start(self._numbering, path.steps)
        self._add(CountedPath(lost.number, path, suffix, count, lost), lost.pending)

    def _add(self, counted: CountedPath, pending: bool) -> None:
        path, count = counted.path, counted.count
        self._budget.spend(len(path.steps), self._numbering.program[path.procedure].graph.name)
        if not pending:
            self.paths.append(counted)
            for step in path.steps[counted.suffix :]:
                self._add_step(step, count)
        if self._numbering.mode is Mode.CONTEXT and not self._numbering.split:
            for procedure, route, index in _own_paths(self._numbering, path):
                whole = route.ends is not PathEnd.UNWOUND
                if (whole and index >= counted.suffix and not pending) or (
                    not whole and counted.lost is not None
                ):
                    self.own[procedure][route] += count

    def _add_step(self, step: Step, count: int) -> None:
        if step.how is not How.ALONG:
            return
        arc = self._numbering.points[step.procedure].arcs[step.arc]
        if arc.kind in EDGES:
            self.edges[step.procedure][arc.of] += count
        elif arc.kind is Kind.ENTRY:
            self.entries[step.procedure] += count
        elif arc.kind is Kind.START:
            self.starts[step.procedure][arc.of] += count

    def check_starts(self, jumps: Mapping[tuple[int, int], int]) -> None:
        """Paths start in a block as often as others have ended before it, and control has jumped there."""
        for number, points in enumerate(self._numbering.points):
            graph = points.dag.graph
            ended: Counter[int] = Counter()
            for arc in points.arcs:
                if arc.kind in (Kind.END, Kind.PAD_END):
                    ended[graph.edges[arc.of].dst] += self.edges[number][arc.of]
            for (procedure, edge), count in jumps.items():
                if procedure == number:
                    ended[graph.edges[edge].dst] += count
            for block in sorted({*ended, *self.starts[number]}):
                if ended[block] != self.starts[number][block]:
                    self.violations.append(
                        f"{graph.name}: {self.starts[number][block]} paths start in block"
                        f" {graph.labels[block]}, {ended[block]} end before it"
                    )

    def check_own(self) -> None:
        """The edges of the own paths of a procedure are those of the active suffixes."""
        for number, procedure in enumerate(self._numbering.program):
            found: Counter[int] = Counter()
            for route, count in self.own[number].items():
                for edge in route.edges:
                    found[edge] += count
            self.violations += [
                f"{procedure.graph.name}: edge {edge_name(procedure.graph, edge)} was taken"
                f" {count} times, its own paths say {found[edge]}"
                for edge, count in enumerate(self.edges[number])
                if count != found[edge]
            ]


@dataclass
class _Own:
    """The own path of an activation so far."""

    procedure: int
    starts: PathStart = PathStart.ENTRY
    blocks: list[int] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)

    def route(self, ends: PathEnd) -> Route:
        return Route(tuple(self.blocks), tuple(self.edges), self.starts, ends)


def _own_paths(numbering: Numbering, path: InterproceduralPath) -> list[tuple[int, Route, int]]:
    """The own paths that end on a context path, each with its procedure and the index of its last step.

    If the path was cut short, the own path of its last frame comes last.
    """
    active = [_Own(path.procedure)]
    found = []
    for index, step in enumerate(path.steps):
        points = numbering.points[step.procedure]
        arc = points.arcs[step.arc]
        if step.how is How.ENTER:
            active.append(_Own(numbering.callee[step.procedure][arc.src]))
        elif step.how is How.RETURN:
            active.pop()
        elif arc.kind in (Kind.ENTRY, Kind.START):
            kind = points.dag.first_of[arc.of] if arc.kind is Kind.START else PathStart.ENTRY
            active[-1] = _Own(step.procedure, kind, [arc.of])
        elif arc.kind is not Kind.SUMMARY:
            own = active[-1]
            own.edges.append(arc.of)
            if arc.kind in ENDS:
                ends = PathEnd.BACK_EDGE if arc.of in points.dag.back_edges else PathEnd.CUT
                found.append((step.procedure, own.route(ends), index))
                return found
            if arc.dst == points.exit:
                found.append((step.procedure, own.route(PathEnd.EXIT), index))
            else:
                own.blocks.append(points.block[arc.dst])
    last = path.steps[-1]
    if not (
        last.how is How.ALONG
        and numbering.points[last.procedure].arcs[last.arc].dst == _exit(numbering, last)
    ):
        found.append((active[-1].procedure, active[-1].route(PathEnd.UNWOUND), len(path.steps)))
    return found


def _exit(numbering: Numbering, step: Step) -> int:
    return numbering.points[step.procedure].exit
