"""A path in terms of the source, for readers who know nothing of basic blocks (BL96 §2).

A path is described by where it starts, the conditions that were evaluated on it with their values, and where
it ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trodden.plan.routes import PathCount, PathEnd, PathStart
from trodden.profile.analysis.interrupted import Interrupted
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BranchKind
from trodden.report.narrate.decisions import Decisions
from trodden.report.narrate.source_index import SourceIndex
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.report.narrate.statements import Statement
from trodden.report.narrate.steps import Step

ARROW = " → "


@dataclass(frozen=True)
class PathDescription:
    """A path in words.  ``context`` are the decisions on the path to its loop (MR98 §7)."""

    starts: str
    steps: tuple[Step, ...]
    ends: str
    context: tuple[Step, ...] = ()

    def steps_text(self, longest: int | None = None) -> str:
        """The steps on one line."""
        return ARROW.join(step.words(longest) for step in self.steps)


class Describer:
    """Describes the paths of a profile, with the text of its sources where they have not changed."""

    def __init__(self, profile: Profile, force: bool = False) -> None:
        self.profile = profile
        self.index = SourceIndex(profile, force)
        self._interrupted = Interrupted(profile)
        self._functions: dict[int, _FunctionDescriber] = {}

    def describe(self, function: FunctionProfile, path: PathCount) -> PathDescription:
        """A path in words."""
        return self._of(function).describe(path)

    def steps(
        self, function: FunctionProfile, blocks: Sequence[int], edges: Sequence[int]
    ) -> tuple[Step, ...]:
        """A part of a path in words: the decisions on it, and the line where it is after them."""
        part = PathCount(-1, 0, tuple(blocks), tuple(edges), PathStart.ENTRY, PathEnd.UNWOUND)
        return self._of(function).steps(part)

    def decision(self, function: FunctionProfile, edge: int) -> Step | None:
        """What taking an edge decides; None if its block has no other successor."""
        found = self._of(function).decisions.of_edge(edge)
        return None if found is None else found.step

    def locations(self, function: FunctionProfile) -> FunctionLocations:
        """Where the blocks of a function lie."""
        return self._of(function).locations

    def _of(self, function: FunctionProfile) -> _FunctionDescriber:
        if id(function) not in self._functions:
            interrupted = self._interrupted.blocks_of(function.facts)
            self._functions[id(function)] = _FunctionDescriber(function, self.index, interrupted)
        return self._functions[id(function)]


class _FunctionDescriber:
    """Describes the paths of one function."""

    def __init__(
        self, function: FunctionProfile, index: SourceIndex, interrupted: Mapping[int, Counter[str]]
    ) -> None:
        self._interrupted = interrupted
        self.locations = FunctionLocations(function, index)
        self.decisions = Decisions(self.locations)
        self._function, self._facts, self._graph = function, function.facts, function.facts.graph

    def describe(self, path: PathCount) -> PathDescription:
        context = self.decisions.steps(path.edges[: path.context])
        return PathDescription(self._starts(path), self.steps(path), self._ends(path), tuple(context))

    def steps(self, path: PathCount) -> tuple[Step, ...]:
        steps = self.decisions.steps(path.edges[path.context :])
        last = self._last_line(path)
        if last is not None and not (steps and (steps[-1].file, steps[-1].line) == (last.file, last.line)):
            steps.append(last)
        return tuple(steps)

    def _last_line(self, path: PathCount) -> Step | None:
        """The last line after the last decision that holds more than brackets."""
        for index in range(len(path.blocks) - 1, path.context - 1, -1):
            if index < len(path.edges) and self.decisions.of_edge(path.edges[index]) is not None:
                break
            lines = self.locations.numbered_lines(path.blocks[index])
            ended_on = self._ended_on(path) if index == len(path.blocks) - 1 else []
            for number, ref in reversed(lines):
                if ref.line <= 0 or ref.instance or (ended_on and number > ended_on[-1]):
                    continue
                text = self.locations.index.text(self.locations.path_of(ref), ref.line)
                deciding = self.locations.deciding(ref)
                loop = isinstance(deciding, Statement) and deciding.loop
                if (text is None or text.strip("{}; \t")) and not loop:
                    return self.decisions.step_at(ref)
        return None

    def _starts(self, path: PathCount) -> str:
        first = path.blocks[path.context]
        at = self.locations.name_of_block(first, self.locations.begin(first))
        if path.starts is PathStart.ENTRY and not path.context:
            return f"starts at the function entry ({at})"
        if path.starts is PathStart.CUT and not path.context:
            return f"starts where long paths are cut in two ({at})"
        if path.starts is PathStart.RESUME and not path.context:
            return f"resumes after a call that can return twice ({at})"
        return f"starts at the loop header ({self.locations.name_of_loop(first)})"

    def _ends(self, path: PathCount) -> str:
        last = path.blocks[-1]
        at = self.locations.name_of_block(last, self.locations.end(last))
        kind, complete = self._facts.blocks[last].kind, len(path.edges) == len(path.blocks)
        if kind is BranchKind.UNWIND and complete and path.ends in (PathEnd.EXIT, PathEnd.UNWOUND):
            where = f" at {at}" if self.locations.lines(last) else ""
            return f"ends with an exception that leaves the function{where}"
        signals = self._interrupted.get(last, Counter())
        if path.ends is PathEnd.UNWOUND and signals.total() >= path.count:
            return f"ends at {at}, interrupted by {' and '.join(signals)}"
        if path.ends is PathEnd.UNWOUND and not self._facts.blocks[last].calls:
            return f"ends at {at}, interrupted"
        if path.ends is PathEnd.UNWOUND:
            return f"ends in a call {self._call(path, at, complete)} that did not return"
        target = self._graph.edges[path.edges[-1]].dst
        if path.ends is PathEnd.BACK_EDGE:
            return f"ends at the back edge to {self.locations.name_of_loop(target)}"
        if path.ends is PathEnd.CUT:
            plan = self._facts.plan.paths
            if plan is not None and path.edges[-1] in plan.resume_edges:
                return f"ends before the call at {at} that can return twice"
            following = self.locations.name_of_block(target, self.locations.begin(target))
            return f"ends where long paths are cut in two; the next one starts at {following}"
        return f"returns at {at}" if kind is BranchKind.RETURN else f"exits the function at {at}"

    def _ended_on(self, path: PathCount) -> list[int]:
        """The lines of its last block on which executions of a path ended; none if not all are known."""
        block = self._facts.blocks[path.blocks[-1]]
        stops = self._stops.get(path.id, ())
        found = [(block.line_at(where), times) for where, times in stops]
        lines = {line for line, _ in found if line is not None and line >= 0}
        known = sum(times for line, times in found if line in lines)
        return sorted(lines) if known == path.count else []

    @cached_property
    def _stops(self) -> dict[int, list[tuple[int, int]]]:
        """For each path the positions where executions of it ended, and how often."""
        found: dict[int, list[tuple[int, int]]] = {}
        for (number, where), times in self._function.path_stops.items():
            found.setdefault(number, []).append((where, times))
        return found

    def _call(self, path: PathCount, at: str, complete: bool) -> str:
        """Where the call lies that a path ended in.

        Where its line is not known, it is between the first and the last line of its block.
        """
        last = path.blocks[-1]
        lines = self._facts.blocks[last].lines
        names = dict.fromkeys(
            self.locations.name_of_block(last, lines[line] if lines[line].line > 0 else None)
            for line in self._ended_on(path)
        )
        if names:
            return f"at {' or '.join(names)}"
        begin, end = self.locations.begin(last), self.locations.end(last)
        if (
            complete
            or begin is None
            or end is None
            or (begin.file, begin.instance) != (end.file, end.instance)
        ):
            return f"at {at}"
        first = self.locations.name_of_block(last, begin)
        return f"between {first} and {at}" if begin.line < end.line else f"at {at}"
