"""Longer paths by pairs, by overlaps and by a trace of the same run: each compared with the trace.

The trace has the truth.  What is said to be exact has to be equal, and bounds have to contain it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
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
from trodden.profile.longer.model import Crossing, CrossingFlow, LongerKind, LongerPaths, PathPart, Source
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
            bounds = Range(path.lower, path.upper)
            self.paths.setdefault(path.crossing, {})[path.first, path.second] = bounds
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


def longer_agreement(truth: LongerPaths, other: LongerPaths) -> dict[str, Any]:
    """Of the longer paths of two profiles of the same run, of which the first is a trace.

    ``exact`` are those with one number, which is compared with the truth; of the others it is compared with
    bounds.  ``executions`` are how often the paths that were compared were executed.  What one of the
    profiles does not tell, and functions whose paths are divided by other cuts, are ``apart``.
    """
    told, known = _Told(truth), _Told(other)
    same = _same_paths(truth, other)
    found = {"compared": 0, "exact": 0, "executions": 0, "pairs": 0, "differ": 0, "apart": 0}
    differences: list[str] = []
    for crossing in dict.fromkeys([*told.flows, *known.flows]):
        real, mine = told.paths.get(crossing, {}), known.paths.get(crossing, {})
        if not (
            same.get(crossing.function) and same.get(crossing.owners[0]) and same.get(crossing.owners[1])
        ):
            found["apart"] += len(real)
            continue
        if not told.tells(crossing) or not known.tells(crossing):
            found["apart"] += len(real)
            continue
        certain = [parts for parts, bounds in mine.items() if bounds.least]
        for parts in dict.fromkeys([*real, *certain]):
            counted, bounds = told.bounds(crossing, parts), known.bounds(crossing, parts)
            found["compared"] += 1
            found["exact"] += bounds.least == bounds.most
            found["executions"] += counted.least
            if known.flows.get(crossing) is not None:
                found["pairs"] += known.flows[crossing].source is Source.PAIRS
            if counted.most < bounds.least or bounds.most < counted.least:
                found["differ"] += 1
                differences.append(_named(crossing, counted, bounds))
    return {**found, "first differences": differences[:_SHOWN]}


def _same_paths(one: LongerPaths, other: LongerPaths) -> Mapping[str, bool]:
    """Of each function of both whether they have the same graph, cut in the same places."""
    found = {}
    for key, function in one.functions.items():
        if key in other.functions:
            facts, others = function.facts, other.functions[key].facts
            plans = facts.plan.paths, others.plan.paths
            assert plans[0] is not None
            assert plans[1] is not None
            found[key] = facts.graph.edges == others.graph.edges and plans[0].cuts == plans[1].cuts
    return found


def _named(crossing: Crossing, counted: Range, bounds: Range) -> str:
    where = f"{crossing.function} {crossing.kind.value} {crossing.site}"
    to = f" of {crossing.callee}" if crossing.kind is not LongerKind.LOOP else ""
    return f"{where}{to}: {counted.least}, not {bounds.least} to {bounds.most}"
