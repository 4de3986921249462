"""Traced programs of :mod:`tests.plan.trace.programs`, as readers know them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from trodden.native.driver.own_library import own_library
from trodden.plan.trace.execution import Ending, Program, ThreadRun, call_site
from trodden.plan.trace.records import CodeAddress
from trodden.recover.trace.compiled import CompiledProgram, CompiledReader
from trodden.recover.trace.ending import ActiveFrame, finish
from trodden.recover.trace.events import Event, Kind
from trodden.recover.trace.library import SOURCES
from trodden.recover.trace.procedure import Procedure
from trodden.recover.trace.reader import Reader
from trodden.recover.trace.tables import procedure_of


@cache
def library(sanitized: bool = False) -> Path:
    more = ("-fsanitize=undefined", "-fsanitize-trap=all", "-O1") if sanitized else ()
    return own_library(SOURCES, "the reader of traces", more)


class Known:
    """What a reader asks about a program: all procedures are of one unit."""

    def __init__(self, program: Program) -> None:
        self._procedures = [
            procedure_of(str(number), each.graph, each.plan) for number, each in enumerate(program.procedures)
        ]

    def procedure(self, number: int) -> Procedure | None:
        return self._procedures[number] if number < len(self._procedures) else None

    def base(self, number: int) -> int:
        return 0

    def frames_at(self, module: int, address: int) -> Sequence[tuple[int, int]]:
        site = call_site(CodeAddress(module, address))
        if site is None or not 0 <= site[0] < len(self._procedures):
            return ()
        return [site]


def both_readers(program: Program, sanitized: bool = False) -> tuple[Reader, CompiledReader]:
    known = Known(program)
    return Reader(known), CompiledReader(CompiledProgram(library(sanitized), known))


def regenerated(program: Program, thread: ThreadRun, reader: Reader | CompiledReader) -> list[Event]:
    """All events, with what the frames at the end prove."""
    events = list(reader.feed(thread.data))
    if thread.ending is not Ending.KILLED:
        frames = [ActiveFrame(function, block) for function, block in thread.frames]
        events += finish(reader, Known(program), frames)
    return events


def steps(events: Sequence[Event]) -> list[tuple[int, int, int]]:
    """The blocks that were executed, each with the depth and the function."""
    return [
        (event.depth, event.function, event.block)
        for event in events
        if event.kind == Kind.BLOCK
        for _ in range(event.value + 1)
    ]
