"""Threads of processes that did not end by returning: how they are stored, what their frames were doing."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.collect.call_paths import CalledFunction
from trodden.collect.endings import LastPath, StoppedFrame
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.paths.prefixes import Known, Offset, register_offsets
from trodden.plan.probes import WORD
from trodden.plan.routes import PathCount, Route
from trodden.program.facts import FunctionFacts, UnitFacts


class Unfinished:
    """Tells the paths of frames and threads; numberings are kept for those that come again."""

    def __init__(self, units: Sequence[UnitFacts]) -> None:
        self._functions = {unit.id: unit.functions for unit in units}
        self._numberings: dict[CalledFunction, Numbering | None] = {}
        self._offsets: dict[CalledFunction, list[Known | Offset | None]] = {}

    def prefix(self, frame: StoppedFrame) -> PathCount | None:
        """The path that a frame had come along so far, if that can be told (BL96 §3.6)."""
        key = frame.unit, frame.function
        numbering = self._numbering(key)
        if numbering is None or frame.block is None:
            return None
        facts = self._facts(key)
        if key not in self._offsets:
            self._offsets[key] = register_offsets(facts.graph, facts.plan, numbering)
        told = self._offsets[key][frame.block]
        if isinstance(told, Known):
            value = told.sum
        elif told is not None and frame.register is not None:
            value = (frame.register - told.amount) % WORD
        else:
            return None
        try:
            route = numbering.prefix(frame.block, value)
        except ValueError:
            return None
        whole_path = not numbering.ways(frame.block)
        return _path(route, value if whole_path else numbering.number * (frame.block + 1) + value)

    def last(self, last: LastPath) -> PathCount | None:
        """A path that was walked to its end."""
        numbering = self._numbering((last.unit, last.function))
        if numbering is None or last.path >= numbering.number:
            return None
        return _path(numbering.regenerate(last.path), last.path)

    def _facts(self, key: CalledFunction) -> FunctionFacts:
        return self._functions[key[0]][key[1]]

    def _numbering(self, key: CalledFunction) -> Numbering | None:
        if key not in self._numberings:
            facts = self._facts(key)
            found = None
            if facts.plan.paths is not None:
                try:
                    found = Numbering(facts.graph, facts.plan.paths, LARGEST)
                except ValueError:
                    found = None
            self._numberings[key] = found
        return self._numberings[key]


def _path(route: Route, number: int) -> PathCount:
    return PathCount(number, 1, route.blocks, route.edges, route.starts, route.ends, None, route.context)
