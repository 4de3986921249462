"""Statistics of the paths of a program: the columns of BL96 Table 2.

The paths that were executed are compared with those that an edge profile predicts (§6): from the start of a
path, follow the most frequent edge out of each block.  A path is predicted entirely if it takes these edges
only; otherwise its predicted part ends before the first edge that differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from trodden.plan.routes import PathCount
from trodden.profile.analysis.path_trie import (
    edges_out,
    executed_blocks,
    executed_edges,
    is_complete,
)
from trodden.profile.model import FunctionProfile
from trodden.program.facts import BranchKind


@dataclass
class Lengths:
    """Lengths in edges and instructions: the longest, and sums weighted by frequency."""

    longest_edges: int = 0
    longest_instructions: int = 0
    edges: int = 0
    instructions: float = 0
    walks: int = 0

    def add(self, edges: int, instructions: float, count: int) -> None:
        """Add a path that was executed ``count`` times."""
        self.longest_edges = max(self.longest_edges, edges)
        self.longest_instructions = max(self.longest_instructions, round(instructions))
        self.edges += count * edges
        self.instructions += count * instructions
        self.walks += count

    def join(self, other: Lengths) -> None:
        """Add the lengths of another function."""
        self.longest_edges = max(self.longest_edges, other.longest_edges)
        self.longest_instructions = max(self.longest_instructions, other.longest_instructions)
        self.edges += other.edges
        self.instructions += other.instructions
        self.walks += other.walks

    @property
    def average_edges(self) -> float:
        """Weighted by frequency."""
        return self.edges / self.walks if self.walks else 0.0

    @property
    def average_instructions(self) -> float:
        """Weighted by frequency."""
        return self.instructions / self.walks if self.walks else 0.0


@dataclass
class Stats:
    """The paths of one function, or of several together.

    ``possible`` is the number of possible paths, ``paths`` the number of different ones that were executed,
    ``cut_short`` how many of these were not completed.  ``predicted`` of them are predicted entirely
    by the edge profile; they were executed ``predicted_walks`` times.
    """

    possible: int = 0
    paths: int = 0
    cut_short: int = 0
    lengths: Lengths = field(default_factory=Lengths)
    predicted: int = 0
    predicted_walks: int = 0
    predicted_lengths: Lengths = field(default_factory=Lengths)
    routines: int = 0
    most_paths: int = 0

    @property
    def correct(self) -> float:
        """The share of the executed paths that are predicted entirely, each counted once (Table 2)."""
        return self.predicted / self.paths if self.paths else 0.0

    @property
    def correct_walks(self) -> float:
        """The same, weighted by frequency."""
        return self.predicted_walks / self.lengths.walks if self.lengths.walks else 0.0

    @property
    def average_paths(self) -> float:
        """The average number of paths of a routine that was executed."""
        return self.paths / self.routines if self.routines else 0.0

    def join(self, other: Stats) -> None:
        """Add another function."""
        self.possible += other.possible
        self.paths += other.paths
        self.cut_short += other.cut_short
        self.lengths.join(other.lengths)
        self.predicted += other.predicted
        self.predicted_walks += other.predicted_walks
        self.predicted_lengths.join(other.predicted_lengths)
        self.routines += other.routines
        self.most_paths = max(self.most_paths, other.most_paths)


def stats_of(function: FunctionProfile) -> Stats:
    """The figures of one function."""
    facts = function.facts
    executed = [path for path in function.paths or () if path.count > 0]
    found = Stats(possible=facts.plan.paths.number if facts.plan.paths else 0)
    found.paths = found.most_paths = len(executed)
    found.routines = 1 if executed else 0
    predictions: dict[int, int | None] = {}
    for path in executed:
        blocks, edges = executed_blocks(path), executed_edges(path)
        found.lengths.add(len(edges), function.instructions_along(path), path.count)
        found.cut_short += not is_complete(facts, path)
        right = _predicted_edges(function, path, predictions)
        predicted = function.instructions.along(blocks[: right + 1], edges[:right])
        found.predicted_lengths.add(right, predicted, path.count)
        if right == len(edges):
            found.predicted += 1
            found.predicted_walks += path.count
    return found


def stats_together(functions: Iterable[Stats]) -> Stats:
    """The figures of a program out of those of its functions."""
    found = Stats()
    for each in functions:
        found.join(each)
    return found


def stats(functions: Mapping[str, FunctionProfile]) -> dict[str, Stats]:
    """The figures of every function that has paths."""
    return {name: stats_of(each) for name, each in functions.items() if each.paths is not None}


def _predicted_edges(function: FunctionProfile, path: PathCount, predictions: dict[int, int | None]) -> int:
    """How many edges of a path the edge profile predicts before the first that it does not."""
    for position, (block, edge) in enumerate(zip(executed_blocks(path), executed_edges(path), strict=False)):
        if block not in predictions:
            predictions[block] = predicted_edge(function, block)
        if predictions[block] != edge:
            return position
    return len(executed_edges(path))


def predicted_edge(function: FunctionProfile, block: int) -> int | None:
    """The edge out of a block that the edge profile predicts.

    Among edges that were taken equally often it is the one of a branch that is not taken (§6): the second
    target of a conditional branch; of others the first, which is the default target of a switch, and the
    normal destination of an invoke.
    """
    edges = edges_out(function.facts, block)
    if not edges:
        return None
    if function.facts.blocks[block].kind is BranchKind.IF:
        edges = edges[::-1]
    return max(edges, key=lambda edge: function.edge_counts[edge] or 0)
