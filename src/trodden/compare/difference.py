"""Two runs side by side: how much they have in common (BL96 §6, Table 3), and where they diverge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from trodden.compare.counts import compare_blocks, compare_edges, has_edge_counts
from trodden.compare.expected import compare_expected
from trodden.compare.model import Difference
from trodden.compare.pairing import Pair, Unpaired, pair, same_paths
from trodden.compare.paths import compare_paths
from trodden.profile.model import Count, FunctionProfile


class Basis(Enum):
    """What could be compared."""

    PATHS = "paths"
    EDGES = "edges"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Common:
    """What two runs have in common, in paths, or in edges or blocks where there are none.

    ``first`` and ``second`` is how many different ones each executed, ``common`` how many of these both did.
    ``second_executions`` is how often the second executed any of its own, ``common_executions`` a common one;
    ``instructions`` and ``common_instructions`` how many instructions that were.
    """

    first: int = 0
    second: int = 0
    common: int = 0
    second_executions: Count = 0
    common_executions: Count = 0
    instructions: Count = 0
    common_instructions: Count = 0

    def __add__(self, other: Common) -> Common:
        return Common(
            self.first + other.first,
            self.second + other.second,
            self.common + other.common,
            self.second_executions + other.second_executions,
            self.common_executions + other.common_executions,
            self.instructions + other.instructions,
            self.common_instructions + other.common_instructions,
        )

    @property
    def static(self) -> float:
        """The share of what the second executed that the first did as well."""
        return self.common / self.second if self.second else 1.0

    @property
    def dynamic(self) -> float:
        """The same, weighted by how often the second executed it."""
        return self.common_executions / self.second_executions if self.second_executions else 1.0

    @property
    def dynamic_instructions(self) -> float:
        """The share of the second's instructions along what is common."""
        return self.common_instructions / self.instructions if self.instructions else 1.0


@dataclass(frozen=True)
class Comparison:
    """Two runs compared.

    ``common`` holds a sum for each basis that was used, ``by_counts`` names the functions whose paths could
    not be compared though one of the profiles has them.  ``differences`` are in the order of their rank.
    ``expected`` is how many functions were compared with an estimate of them.
    """

    common: Mapping[Basis, Common]
    differences: tuple[Difference, ...]
    unpaired: tuple[Unpaired, ...]
    by_counts: tuple[str, ...]
    expected: int = 0

    @property
    def same(self) -> bool:
        """Whether the runs do not differ, except in length."""
        return not self.differences and not self.unpaired


def compare(first: Mapping[str, FunctionProfile], second: Mapping[str, FunctionProfile]) -> Comparison:
    """Compare what two runs did in the functions that they have in common."""
    pairs, unpaired = pair(first, second)
    common: dict[Basis, Common] = {}
    differences: list[Difference] = []
    by_counts: list[str] = []
    expected = 0
    for each in pairs:
        if each.first.estimated or each.second.estimated:
            expected += 1
            differences += compare_expected(each)
            continue
        basis = _basis(each)
        common[basis] = common.get(basis, Common()) + _common(each, basis)
        differences += _compared(each, basis)
        if basis is not Basis.PATHS and (each.first.paths is not None or each.second.paths is not None):
            by_counts.append(each.name)
    differences.sort(key=lambda each: each.rank)
    found = tuple(_one_of_each_fact(differences))
    return Comparison(common, found, tuple(unpaired), tuple(by_counts), expected)


def _one_of_each_fact(differences: Iterable[Difference]) -> Iterator[Difference]:
    """Differences without those that say what an earlier one says; its ``more`` has their paths, if alike."""
    found: dict[object, Difference] = {}
    for each in differences:
        known = found.setdefault(each.fact, each)
        if known is not each and each.path is not None and _same_edge(known, each):
            found[each.fact] = replace(known, more=(*known.more, each.path, *each.more))
    yield from found.values()


def _same_edge(one: Difference, other: Difference) -> bool:
    edges = [each.branching.edge for each in (one, other) if each.branching is not None]
    return len(edges) == 2 and edges[0] == edges[1]


def _basis(pair: Pair) -> Basis:
    if same_paths(pair.first, pair.second):
        return Basis.PATHS
    return Basis.EDGES if has_edge_counts(pair.first) and has_edge_counts(pair.second) else Basis.BLOCKS


def _compared(pair: Pair, basis: Basis) -> Sequence[Difference]:
    if basis is Basis.PATHS:
        return compare_paths(pair)
    return list(compare_edges(pair) if basis is Basis.EDGES else compare_blocks(pair))


def _common(pair: Pair, basis: Basis) -> Common:
    first = {number for number, count, _ in _executed(pair.first, basis) if count}
    found = Common(first=len(first))
    for number, count, instructions in _executed(pair.second, basis):
        if not count:
            continue
        shared = number in first
        found += Common(
            second=1,
            common=int(shared),
            second_executions=count,
            common_executions=count * shared,
            instructions=instructions,
            common_instructions=instructions * shared,
        )
    return found


def _executed(function: FunctionProfile, basis: Basis) -> list[tuple[int, Count, int]]:
    """What was executed: a number for it, how often, and how many instructions that were.

    The instructions of an edge are those of the block that it leaves.
    """
    graph, instructions = function.facts.graph, function.instructions
    if basis is Basis.PATHS:
        return [
            (path.id, path.count, round(path.count * function.instructions_along(path)))
            for path in function.paths or ()
            if path.count > 0
        ]
    if basis is Basis.EDGES:
        taken = ((edge, function.edge_counts[edge] or 0) for edge in graph.flow_edges())
        return [(edge, count, round(count * instructions.edges[edge])) for edge, count in taken]
    blocks = zip(range(graph.exit), function.block_counts, strict=False)
    return [(block, count, round(count * instructions.blocks[block])) for block, count in blocks]
