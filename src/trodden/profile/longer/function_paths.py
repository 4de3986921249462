"""The paths of one function, as its longer paths are made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from trodden.plan.overlapping.loops import LoopNest, joining_edges
from trodden.plan.overlapping.region import Owner, Ways
from trodden.plan.paths.dag import build_dag
from trodden.plan.paths.numbering import Numbering
from trodden.plan.probes import Paths
from trodden.plan.routes import Route
from trodden.profile.model import FunctionProfile


class FunctionPaths:
    """What is needed of a function whose paths were counted; most of it only where it has longer paths."""

    def __init__(self, key: str, function: FunctionProfile, paths: Paths) -> None:
        self.key = key
        self.function = function
        self.graph = function.facts.graph
        self.paths = paths

    @cached_property
    def ways(self) -> Ways:
        """The edges out of each block."""
        paths = self.paths
        return Ways(build_dag(self.graph, paths.back_edges, paths.cuts, paths.resume_edges))

    @cached_property
    def nest(self) -> LoopNest:
        """Its loops."""
        return LoopNest(self.graph)

    @cached_property
    def numbering(self) -> Numbering:
        """The numbers of its paths without overlaps."""
        return Numbering(self.graph, self.paths, dag=self.ways.dag)

    @cached_property
    def joining(self) -> Mapping[int, int]:
        """The back edges over which paths are joined, each with its header."""
        return joining_edges(self.ways.dag, self.paths)

    def loop(self, header: int) -> Owner:
        """What paths of two iterations of a loop belong to."""
        return self.nest.owner(self.ways.dag, header, None)

    def returning_on(self, block: int) -> set[int]:
        """The edges on which the call of a block returns, and returns once only."""
        onward = set(self.ways.out(block)) - set(self.paths.resume_edges)
        features = self.function.facts.features.blocks
        if block < len(features) and features[block].may_throw:
            onward &= {self.graph.out_edges[block][0]}
        return onward

    @property
    def whole(self) -> Owner:
        """What overlaps from its entry on belong to."""
        return Owner(self.graph.root, 1, None, lambda _: True)

    def routes(self) -> Iterator[tuple[Route, int]]:
        """Its paths without their loop context, whole or cut short, and how often each was executed."""
        for path in self.function.paths or ():
            blocks, edges = path.blocks[path.context :], path.edges[path.context :]
            yield Route(blocks, edges, path.starts, path.ends), path.count


def paths_of(key: str, function: FunctionProfile) -> FunctionPaths | None:
    """The same of a function, if its paths were counted."""
    plan = function.facts.plan
    if plan.paths is None or function.paths is None:
        return None
    return FunctionPaths(key, function, plan.paths)
