"""What a profile of overlapping paths says about two successive iterations of a loop (TZG04 §2.2).

For a loop let B(i) be how often a path with the loop path i ended on its back edges (F_i - X_i in the paper),
and N(j) how often a path with the loop path j started behind one (F_j - E_j).  Both follow from the numbers
of paths, which say where a path started and on which edge it ended.  Every crossing of a back edge has one i
and one j, so

    sum over j of F(i!j) = B(i)        sum over i of F(i!j) = N(j)

and an overlapping path i!a is the part of the first sum where j begins with a.  Three things make it a bound:

- Paths may also start at the header behind a cut or a resume edge.  Numbers do not tell these starts apart
  from those behind a back edge.  There are as many of them as there are starts at the header without
  crossings, so that sum over i of F(i!j) is between N(j) less that number, and N(j).
- A path that was cut short is the j of its crossing if it is known (``cut_short``).  If fewer paths are known
  to have started than there were crossings, each sum may be smaller by the difference.
- Of a loop whose paths are not extended only the paths are known: it has the degree -1.

Self loops end no paths and need no bounds.  Such a loop has one loop path q, its block, and each time that
its edge is taken q follows q: q!q is the count of that edge, which is its counter, or where the block is
counted, the counter less the times that the block was entered (:func:`trodden.recover.paths.recover_paths`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from trodden.plan.overlapping.loop_paths import (
    LoopPath,
    before_back_edge,
    behind_back_edge,
    up_to_degree,
)
from trodden.plan.overlapping.loops import LoopNest, joining_edges
from trodden.plan.overlapping.numbering import OverlapNumbering, OverlappingPath
from trodden.plan.overlapping.region import Owner, Ways
from trodden.plan.paths.dag import Dag
from trodden.plan.probes import Paths
from trodden.plan.routes import PathStart, Route
from trodden.recover.bounds.margins import Margins
from trodden.recover.bounds.system import Range, System, pair_system


@dataclass
class LoopFacts:
    """What was counted of one loop: crossings by i and by what is known of j, and starts by j."""

    owner: Owner
    crossings: Counter[tuple[LoopPath, tuple[int, ...]]] = field(default_factory=Counter)
    starts: Counter[LoopPath] = field(default_factory=Counter)

    @property
    def real_flow(self) -> int:
        """How often the back edges were taken: the sum of all pairs."""
        return self.crossings.total()


def loop_facts(
    numbering: OverlapNumbering,
    counts: Mapping[OverlappingPath, int],
    cut_short: Mapping[Route, int],
    degree: int | None = None,
) -> dict[int, LoopFacts]:
    """The facts of all loops of a procedure, by header.

    ``counts`` are those of overlapping paths, those that were active when a path was cut short included.
    With a ``degree`` only what overlaps of this degree would have told is used; -1 is for the paths alone.
    """
    degrees = dict(numbering.overlaps.degrees)
    if degree is not None:
        degrees = {
            header: degree if known is None else min(degree, known) for header, known in degrees.items()
        }
    reading = LoopReading(numbering.plain, numbering.paths, numbering.nest, degrees)
    for found, count in counts.items():
        reading.add(found, count)
    for path, count in cut_short.items():
        reading.add_start(path, count)
    return reading.facts


def loop_system(ways: Ways, facts: LoopFacts) -> System[LoopPath, LoopPath]:
    """The sums that the facts of a loop amount to."""
    owner = facts.owner
    total, known = facts.crossings.total(), facts.starts.total()
    missing, others = max(total - known, 0), max(known - total, 0)
    by_beginning: dict[tuple[int, ...], list[LoopPath]] = {}
    for path in facts.starts:
        by_beginning.setdefault(up_to_degree(ways, owner, path.edges), []).append(path)
    sums = [
        (
            [(before, path) for path in by_beginning.get(beginning, ())],
            Range(max(count - missing, 0), count),
        )
        for (before, beginning), count in facts.crossings.items()
    ]
    starts = {path: Range(max(count - others, 0), count) for path, count in facts.starts.items()}
    return pair_system(sums, {}, starts)


def loop_margins(ways: Ways, facts: LoopFacts) -> list[Margins[LoopPath, LoopPath]]:
    """The same sums as tables: one for each beginning of the second iteration, which it has in common."""
    owner = facts.owner
    total, known = facts.crossings.total(), facts.starts.total()
    missing, others = max(total - known, 0), max(known - total, 0)
    rows: dict[tuple[int, ...], dict[LoopPath, Range]] = {}
    columns: dict[tuple[int, ...], dict[LoopPath, Range]] = {}
    for (before, beginning), count in facts.crossings.items():
        rows.setdefault(beginning, {})[before] = Range(max(count - missing, 0), count)
    for path, count in facts.starts.items():
        beginning = up_to_degree(ways, owner, path.edges)
        columns.setdefault(beginning, {})[path] = Range(max(count - others, 0), count)
    return [Margins(rows[beginning], columns.get(beginning, {})) for beginning in rows]


class LoopReading:
    """Adds up the facts of all loops of a procedure, from its paths and those that are extended."""

    def __init__(
        self, dag: Dag, paths: Paths, nest: LoopNest, degrees: Mapping[int, int | None] = MappingProxyType({})
    ) -> None:
        """``degrees`` are those of the loops whose paths are extended, by header."""
        self.ways = Ways(dag)
        paths = Paths(0, cuts=paths.cuts, resume_edges=paths.resume_edges)
        self.crossed = joining_edges(dag, paths)
        headers = sorted(set(self.crossed.values()))
        self.facts = {
            header: LoopFacts(nest.owner(dag, header, degrees.get(header, -1))) for header in headers
        }
        self.whole = {header: nest.owner(dag, header, None) for header in headers}

    def add(self, found: OverlappingPath, count: int) -> None:
        """Add executions of a whole path."""
        last = found.path.edges[-1]
        header = self.crossed.get(last)
        if header is not None:
            facts = self.facts[header]
            beginning = up_to_degree(self.ways, facts.owner, found.ahead)
            facts.crossings[before_back_edge(facts.owner, found.path), beginning] += count
        self.add_start(found.path, count)

    def add_start(self, path: Route, count: int) -> None:
        """Add executions of a path, whole or cut short, that may have started behind a back edge."""
        header = path.blocks[0]
        if path.starts is not PathStart.ENTRY and header in self.facts:
            owner = self.whole[header]
            self.facts[header].starts[behind_back_edge(self.ways, owner, path)] += count
