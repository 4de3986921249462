"""Where the second parts of longer paths come to their end, and how many longer paths there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from trodden.plan.overlapping.possible import (
    ends_at,
    iterations,
    parts_behind,
    parts_from,
    paths_to_blocks,
)
from trodden.plan.overlapping.region import Owner
from trodden.profile.longer.call_sites import Callees
from trodden.profile.longer.function_paths import FunctionPaths
from trodden.profile.longer.model import Crossing, LongerKind, PathPart
from trodden.program.facts import BranchKind


class Ends:
    """Knows of each crossing how the second parts of its paths end."""

    def __init__(self, callees: Callees, functions: Mapping[str, FunctionPaths]) -> None:
        self.callees = callees
        self._functions = functions
        self._paths_to = cache(lambda key: paths_to_blocks(functions[key].ways))

    def of(self, crossing: Crossing) -> Callable[[PathPart], bool]:
        """Whether a second part has come to its end, and was not cut short before."""
        own = self._functions[crossing.owners[1]]
        owner = self._owner(crossing)
        ending = cache(lambda block: ends_at(own.ways, owner, block))
        return lambda part: ending(part.blocks[-1])

    def possible(self, crossing: Crossing) -> int:
        """How many longer paths over a crossing there are."""
        first, second = (self._functions[key] for key in crossing.owners)
        owner = self._owner(crossing)
        if crossing.kind is LongerKind.LOOP:
            edges = first.graph.edges
            sources = {edges[edge].src for edge, to in first.joining.items() if to == crossing.site}
            before = iterations(first.ways, crossing.site, sources)
            return before * parts_from(second.ways, owner, crossing.site)
        if crossing.kind is LongerKind.CALL:
            before = self._paths_to(first.key).get(crossing.site, 0)
            return before * parts_from(second.ways, owner, second.graph.root)
        blocks = first.function.facts.blocks
        returning = {
            first.graph.edges[edge].src
            for edge in first.graph.in_edges[first.graph.exit]
            if blocks[first.graph.edges[edge].src].kind is not BranchKind.UNWIND
        }
        before = sum(self._paths_to(first.key).get(block, 0) for block in returning)
        return before * parts_behind(second.ways, owner, second.returning_on(crossing.site))

    def _owner(self, crossing: Crossing) -> Owner:
        """What second parts belong to: a loop, a callee, or a caller up to its next call."""
        own = self._functions[crossing.owners[1]]
        if crossing.kind is LongerKind.LOOP:
            return own.loop(crossing.site)
        if crossing.kind is LongerKind.CALL:
            return own.whole
        edges, calling = own.graph.edges, self.callees.calling(own.key)
        return replace(own.whole, stays=lambda edge: edges[edge].src not in calling)
