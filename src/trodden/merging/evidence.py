"""Joining profiles such that a long run does not outweigh a short one (the end of WL94 §3.2).

Each profile is one piece of evidence about every branch that it executed; how often it executed the branch
only decides how far its shares are trusted (:mod:`trodden.weigh.heuristics.dempster`).  Combined shares
become frequencies by propagation through the graph (§4), and frequencies become counts that obey the flow
law.

Dempster's rule takes pieces of evidence for independent observations of one event: ten of them that each say
that a branch is taken six times in ten make it all but certain.  For the prediction of a direction that is
right.  For a frequency it is not: every loop would iterate for ever.  Therefore the weights of evidence are
divided by the number of runs that executed the branch, so that any number of runs with the same shares result
in these shares.

How often a function is entered does not follow from its own branches.  Every run is scaled to the length of
the longest, in executed blocks, and then entries are added up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from trodden.collect.call_paths import CalledFunction, CallPath
from trodden.errors import UsageError
from trodden.graph.cfg import EdgeKind
from trodden.merging.parts import MOST_MERGED_COUNT, Part
from trodden.merging.transfer import CONTRADICTORY, NO_EDGES, NotTransferable, counter_values
from trodden.merging.units import MergedUnits
from trodden.merging.unjoined import Unjoined, UnjoinedList
from trodden.plan.probes import BlockMeasure
from trodden.profile.assemble import unit_profiles
from trodden.profile.copies import add_counts
from trodden.profile.model import FunctionProfile
from trodden.program.facts import FunctionFacts
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.rounding import whole_flow
from trodden.recover.sparse_counters import SparseCounters
from trodden.recover.unit_counts import UnitCounts
from trodden.weigh.frequency.propagate import propagate
from trodden.weigh.heuristics.dempster import shares, trust, weight

_RESUMED = "control was resumed in it, which is no evidence about a branch"


class Evidence:
    """The evidence of all profiles added; each counts as one run."""

    def __init__(self) -> None:
        self.units = MergedUnits(lambda _source, _target: None)
        self.unjoined = UnjoinedList()
        self._branches: dict[CalledFunction, _Branches] = {}
        self._runs = self._longest = 0
        self._calls = False

    def add(self, part: Part) -> None:
        """Add one profile, or nothing of it if none of its functions is part of the result."""
        if not self.units.facts:
            _need_edges(part)
        correspondence = self.units.correspond(part)
        run: dict[CalledFunction, FunctionProfile] = {}
        refused: list[Unjoined] = []
        length = 0
        for unit, counted in zip(part.units, part.unit_counts, strict=True):
            for number, function in enumerate(unit_profiles(unit, counted)):
                executed = sum(function.counted_blocks[: function.facts.graph.exit])
                length += max(executed, 0)
                own = unit.id, number
                target = own if unit.id in self.units.facts else correspondence.targets.get(own)
                if target is None:
                    reason: str | None = correspondence.reasons[own]
                else:
                    reason = _unusable(function, self.units.function(target))
                if target is None or reason:
                    refused.append(Unjoined(function.name, part.where, reason or "", bool(executed)))
                elif executed:
                    known = run.get(target)
                    run[target] = function if known is None else add_counts(known, function)
        for each in refused:
            self.unjoined.add(each)
        for target, function in run.items():
            self._branches.setdefault(target, _Branches()).add(function, length)
        self._longest = max(self._longest, length)
        self._runs += 1
        self._calls |= bool(part.call_paths)

    def result(self) -> tuple[list[UnitCounts], tuple[CallPath, ...]]:
        """The counts of all units that the combined evidence amounts to; call paths are not evidence."""
        found: dict[str, list[tuple[int, FunctionCounts]]] = {name: [] for name in self.units.facts}
        for (unit, number), branches in self._branches.items():
            facts = self.units.function((unit, number))
            try:
                found[unit].append((number, branches.function_counts(facts, self._longest)))
            except NotTransferable as error:
                self.unjoined.add(Unjoined(facts.name, self.units.first, str(error), True))
        return [UnitCounts.of_functions(self.units.facts[name], parts) for name, parts in found.items()], ()

    def messages(self) -> list[str]:
        """What the result is, and what it does not show."""
        found = [
            f"the evidence of {self._runs:,} runs, combined: frequencies that do justice to each run,"
            " not the counts of any one run, nor of all"
        ]
        return [*found, "call paths were left out: they are not evidence about branches"][: 1 + self._calls]


def _need_edges(part: Part) -> None:
    """The counters of the first profile are those of the result, and must be able to hold it."""
    for unit in part.units:
        for facts in unit.functions:
            what = _no_edge_counters(facts)
            if what is not None:
                raise UsageError(f"{part.where}: {what}; use --combine sum, or an edge profile")


def _no_edge_counters(facts: FunctionFacts) -> str | None:
    """Why the counters of a function could not hold the counts that the evidence comes to."""
    if facts.plan.paths is not None:
        return "counts paths, and evidence is about branches"
    if facts.plan.free or any(isinstance(measure, BlockMeasure) for measure in facts.plan.measures):
        return "counts blocks, and evidence is about branches"
    return None


def _unusable(function: FunctionProfile, target: FunctionFacts) -> str | None:
    """Why the counts of a function cannot be used as evidence."""
    what = _no_edge_counters(target)
    if what is not None:
        return f"the result {what}"
    if None in function.edge_counts:
        return NO_EDGES
    if any(count < 0 for count in function.cut_short.values()):
        return _RESUMED
    negative = any(count is not None and count < 0 for count in function.edge_counts)
    return CONTRADICTORY if function.violations or negative else None


@dataclass
class _Branches:
    """The evidence about one function.

    ``weights`` has a sum for each outcome: an edge by its index, an early end in block v as ``-1 - v``.
    ``pieces[v]`` is the number of runs that executed block v, ``entries`` the number of entries for each
    block that the runs executed in all.
    """

    weights: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    pieces: Counter[int] = field(default_factory=Counter)
    entries: float = 0.0

    def add(self, function: FunctionProfile, length: int) -> None:
        """Add the shares of one run."""
        self.entries += function.entries / length
        graph, weights = function.facts.graph, self.weights
        for vertex in range(graph.exit):
            ran = function.counted_blocks[vertex]
            if not ran:
                continue
            trusted = trust(ran)
            self.pieces[vertex] += 1
            for edge in graph.out_edges[vertex]:
                taken = function.edge_counts[edge]
                if taken:
                    weights[edge] += weight(taken / ran, trusted)
            ended = function.cut_short.get(vertex)
            if ended:
                weights[-1 - vertex] += weight(ended / ran, trusted)

    def function_counts(self, facts: FunctionFacts, longest: int) -> FunctionCounts:
        """What the function's counters hold after a run with the combined shares."""
        graph = facts.graph
        outcomes, ends, probabilities = [graph.closing], [(graph.exit, graph.root)], [1.0]
        for vertex, runs in self.pieces.items():
            edges = [e for e in graph.out_edges[vertex] if graph.edges[e].kind is EdgeKind.FLOW]
            taken = {each: self.weights[each] for each in (*edges, -1 - vertex) if each in self.weights}
            for outcome, share in shares(taken, runs).items():
                outcomes.append(outcome)
                ends.append((vertex, graph.exit if outcome < 0 else graph.edges[outcome].dst))
                probabilities.append(share)
        try:
            entries = self.entries * longest
            frequencies = propagate(len(graph.labels), ends, probabilities, graph.exit, entries)
            if not max(frequencies) < MOST_MERGED_COUNT:
                raise NotTransferable("its counts would be larger than a file may hold")
            counts = whole_flow(len(graph.labels), ends, frequencies, 0)
        except ValueError as error:
            raise NotTransferable(CONTRADICTORY) from error
        edge_counts = [0] * len(graph.edges)
        early: Counter[int] = Counter()
        blocks = [0] * len(graph.labels)
        for outcome, (_, target), count in zip(outcomes, ends, counts, strict=True):
            blocks[target] += count
            if outcome < 0:
                early[-1 - outcome] = count
            else:
                edge_counts[outcome] = count
        values = counter_values(facts, blocks, edge_counts, early)
        return FunctionCounts(SparseCounters(facts.plan.slots, values), early)
