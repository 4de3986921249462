"""The paths of one function in two runs: those of one run alone, and those whose share has changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from trodden.compare.counts import compare_edges
from trodden.compare.decisions import Decisions
from trodden.compare.evidence import likelihood_ratio, per_call
from trodden.compare.model import Branching, Difference, Kind, Shares
from trodden.compare.pairing import Pair
from trodden.graph.cfg import Edge
from trodden.plan.routes import PathCount, PathStart
from trodden.profile.analysis.path_trie import (
    Node,
    PathTree,
    Start,
    executed_blocks,
    executed_edges,
    start_of,
)


def compare_paths(pair: Pair) -> list[Difference]:
    """Every difference; the paths of both must start and end at the same edges."""
    return list(_Comparison(pair).differences())


class _Comparison:
    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._runs = pair.first, pair.second
        self._paths = [{path.id: path for path in run.paths or () if path.count > 0} for run in self._runs]
        self._trees = [PathTree(paths.values()) for paths in self._paths]
        self._decisions = Decisions(pair)

    def differences(self) -> Iterator[Difference]:
        yield from self._alone(0)
        yield from self._alone(1)
        for number, path in self._paths[1].items():
            other = self._paths[0].get(number)
            if other is not None:
                shift = self._shift(other, path)
                if not shift.what.equal:
                    yield shift
        yield from compare_edges(self._pair, _is_self_loop)

    def _alone(self, run: int) -> Iterator[Difference]:
        """What one run alone executed; paths that differ at the same edge are one difference."""
        own, other = self._paths[run], self._paths[1 - run]
        by_cause: dict[tuple[Kind, object], list[tuple[PathCount, int]]] = {}
        for number, path in own.items():
            if number not in other:
                kind, at, cause = self._cause(run, path)
                by_cause.setdefault((kind, cause), []).append((path, at))
        for (kind, _), paths in by_cause.items():
            paths.sort(key=lambda each: (_inside(kind, each[0]), -each[0].count, each[0].id))
            (path, at), more = paths[0], tuple(each for each, _ in paths[1:])
            yield self._difference(kind, run, path, at, more)

    def _cause(self, run: int, path: PathCount) -> tuple[Kind, int, object]:
        """Why the other run does not have a path: the kind, the position on the path, and the cause."""
        known = self._trees[1 - run].follow(path)
        if not self._decisions.entries[1 - run]:
            return Kind.FOLLOWS, 0, None
        if not known:
            return Kind.FOLLOWS, 0, start_of(path)
        taken = self._runs[1 - run].edge_counts
        for position, edge in enumerate(executed_edges(path)):
            if not taken[edge]:
                return Kind.PARTS, position, edge
        return Kind.COMBINES, len(known) - 1, path.id

    def _difference(
        self, kind: Kind, run: int, path: PathCount, at: int, more: tuple[PathCount, ...]
    ) -> Difference:
        start, blocks = start_of(path), executed_blocks(path)
        branching: Branching | None = None
        if kind is Kind.PARTS:
            edge = executed_edges(path)[at]
            branching = self._decisions.branching(edge)
            what, evidence = branching.shares, self._decisions.evidence(edge)
        else:
            of = self._starts(start)
            count = sum(each.count for each in (path, *more) if start_of(each) == start)
            what = Shares(0, of[0], count, of[1]) if run else Shares(count, of[0], 0, of[1])
            evidence = self._evidence(what)
            if kind is Kind.COMBINES:
                branching = self._along(path, at)
        return Difference(
            name=self._pair.name,
            function=self._pair.second,
            kind=kind,
            what=what,
            evidence=evidence,
            branching=branching,
            path=path,
            more=more,
            entries=self._decisions.entries,
            calls_before=self._calls_before(run, start, blocks[: at + 1]),
            position=self._decisions.order.get(blocks[at], 0),
        )

    def _evidence(self, what: Shares) -> float:
        worth = per_call((what.first_of, what.second_of), self._decisions.entries)
        return likelihood_ratio(what.first, what.first_of, what.second, what.second_of) * worth

    def _shift(self, first: PathCount, second: PathCount) -> Difference:
        of = self._starts(start_of(second))
        what = Shares(first.count, of[0], second.count, of[1])
        path = second
        nodes = [tree.follow(path) for tree in self._trees]
        edges = executed_edges(path)
        strength = [abs(_decided(nodes[0], nodes[1], position)) for position in range(len(edges))]
        new = [found > 0 and not self._tells_apart(edge) for found, edge in zip(strength, edges, strict=True)]
        at = max(range(len(edges)), key=lambda position: (new[position], strength[position]), default=None)
        return Difference(
            name=self._pair.name,
            function=self._pair.second,
            kind=Kind.SHIFTS,
            what=what,
            evidence=self._evidence(what),
            branching=None if at is None else self._along(path, at),
            path=path,
            position=self._decisions.order.get(executed_blocks(path)[0], 0),
        )

    def _tells_apart(self, edge: int) -> bool:
        """Whether the other edge of a branch was taken by one of the runs only, which is said by itself."""
        block = self._pair.second.facts.graph.edges[edge].src
        taken = [self._decisions.taken(other) for other in self._decisions.edges_from(block) if other != edge]
        return len(taken) == 1 and any(taken[0]) and not all(taken[0])

    def _starts(self, start: Start) -> tuple[int, int]:
        """How often paths from a start were executed in each run."""
        first, second = (tree.starts.get(start) for tree in self._trees)
        return first.count if first else 0, second.count if second else 0

    def _along(self, path: PathCount, at: int) -> Branching | None:
        """The decision at a position of a path, after the same beginning; none if the path ends there."""
        blocks, edges = executed_blocks(path), executed_edges(path)
        if at >= len(edges):
            return None
        nodes = [_node(tree.follow(path), at) for tree in self._trees]
        after = [
            {edge: each.count for edge, each in node.extensions.items()} if node else {} for node in nodes
        ]
        shares = Shares(
            after[0].get(edges[at], 0),
            nodes[0].count if nodes[0] else 0,
            after[1].get(edges[at], 0),
            nodes[1].count if nodes[1] else 0,
        )
        others = tuple(
            (edge, after[0].get(edge, 0), after[1].get(edge, 0))
            for edge in dict.fromkeys([*after[0], *after[1]])
            if edge != edges[at]
        )
        along = (shares.first_of, shares.second_of) != self._decisions.ran(blocks[at])
        return Branching(blocks[at], edges[at], shares, others, along)

    def _calls_before(self, run: int, start: Start, blocks: Sequence[int]) -> int:
        """How many calls may have caused the difference: those before the position on the path.

        Where a path starts in the middle of a function, all executed calls of the function count.
        """
        if start.kind is not PathStart.ENTRY:
            return self._executed_calls[run]
        return sum(self._pair.second.facts.blocks[block].calls for block in blocks)

    @cached_property
    def _executed_calls(self) -> tuple[int, ...]:
        """The calls in the blocks that each run executed."""
        facts = self._pair.second.facts
        return tuple(
            sum(block.calls for v, block in enumerate(facts.blocks) if run.block_counts[v])
            for run in self._runs
        )


def _is_self_loop(edge: Edge) -> bool:
    """Such edges are no part of paths (BL96 §4.1) and are compared on their own."""
    return edge.src == edge.dst


def _inside(kind: Kind, path: PathCount) -> bool:
    """Of a function that the other run never entered, the path from its entry comes first."""
    return kind is Kind.FOLLOWS and path.starts is not PathStart.ENTRY


def _node(nodes: Sequence[Node], position: int) -> Node | None:
    return nodes[position] if position < len(nodes) else None


def _decided(first: Sequence[Node], second: Sequence[Node], position: int) -> float:
    """How strongly the runs differ in one decision along a path that both executed."""
    return likelihood_ratio(
        first[position + 1].count,
        first[position].count,
        second[position + 1].count,
        second[position].count,
    )
