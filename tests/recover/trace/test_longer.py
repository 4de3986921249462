"""Pairs of paths in traces are those of the execution, found by their definition."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.trace.programs import MakePlan, by_bits, by_paths, by_witnesses, random_program
from tests.recover.trace.programs import Known, library
from trodden.plan.overlapping.loops import joining_edges
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Paths
from trodden.plan.trace.activation import Activation, Procedure
from trodden.plan.trace.execution import Ending, Program, ThreadRun
from trodden.plan.trace.interpret import _Thread
from trodden.plan.trace.region_graph import flow_out
from trodden.recover.trace.counting import (
    CountingProgram,
    CountingReader,
    PathArc,
    PathsOfProcedure,
    TraceCounts,
)
from trodden.recover.trace.ending import ActiveFrame, finish
from trodden.recover.trace.events import NONE, Kind
from trodden.recover.trace.longer import PairCounts, PairKind, TracedPair

Blocks = tuple[int, ...]


class Pair(NamedTuple):
    """Two parts in succession, by their blocks."""

    kind: PairKind
    function: int
    callee: int
    site: int
    first: Blocks
    second: Blocks


class Numbered:
    """The numbers of the paths of a procedure, as a derived profile has them."""

    def __init__(self, procedure: Procedure) -> None:
        graph, trace = procedure.graph, procedure.trace
        resumed = [
            edge
            for block in trace.resumes
            for edge in graph.out_edges[block]
            if graph.edges[edge].dst not in trace.landings and graph.edges[edge].dst != graph.exit
        ]
        found = path_plan(graph, [1.0] * len(graph.edges), limit=None, resume_edges=resumed).paths
        assert found is not None
        self.graph = graph
        self.sites = frozenset(block for block in trace.calls if block % 5)
        self.paths: Paths = found
        self.numbering = Numbering(graph, found)
        self.joining = joining_edges(self.numbering.dag, found)

    def of_reader(self) -> PathsOfProcedure:
        arcs = list(zip(self.numbering.dag.arcs, self.numbering.value, strict=True))
        starts = {arc.of: value for arc, value in arcs if arc.kind is ArcKind.START}
        entry = sum(value for arc, value in arcs if arc.kind is ArcKind.ENTRY)
        edges = {}
        for arc, value in arcs:
            if arc.kind is ArcKind.END:
                restart = starts[self.graph.edges[arc.of].dst]
                edges[arc.of] = PathArc(value, restart, ends=True, joins=arc.of in self.joining)
            elif arc.kind is ArcKind.REAL:
                ends = arc.dst == self.graph.exit
                edges[arc.of] = PathArc(value, ends=ends, leaves=ends)
        return PathsOfProcedure(entry, edges, [0] * self.graph.exit, self.sites)

    def decoded(self, number: int, end: int) -> Blocks:
        route = self.numbering.regenerate(number) if end == NONE else self.numbering.prefix(end, number)
        return route.blocks

    def behind(self, site: int, rest: int, end: int) -> Blocks:
        edges = self.numbering.rest(site, rest, None if end == NONE else end)
        targets = [self.graph.edges[edge].dst for edge in edges if edge not in self.ending]
        return tuple(block for block in (site, *targets) if block != self.graph.exit)

    @property
    def ending(self) -> set[int]:
        return {*self.paths.back_edges, *self.paths.cuts, *self.paths.resume_edges}


@dataclass(eq=False)
class Frame:
    """An activation and the path that it is on; what that continues, and who has called it."""

    number: int
    caller: Frame | None
    direct: bool
    blocks: list[int]
    before: Blocks | None = None
    entered_with: tuple[int, int, Blocks] | None = None
    returned: tuple[int, int, Blocks, int] | None = None
    entered: int = 0
    left: tuple[int, Blocks] | None = None
    done: Blocks | None = None


@dataclass
class Truth:
    """Told what a thread does, it finds the pairs."""

    procedures: list[Numbered]
    pairs: Counter[Pair] = field(default_factory=Counter)
    switched: bool = False

    def finish(self, frame: Frame) -> None:
        path = tuple(frame.blocks)
        if frame.before is not None:
            self.pairs[Pair(PairKind.LOOP, frame.number, NONE, NONE, frame.before, path)] += 1
        if frame.entered_with is not None:
            function, site, prefix = frame.entered_with
            self.pairs[Pair(PairKind.CALL, function, frame.number, site, prefix, path)] += 1
        self.finish_return(frame)
        frame.before = frame.entered_with = None

    def finish_return(self, frame: Frame) -> None:
        if frame.returned is not None:
            site, callee, path, at = frame.returned
            behind = tuple(frame.blocks[at:])
            self.pairs[Pair(PairKind.RETURN, frame.number, callee, site, path, behind)] += 1
        frame.returned = None


class Observed(_Thread):
    """A thread that tells what it does."""

    def __init__(self, program: Program, seed: str, truth: Truth) -> None:
        super().__init__(program, random.Random(seed), 60)
        self.truth = truth
        self.of: dict[int, Frame] = {}
        self.kept: list[Activation] = []

    def below(self) -> Activation | None:
        """The innermost activation: code without probes may lie in between."""
        return next((each for each in reversed(self.stack) if isinstance(each, Activation)), None)

    def call(self, number: int) -> None:
        caller = self.below()
        if caller is not None and caller.block not in self.truth.procedures[caller.number].sites:
            caller = None
        super().call(number)
        activation = self.stack[-1]
        assert isinstance(activation, Activation)
        frame = Frame(number, None, False, [self.program.procedures[number].graph.root])
        self.of[id(activation)] = frame
        self.kept.append(activation)
        if caller is not None:
            calling = self.of[id(caller)]
            calling.entered += 1
            calling.left = None
            if calling.entered == 1:
                frame.caller, frame.direct = calling, True
                frame.entered_with = calling.number, caller.block, tuple(calling.blocks)

    def make_call(self, activation: Activation) -> None:
        frame = self.of[id(activation)]
        if activation.block in self.truth.procedures[activation.number].sites:
            self.truth.finish_return(frame)
        frame.entered, frame.left = 0, None
        block, procedure = activation.block, activation.procedure
        if block in procedure.trace.tails:
            self.truth.finish(frame)
            if flow_out(procedure.graph, block):
                frame.done = tuple(frame.blocks)
                self.leave_to_caller(frame)
        super().make_call(activation)

    def go_back(self, activation: Activation, edge: int) -> None:
        frame = self.of[id(activation)]
        if activation.block in activation.procedure.trace.resumes:
            frame.left = None
        elif frame.left is not None:
            frame.returned = activation.block, *frame.left, len(frame.blocks) - 1
            frame.left = None
        super().go_back(activation, edge)

    def take(self, activation: Activation, edge: int) -> None:
        frame, words = self.of[id(activation)], self.truth.procedures[activation.number]
        source, target, _ = words.graph.edges[edge]
        if target in activation.procedure.trace.landings:
            frame.left = None
        if target == words.graph.exit:
            frame.done = tuple(frame.blocks)
            self.truth.finish(frame)
            if source not in activation.procedure.resuming:
                self.leave_to_caller(frame)
        elif edge in words.ending:
            path = tuple(frame.blocks)
            self.truth.finish(frame)
            frame.before = path if edge in words.joining else None
            frame.blocks = [target]
        elif source != target:
            frame.blocks.append(target)
        super().take(activation, edge)

    def leave_to_caller(self, frame: Frame) -> None:
        if frame.direct and frame.caller is not None and frame.caller.entered == 1 and frame.done is not None:
            frame.caller.left = frame.number, frame.done

    def leave(self) -> None:
        frame = self.stack[-1]
        if isinstance(frame, Activation):
            self.truth.finish(self.of[id(frame)])
        super().leave()

    def switch(self) -> None:
        self.truth.switched = True
        super().switch()

    def end(self, how: Ending) -> None:
        if not self.ended:
            for each in self.stack:
                if isinstance(each, Activation):
                    self.truth.finish(self.of[id(each)])
        super().end(how)


def observed(program: Program, seed: int) -> tuple[Truth, ThreadRun]:
    truth = Truth([Numbered(each) for each in program.procedures])
    thread = Observed(program, f"{seed}/0", truth)
    return truth, thread.run()


def counted(program: Program, truth: Truth, thread: ThreadRun, compiled: bool) -> Counter[Pair]:
    known = Known(program)
    counts = TraceCounts(longer=PairCounts())
    paths = {number: each.of_reader() for number, each in enumerate(truth.procedures)}
    in_c = CountingProgram(library(), known, paths, counts.longer) if compiled else None
    reader = CountingReader(known, counts, paths) if in_c is None else in_c.reader()
    assert not [event for event in reader.feed(thread.data) if event.kind == Kind.DAMAGED]
    list(finish(reader, known, [ActiveFrame(function, block) for function, block in thread.frames]))
    reader.end()
    if in_c is not None:
        in_c.add_to(counts)
    assert counts.longer is not None
    found: Counter[Pair] = Counter()
    for pair, times in counts.longer.pairs.items():
        found[blocks_of(pair, truth)] += times
    assert not counts.longer.untold
    return found


def blocks_of(pair: TracedPair, truth: Truth) -> Pair:
    own = truth.procedures[pair.function]
    kind = PairKind(pair.kind)
    where = kind, pair.function, pair.callee, pair.site
    if kind is PairKind.LOOP:
        return Pair(*where, own.decoded(pair.first, NONE), own.decoded(pair.second, pair.end))
    callee = truth.procedures[pair.callee]
    if kind is PairKind.CALL:
        return Pair(*where, own.decoded(pair.first, pair.site), callee.decoded(pair.second, pair.end))
    return Pair(*where, callee.decoded(pair.first, NONE), own.behind(pair.site, pair.second, pair.end))


@pytest.mark.parametrize("make", [by_paths, by_witnesses, by_bits])
@settings(max_examples=200)
@given(seed=seeds())
def test_pairs_are_those_of_the_execution(make: MakePlan, seed: int) -> None:
    program = random_program(seed, make)
    truth, thread = observed(program, seed)
    if truth.switched or thread.ending is Ending.KILLED:
        return
    for compiled in (False, True):
        assert counted(program, truth, thread, compiled) == truth.pairs


def test_executions_have_pairs_of_all_kinds() -> None:
    found: Counter[PairKind] = Counter()
    for seed in range(400):
        truth, _ = observed(random_program(seed, by_paths), seed)
        found.update(pair.kind for pair in truth.pairs)
    assert min(found[kind] for kind in PairKind) > 20, found
