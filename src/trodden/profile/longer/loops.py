"""Paths of two iterations of a loop, from a profile of paths (TZG04 §2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from trodden.plan.overlapping.loop_paths import LoopPath
from trodden.plan.overlapping.numbering import OverlappingPath
from trodden.plan.routes import PathEnd
from trodden.profile.longer.ends import Ends
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.listing import bounded_paths
from trodden.profile.longer.model import (
    Crossing,
    CrossingFlow,
    LongerKind,
    LongerPath,
    NotTold,
    PathPart,
    Solver,
    Source,
    part_of,
)
from trodden.recover.bounds.loops import LoopReading, loop_margins

Found = tuple[CrossingFlow, list[LongerPath]]


def loops_of(own: FunctionPaths, ends: Ends, solver: Solver, most: int) -> Iterator[Found | NotTold]:
    """The longer paths of each loop that was executed, from the counts of paths alone."""
    reading = LoopReading(own.ways.dag, own.paths, own.nest)
    for route, count in own.routes():
        if route.ends is PathEnd.UNWOUND:
            reading.add_start(route, count)
        else:
            reading.add(OverlappingPath(route), count)
    yield from loops_read(own, reading, Source.PATHS, ends, solver, most)


def loops_read(
    own: FunctionPaths, reading: LoopReading, source: Source, ends: Ends, solver: Solver, most: int
) -> Iterator[Found | NotTold]:
    """The same from the facts of all loops."""

    def part(path: LoopPath) -> PathPart:
        return part_of(own.graph, path.start, path.edges)

    for header, facts in reading.facts.items():
        if not facts.crossings:
            continue
        crossing = Crossing(LongerKind.LOOP, own.key, None, header)
        degree = facts.owner.degree
        tables = loop_margins(own.ways, facts)
        told = Source.PATHS if degree == -1 else source
        found = bounded_paths(crossing, tables, (part, part), ends.of(crossing), told, solver, most, degree)
        yield found or NotTold(
            LongerKind.LOOP,
            own.key,
            f"the counts of its loop at {own.graph.labels[header]} contradict each other",
            nothing=True,
        )
