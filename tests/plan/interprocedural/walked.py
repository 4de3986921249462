"""Interprocedural paths found in what a thread does by their definition (MR98 §3.4, §6).

A path is the sequence of what was executed, with its context before it.  Nothing here knows of numbers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.plan.splitting import Split, Splitting
from trodden.graph.traverse import depth_first
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.program import Program, Site
from trodden.plan.probes import Paths
from trodden.plan.routes import Route


class Item(NamedTuple):
    """One thing that a path does: ``start`` at a block, ``enter`` a procedure, take an ``edge``, ..."""

    what: str
    procedure: int
    of: int | tuple[int, int]


Items = tuple[Item, ...]


class Cut(NamedTuple):
    """A path that was cut short, with the kept calls that it was in."""

    items: Items
    sites: tuple[Site, ...]
    pending: bool


@dataclass
class _Frame:
    procedure: int
    block: int
    root: bool
    before: Items
    path: Items
    splitting: Splitting
    split: Split
    calls_done: int = 0
    kept_call: bool = False
    cut_call: bool = False


def own_ends(program: Program, number: int) -> Paths:
    """Where the paths of a procedure alone end."""
    graph, own = program[number].graph, program[number]
    back = depth_first(graph).back_edges
    return Paths(
        0,
        tuple(sorted(edge for edge in back if graph.edges[edge].src != graph.edges[edge].dst)),
        tuple(sorted(own.cuts)),
        tuple(sorted(own.resume_edges)),
    )


@dataclass
class Truth:
    """Told what a thread does, it finds all paths; each with how often it was executed."""

    numbering: Numbering
    whole: Counter[Items] = field(default_factory=Counter)
    short: Counter[Cut] = field(default_factory=Counter)
    edges: Counter[tuple[int, int]] = field(default_factory=Counter)
    jumps: Counter[tuple[int, int]] = field(default_factory=Counter)
    entries: Counter[int] = field(default_factory=Counter)
    own: Counter[tuple[int, Route]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.program = self.numbering.program
        self.piecewise = self.numbering.mode is Mode.PIECEWISE
        self.ends = [own_ends(self.program, number) for number in range(len(self.program))]
        self.removed = [{*each.back_edges, *each.cuts, *each.resume_edges} for each in self.ends]
        if self.numbering.split:
            for removed, own in zip(self.removed, self.program, strict=True):
                removed |= {
                    index
                    for index, edge in enumerate(own.graph.edges)
                    if edge.src == edge.dst and edge.src in own.calls
                }
        self.stack: list[_Frame | None] = []

    def enter(self, number: int) -> None:
        root = self.program[number].graph.root
        caller = self.stack[-1] if self.stack else None
        kept = caller is not None and caller.kept_call
        before: Items = ()
        if caller is not None and kept:
            before = (*caller.path, Item("call", caller.procedure, (caller.block, caller.calls_done)))
        split = Split(sequences=[[]])
        path = (*before, Item("enter", number, root))
        splitting = Splitting(self.program[number].graph, self.ends[number], split)
        self.stack.append(_Frame(number, root, not kept, before, path, splitting, split))
        self.entries[number] += 1

    def call(self) -> None:
        frame = self.top()
        frame.kept_call = Site(frame.procedure, frame.block, frame.calls_done) in self.numbering.kept
        frame.cut_call = not frame.kept_call
        if frame.cut_call and self.numbering.split:
            here = Item("before", frame.procedure, (frame.block, frame.calls_done))
            self.whole[(*frame.path, here)] += 1

    def returned(self) -> None:
        frame = self.top()
        here = frame.block, frame.calls_done
        if frame.cut_call and self.numbering.split:
            self.start(frame, Item("behind", frame.procedure, here))
        frame.kept_call = frame.cut_call = False
        frame.calls_done += 1

    def leave_probes(self, signal: bool) -> None:
        del signal
        self.stack.append(None)

    def come_back(self) -> None:
        self.stack.pop()

    def take(self, edge: int) -> None:
        frame = self.top()
        own, number = self.program[frame.procedure], frame.procedure
        graph = own.graph
        source, target, _ = graph.edges[edge]
        self.edges[number, edge] += 1
        frame.splitting.take(edge)
        caught = bool(edge in own.pads and own.calls.get(source)) and (frame.kept_call or frame.cut_call)
        apart = caught and ((frame.kept_call and self.piecewise) or (frame.cut_call and self.numbering.split))
        frame.block, frame.calls_done = target, 0
        kept, frame.kept_call, frame.cut_call = frame.kept_call, False, False
        if apart:
            self.start(frame, Item("caught", number, edge))
        elif edge in self.removed[number]:
            self.whole[(*frame.path, Item("thrown" if caught and kept else "edge", number, edge))] += 1
            self.start(frame, Item("start", number, target))
        elif source != target:
            frame.path = (*frame.path, Item("thrown" if caught and kept else "edge", number, edge))
        if target == graph.exit:
            self.leave(frame)

    def leave(self, frame: _Frame) -> None:
        self.stack.pop()
        self.finish(frame)
        if frame.root:
            self.whole[frame.path] += 1
            return
        caller = self.top()
        here = caller.block, caller.calls_done
        caller.path = (*frame.path, Item("return", caller.procedure, here))

    def jump(self, edge: int) -> None:
        frame = self.top()
        self.cut(frame)
        self.jumps[frame.procedure, edge] += 1
        target = self.program[frame.procedure].graph.edges[edge].dst
        frame.splitting.cut_short()
        frame.splitting.start(edge, target)
        frame.block, frame.calls_done, frame.kept_call, frame.cut_call = target, 0, False, False
        self.start(frame, Item("start", frame.procedure, target))

    def lose(self) -> None:
        frame = self.stack[-1]
        if frame is not None:
            self.cut(frame)
            frame.splitting.cut_short()
            self.finish(frame)
        self.stack.pop()

    def top(self) -> _Frame:
        frame = self.stack[-1]
        assert frame is not None
        return frame

    def start(self, frame: _Frame, item: Item) -> None:
        frame.path = (item,) if self.piecewise else (*frame.before, item)

    def cut(self, frame: _Frame) -> None:
        if not (frame.cut_call and self.numbering.split):
            self.short[Cut(frame.path, self.open_sites(frame.path), frame.kept_call)] += 1

    def open_sites(self, path: Items) -> tuple[Site, ...]:
        """The calls of a path without those that have returned."""
        found: list[Site] = []
        for item in path:
            if item.what == "call":
                assert isinstance(item.of, tuple)
                found.append(Site(item.procedure, *item.of))
            elif item.what == "return" and found:
                found.pop()
        return tuple(found)

    def finish(self, frame: _Frame) -> None:
        for route in frame.split.sequences[-1]:
            self.own[frame.procedure, route] += 1
