"""The counts that follow from a trace are those of counters in the same run, by both readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

import pytest
from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.trace.programs import MakePlan, by_paths, random_program
from tests.recover.trace.programs import Known, library
from trodden.graph.cfg import Graph
from trodden.plan.probes import RedundantMeasure
from trodden.plan.trace.checked import checked_trace
from trodden.plan.trace.execution import Ending, Program, ThreadRun
from trodden.plan.trace.interpret import run
from trodden.recover.trace.counting import (
    CountingProgram,
    CountingReader,
    PathArc,
    PathsOfProcedure,
    TraceCounts,
)
from trodden.recover.trace.ending import ActiveFrame, finish
from trodden.recover.trace.longer import MOST_PAIRS, PairCounts

_Key = TypeVar("_Key")


def checked(make: MakePlan) -> MakePlan:
    return lambda graph, weights, found: checked_trace(make(graph, weights, found), graph)


def numbered(graph: Graph) -> PathsOfProcedure:
    """Numbers that tell paths apart as far as 64 bits can; paths end where they go back to the root."""
    arcs = {
        edge: PathArc(
            3**edge % (1 << 40),
            restart=edge,
            ends=graph.edges[edge].dst in (graph.root, graph.exit),
            joins=graph.edges[edge].dst == graph.root,
            leaves=graph.edges[edge].dst == graph.exit,
        )
        for edge in graph.flow_edges()
    }
    return PathsOfProcedure(5, arcs, list(range(graph.exit)))


def counted(
    program: Program, threads: list[ThreadRun], compiled: bool, most: int = MOST_PAIRS
) -> TraceCounts:
    known = Known(program)
    counts = TraceCounts(longer=PairCounts(most=most))
    paths = {number: numbered(each.graph) for number, each in enumerate(program.procedures)}
    in_c = CountingProgram(library(), known, paths, counts.longer) if compiled else None
    for thread in threads:
        reader = CountingReader(known, counts, paths) if in_c is None else in_c.reader()
        counts.add_events(list(reader.feed(thread.data)))
        if thread.ending is not Ending.KILLED:
            frames = [ActiveFrame(function, block) for function, block in thread.frames]
            counts.add_events(list(finish(reader, known, frames)))
        for number, at, _, path in reader.frames_with_paths:
            counts.end_of(number, at, path)
        reader.end()
    if in_c is not None:
        in_c.add_to(counts)
    return counts


@pytest.mark.parametrize("compiled", [False, True])
@settings(max_examples=150)
@given(seed=seeds())
def test_edges_are_counted_as_by_counters(compiled: bool, seed: int) -> None:
    program = random_program(seed, checked(by_paths))
    threads = run(program, seed, threads=2, steps=60)
    if any(thread.ending is Ending.KILLED for thread in threads):
        return
    counts = counted(program, threads, compiled)
    for number, procedure in enumerate(program.procedures):
        wanted: Counter[int] = Counter()
        for thread in threads:
            values = thread.counters.get(number, [0] * procedure.plan.slots)
            for measure, value in zip(procedure.plan.measures, values, strict=True):
                assert isinstance(measure, RedundantMeasure)
                wanted[measure.edge] += value
        found = +counts.edges.get(number, Counter())
        # The interpreter does not say that a tail call leaves its procedure.
        tails = {edge for block in procedure.trace.tails for edge in procedure.graph.out_edges[block]}
        assert {e: n for e, n in found.items() if e not in tails} == +wanted


@settings(max_examples=150)
@given(seed=seeds())
def test_both_readers_count_the_same(seed: int) -> None:
    program = random_program(seed, by_paths)
    threads = run(program, seed, threads=3, steps=60)
    python, compiled = (counted(program, threads, each) for each in (False, True))
    assert _counted(python.edges) == _counted(compiled.edges)
    assert _counted(python.paths) == _counted(compiled.paths)
    assert _counted(python.prefixes) == _counted(compiled.prefixes)
    assert +python.entries == +compiled.entries
    assert python.longer == compiled.longer
    assert python.longer is not None


@settings(max_examples=100)
@given(seed=seeds())
def test_both_readers_count_as_many_pairs_as_they_may(seed: int) -> None:
    program = random_program(seed, by_paths)
    threads = run(program, seed, threads=2, steps=60)
    for most in (1, 3):
        python, compiled = (counted(program, threads, each, most).longer for each in (False, True))
        assert python is not None
        assert python == compiled
        assert len(python.pairs) <= most


def _counted(counts: Mapping[int, Counter[_Key]]) -> dict[tuple[int, _Key], int]:
    return {(f, key): times for f, each in counts.items() for key, times in each.items() if times}
