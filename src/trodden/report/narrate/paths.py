"""A path told to people who know the source and nothing of basic blocks (BL96 §2).

A path is where it starts, the conditions that it met with what came of each, and where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trodden.plan.routes import PathCount, PathEnd, PathStart
from trodden.profile.model import FunctionProfile, Profile
from trodden.program.facts import BranchKind
from trodden.report.narrate.decisions import Decision, Decisions, Step
from trodden.report.narrate.source_locations import Landscape, Places

ARROW = " → "


@dataclass(frozen=True)
class Story:
    """A path in words.  ``context`` are the decisions that had led to its loop (MR98 §7)."""

    starts: str
    steps: tuple[Step, ...]
    ends: str
    context: tuple[Step, ...] = ()

    def way(self, longest: int | None = None) -> str:
        """The steps on one line."""
        return ARROW.join(step.words(longest) for step in self.steps)


class Describer:
    """Tells the paths of a profile, with the text of its sources where they are as they were."""

    def __init__(self, profile: Profile, force: bool = False) -> None:
        self.landscape = Landscape(profile, force)
        self._tellers: dict[int, _Teller] = {}

    def story(self, function: FunctionProfile, path: PathCount) -> Story:
        """A path in words."""
        return self._teller(function).story(path)

    def decision(self, function: FunctionProfile, edge: int) -> Step | None:
        """What taking an edge decides; None if its block has no other way out."""
        found = self._teller(function).decisions.of_edge(edge)
        return None if found is None else found.step

    def places(self, function: FunctionProfile) -> Places:
        """Where the blocks of a function lie."""
        return self._teller(function).places

    def _teller(self, function: FunctionProfile) -> _Teller:
        if id(function) not in self._tellers:
            self._tellers[id(function)] = _Teller(function, self.landscape)
        return self._tellers[id(function)]


class _Teller:
    """Tells the paths of one function."""

    def __init__(self, function: FunctionProfile, landscape: Landscape) -> None:
        self.places = Places(function, landscape)
        self.decisions = Decisions(self.places)
        self._facts, self._graph = function.facts, function.facts.graph

    def story(self, path: PathCount) -> Story:
        steps = self._steps(path, path.context, len(path.blocks))
        last = self._last_line(path)
        if last is not None and not (steps and (steps[-1].file, steps[-1].line) == (last.file, last.line)):
            steps.append(last)
        context = self._steps(path, 0, path.context)
        return Story(self._starts(path), tuple(steps), self._ends(path), tuple(context))

    def _steps(self, path: PathCount, first: int, last: int) -> list[Step]:
        found = [self.decisions.of_edge(edge) for edge in path.edges[first:last]]
        return list(_merged([decision for decision in found if decision is not None]))

    def _last_line(self, path: PathCount) -> Step | None:
        """The last line behind the last decision that says something, not a bracket."""
        for index in range(len(path.blocks) - 1, path.context - 1, -1):
            if index < len(path.edges) and self.decisions.of_edge(path.edges[index]) is not None:
                break
            for ref in reversed(self._facts.blocks[path.blocks[index]].lines):
                if ref.line <= 0 or ref.copy:
                    continue
                text = self.places.landscape.text(self.places.path_of(ref), ref.line)
                statement = self.places.deciding(ref)
                if (text is None or text.strip("{}; \t")) and not (statement is not None and statement.loop):
                    return self.decisions.step_at(ref)
        return None

    def _starts(self, path: PathCount) -> str:
        first = path.blocks[path.context]
        at = self.places.name_of_block(first, self.places.begin(first))
        if path.starts is PathStart.ENTRY and not path.context:
            return f"enters at {at}"
        if path.starts is PathStart.CUT and not path.context:
            return f"goes on at {at}, where the path before was cut"
        if path.starts is PathStart.RESUME and not path.context:
            return f"goes on at {at}, behind a call that can return twice"
        return f"starts a new round of the loop at {self.places.name_of_loop(first)}"

    def _ends(self, path: PathCount) -> str:
        last = path.blocks[-1]
        at = self.places.name_of_block(last, self.places.end(last))
        kind, left = self._facts.blocks[last].kind, len(path.edges) == len(path.blocks)
        if kind is BranchKind.UNWIND and left and path.ends in (PathEnd.EXIT, PathEnd.UNWOUND):
            return f"an exception leaves the function at {at}"
        if path.ends is PathEnd.UNWOUND:
            begin, end = self.places.begin(last), self.places.end(last)
            if left or begin is None or end is None or (begin.file, begin.copy) != (end.file, end.copy):
                return f"called at {at} and never came back"
            first = self.places.name_of_block(last, begin)
            called = f"between {first} and" if begin.line < end.line else "at"
            return f"called {called} {at} and never came back"
        target = self._graph.edges[path.edges[-1]].dst
        if path.ends is PathEnd.BACK_EDGE:
            return f"goes round the loop at {self.places.name_of_loop(target)} again"
        if path.ends is PathEnd.CUT:
            plan = self._facts.plan.paths
            if plan is not None and path.edges[-1] in plan.resume_edges:
                return f"stops before the call at {at} that can return twice"
            following = self.places.name_of_block(target, self.places.begin(target))
            return f"the path is cut here; the next one begins at {following}"
        return f"returns at {at}" if kind is BranchKind.RETURN else f"leaves the function at {at}"


def _merged(decisions: Sequence[Decision]) -> Iterator[Step]:
    """Decisions about one condition are one step: what it came to, and by which ways if by several."""
    run: list[Decision] = []
    for decision in decisions:
        if run and not _continues(run[-1], decision):
            yield _one_step(run)
            run = []
        run.append(decision)
    if run:
        yield _one_step(run)


def _continues(one: Decision, other: Decision) -> bool:
    return one.at == other.at and (not one.settled or one.step.outcome == other.step.outcome)


def _one_step(run: Sequence[Decision]) -> Step:
    last = run[-1].step
    if len(run) == 1:
        return last
    ways = ", ".join(str(decision.way) for decision in run)
    if last.outcome is not None and last.outcome.startswith("way "):
        return replace(last, outcome=f"ways {ways}")
    return replace(last, outcome=f"{last.outcome} (by ways {ways})")
