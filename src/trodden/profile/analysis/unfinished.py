"""Paths that threads were on when their process ended, and the last paths that they had completed."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.collect.call_paths import CalledFunction
from trodden.collect.endings import LastPath, StoppedFrame
from trodden.plan.paths.numbering import LARGEST, Numbering
from trodden.plan.routes import PathCount, Route
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.recover.path_prefix import PrefixDecoder


class Unfinished:
    """Decodes the paths of frames and threads; numberings are kept for functions that occur again."""

    def __init__(self, units: Sequence[UnitFacts]) -> None:
        self._functions = {unit.id: unit.functions for unit in units}
        self._numberings: dict[CalledFunction, Numbering | None] = {}
        self._decoders: dict[CalledFunction, PrefixDecoder] = {}

    def prefix(self, frame: StoppedFrame) -> PathCount | None:
        """The path that a frame had executed so far, if it can be decoded (BL96 §3.6)."""
        key = frame.unit, frame.function
        numbering = self._numbering(key)
        if numbering is None or frame.block is None:
            return None
        if key not in self._decoders:
            facts = self._facts(key)
            self._decoders[key] = PrefixDecoder(facts.graph, facts.plan, numbering)
        decoder = self._decoders[key]
        total = decoder.sum_of(frame.block, frame.register)
        if total is None:
            return None
        try:
            route = decoder.route(frame.block, total)
        except ValueError:
            return None
        return _path(route, decoder.path_id(frame.block, total))

    def last(self, last: LastPath) -> PathCount | None:
        """A path that was executed to its end."""
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
