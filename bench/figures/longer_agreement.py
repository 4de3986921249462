"""Longer paths by pairs, by overlaps and by a trace of the same run: each compared with the trace.

The trace has the truth.  What is said to be exact has to be equal, and bounds have to contain it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.build.configurations import PAIRS, THIRD, overlap_config, trace_config
from bench.measures.code import code_of
from bench.measures.model import Json, Measure
from bench.run.executables import run_of
from bench.run.fingerprints import run_fingerprint
from bench.run.profiles import collected
from bench.suite.model import CaseName, SuiteProgram
from bench.support.hashing import hashed
from trodden.api.longer import counted_pairs, longer_paths
from trodden.api.traces import use
from trodden.plan.routes import PathStart
from trodden.profile.longer.model import Crossing, CrossingFlow, LongerKind, LongerPaths, PathPart, Source
from trodden.program.facts import FunctionFacts
from trodden.recover.bounds.system import Range

COMPARED = (overlap_config(PAIRS), overlap_config("max"), overlap_config(THIRD), overlap_config("auto"))
"""What is compared with a trace."""

_TRACE = trace_config("paths")
_SHOWN = 20

_Parts = tuple[PathPart, PathPart]


@dataclass(frozen=True)
class LongerAgreement(Measure):
    """How many longer paths are compared, by configuration, and how many differ."""

    case: CaseName = "ref"

    @property
    def key(self) -> str:
        """By case."""
        return f"agreement/longer/{self.case}"

    @property
    def configs(self) -> tuple[str, ...]:
        """The trace, and what is compared with it."""
        return (_TRACE, *COMPARED)

    def fingerprint(self, program: SuiteProgram) -> str:
        """All runs, and the code that compares."""
        runs = (run_fingerprint(program, config, self.case) for config in self.configs)
        return hashed(code_of(__name__), *runs)

    def measure(self, program: SuiteProgram) -> Json:
        """Run each once, and compare."""
        use()
        truth = self._of(program, _TRACE)
        return {config: longer_agreement(truth, self._of(program, config)) for config in COMPARED}

    def _of(self, program: SuiteProgram, config: str) -> LongerPaths:
        run = run_of(program, config, self.case, "longer")
        result = run.execute()
        found = longer_paths(counted_pairs(collected(result, run.what)))
        shutil.rmtree(result.directory, ignore_errors=True)
        return found


class _Told:
    """The longer paths of one run by crossing."""

    def __init__(self, longer: LongerPaths) -> None:
        self.flows: dict[Crossing, CrossingFlow] = {each.crossing: each for each in longer.crossings}
        self.paths: dict[Crossing, dict[_Parts, Range]] = {}
        for path in longer.paths:
            parts = _plain(path.first), _plain(path.second)
            self.paths.setdefault(path.crossing, {})[parts] = Range(path.lower, path.upper)
        self._silent = {(each.kind, each.function) for each in longer.not_told}

    def tells(self, crossing: Crossing) -> bool:
        """Whether everything is said of a crossing, so that no path of it is missing."""
        owners = (crossing.function, crossing.callee or crossing.function)
        return not any((kind, key) in self._silent for kind in (None, crossing.kind) for key in owners)

    def bounds(self, crossing: Crossing, parts: _Parts) -> Range:
        """Of a path, listed or not."""
        flow = self.flows.get(crossing)
        if flow is None:
            return Range(0, 0)
        return self.paths.get(crossing, {}).get(parts, Range(0, flow.unlisted))


def _plain(part: PathPart) -> PathPart:
    """A part without how it starts, unless at the entry: numbers do not tell a cut from a back edge."""
    return part if part.starts is PathStart.ENTRY else replace(part, starts=None)


class _Cuts:
    """Divides the paths of a trace where those of another profile are cut.

    Counters need fewer paths than a trace, and cut more of them.  What was done before a crossing then begins
    behind the last cut, and what was done behind it ends at the first one.
    """

    def __init__(self, function: FunctionFacts, other: FunctionFacts) -> None:
        plans = function.plan.paths, other.plan.paths
        assert plans[0] is not None
        assert plans[1] is not None
        self._graph = function.graph
        self._cuts = frozenset(plans[1].cuts)
        self._back_edges = frozenset(plans[1].back_edges)
        self.possible = function.graph.edges == other.graph.edges and self._cuts.issuperset(plans[0].cuts)

    def crosses(self, header: int, first: PathPart) -> bool:
        """Whether one of the back edges that lead on from a part is not cut."""
        edges = self._graph.out_edges[first.blocks[-1]]
        return any(
            self._graph.edges[edge].dst == header and edge in self._back_edges - self._cuts for edge in edges
        )

    def before(self, part: PathPart) -> PathPart:
        """What is left of the part before a crossing."""
        found = [position for position, edge in enumerate(part.edges) if edge in self._cuts]
        if not found:
            return part
        return PathPart(part.blocks[found[-1] + 1 :], part.edges[found[-1] + 1 :])

    def behind(self, part: PathPart) -> PathPart:
        """What is left of the part behind it."""
        found = [position for position, edge in enumerate(part.edges) if edge in self._cuts]
        if not found:
            return part
        return replace(part, blocks=part.blocks[: found[0] + 1], edges=part.edges[: found[0]])


def longer_agreement(truth: LongerPaths, other: LongerPaths) -> dict[str, Any]:
    """Of the longer paths of two profiles of the same run, of which the first is a trace.

    ``exact`` are those with one number, which is compared with the truth; of the others it is compared with
    bounds.  ``executions`` are how often the paths that were compared were executed.  What one of the
    profiles does not tell is ``apart``.
    """
    told, known = _Told(truth), _Told(other)
    cuts = {
        key: _Cuts(function.facts, other.functions[key].facts)
        for key, function in truth.functions.items()
        if key in other.functions
    }
    found = {"compared": 0, "exact": 0, "executions": 0, "pairs": 0, "differ": 0, "apart": 0}
    differences: list[str] = []
    for crossing in dict.fromkeys([*told.flows, *known.flows]):
        owners = [cuts.get(key) for key in crossing.owners]
        real = told.paths.get(crossing, {})
        if None in owners or not all(each.possible for each in owners if each is not None):
            found["apart"] += len(real)
            continue
        if not told.tells(crossing) or not known.tells(crossing):
            found["apart"] += len(real)
            continue
        counts = _divided(crossing, real, *(each for each in owners if each is not None))
        mine = known.paths.get(crossing, {})
        certain = [parts for parts, bounds in mine.items() if bounds.least]
        flow = known.flows.get(crossing)
        for parts in dict.fromkeys([*counts, *certain]):
            count, bounds = counts.get(parts, 0), known.bounds(crossing, parts)
            found["compared"] += 1
            found["exact"] += bounds.least == bounds.most
            found["executions"] += count
            found["pairs"] += flow is not None and flow.source is Source.PAIRS
            if not bounds.least <= count <= bounds.most:
                found["differ"] += 1
                differences.append(_named(crossing, count, bounds))
    return {**found, "first differences": differences[:_SHOWN]}


def _divided(
    crossing: Crossing, real: Mapping[_Parts, Range], first: _Cuts, second: _Cuts
) -> Counter[_Parts]:
    """How often each longer path was executed, as the cuts of both functions have it."""
    counts: Counter[_Parts] = Counter()
    for parts, known in real.items():
        if crossing.kind is LongerKind.LOOP and not first.crosses(crossing.site, parts[0]):
            continue
        counts[_plain(first.before(parts[0])), _plain(second.behind(parts[1]))] += known.least
    return counts


def _named(crossing: Crossing, count: int, bounds: Range) -> str:
    where = f"{crossing.function} {crossing.kind.value} {crossing.site}"
    to = f" of {crossing.callee}" if crossing.kind is not LongerKind.LOOP else ""
    return f"{where}{to}: {count}, not {bounds.least} to {bounds.most}"
