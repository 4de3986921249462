"""The reference interpreter of tuples of successive paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.plan.interpret import PathTally, Walk
from trodden.plan.overlap_probes import ChainPath, ChainPathAt, ForgetPaths
from trodden.plan.overlapping.interpret import OverlappingActivation
from trodden.plan.probes import WORD, Plan, Probe

CutShort = tuple[tuple[int, ...], int, int | None]
"""Some paths and, behind them, the block and the register of one that was cut short."""


@dataclass
class ChainTally:
    """The counts of tuples of paths, and of those whose last path was cut short."""

    paths: PathTally
    tuples: Counter[tuple[int, ...]] = field(default_factory=Counter)
    cut_short: Counter[CutShort] = field(default_factory=Counter)


class _Chaining(OverlappingActivation):
    """One activation; ``before`` are the paths that the present one continues."""

    def __init__(self, graph: Graph, plan: Plan, recorded: ChainTally) -> None:
        super().__init__(graph, plan, recorded.paths)
        self.before: tuple[int, ...] = ()
        self._chains = recorded

    def counts(self, probe: Probe) -> bool:
        return isinstance(probe, ChainPath | ChainPathAt) or super().counts(probe)

    def cut_short(self) -> None:
        super().cut_short()
        if self.before:
            self._chains.cut_short[self.before, self.block, self.register] += 1

    def execute(self, probe: Probe) -> None:
        match probe:
            case ChainPath(add, length):
                self._chain((self.held() + add) % WORD, length)
            case ChainPathAt(path, length):
                self._chain(path, length)
            case ForgetPaths():
                self.before = ()
            case _:
                super().execute(probe)

    def _chain(self, path: int, length: int) -> None:
        chain = (*self.before, path)
        if self.before:
            self._chains.tuples[chain] += 1
        self.before = chain[1 - length :]


def interpret_chains(graph: Graph, plan: Plan, walks: Iterable[Walk]) -> ChainTally:
    """What the probes of a plan count of the walks, one activation after the other."""
    recorded = ChainTally(PathTally([0] * plan.slots, {}, {}))
    for walk in walks:
        _Chaining(graph, plan, recorded).follow(walk)
    return recorded
