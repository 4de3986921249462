"""A branch on a path in words: the parts of its condition with their values, or where control continued."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.certainty import Certainty
from trodden.report.narrate.condition_region import ConditionRegion
from trodden.report.narrate.conditions import TRUE, Condition
from trodden.report.narrate.macro_tests import MacroTests
from trodden.report.narrate.outcomes import ConditionOutcomes, EdgeOutcome
from trodden.report.narrate.source_locations import FunctionLocations
from trodden.report.narrate.statements import Deciding, Statement
from trodden.report.narrate.steps import Outcome, Part, Step
from trodden.report.narrate.tests_by_column import TestsByColumn

_NOTHING = EdgeOutcome()


@dataclass(frozen=True)
class Decision:
    """An edge out of a block that has several, as a step.

    Decisions with the same ``at`` are about the same condition; ``decided`` is what the edge says of
    ``condition``.  ``target`` is the block that the edge leads to, and its line.
    """

    step: Step
    at: object
    target: tuple[str, str | None]
    condition: Condition | None = None
    decided: EdgeOutcome = _NOTHING


class Decisions:
    """The branches of one function."""

    def __init__(self, locations: FunctionLocations) -> None:
        self._locations = locations
        self._tests, self._macros = TestsByColumn(locations), MacroTests(locations)
        self._graph = locations.function.facts.graph
        self._known: dict[int, Decision | None] = {}
        self._conditions: dict[object, ConditionOutcomes] = {}
        self._successor_names: dict[int, Counter[str]] = {}

    def of_edge(self, edge: int) -> Decision | None:
        """What taking an edge decides; None if there was nothing to decide."""
        if edge not in self._known:
            self._known[edge] = self._decide(edge)
        return self._known[edge]

    def steps(self, edges: Sequence[int]) -> list[Step]:
        """The decisions along some edges; those about one evaluation of a condition are one step."""
        found = [self.of_edge(edge) for edge in edges]
        return [_joined(run) for run in _runs([decision for decision in found if decision is not None])]

    def _decide(self, edge: int) -> Decision | None:
        source = self._graph.edges[edge].src
        out = self._locations.flow_out(source)
        if len(out) < 2:
            return None
        call = self._locations.function.facts.blocks[source].kind is BranchKind.CALL
        if call and edge == out[0]:
            return None
        label = self._block_and_line(self._graph.edges[edge].dst)
        ref = self._locations.end(source)
        deciding = None if call or ref is None else self._locations.deciding(ref)
        if call or ref is None or deciding is None:
            part = None if call else self._tests.part(edge) or self._macros.part(edge)
            if part is not None:
                step = self._step(source, ref, None, self._with_loops(edge, Outcome((part,))))
                return Decision(step, source, label, decided=EdgeOutcome(final=True))
            target = self._handler(edge) if call else self._target(edge)
            outcome = self._with_loops(edge, Outcome(continues=target, throws=call))
            step = self._step(source, ref, None, outcome)
            return Decision(step, (source, call) if call or ref is None else (ref, None), label)
        at = ref.file, ref.instance, deciding.first, deciding.last
        if at not in self._conditions:
            self._conditions[at] = ConditionOutcomes(ConditionRegion(self._locations, deciding, ref))
        return self._of_condition(edge, at, ref, deciding, label)

    def _of_condition(
        self, edge: int, at: object, ref: LineRef, deciding: Deciding, label: tuple[str, str | None]
    ) -> Decision:
        outcomes, source = self._conditions[at], self._graph.edges[edge].src
        if isinstance(deciding, Statement) and deciding.word == "switch":
            case = outcomes.cases.case(edge)
            if case is not None:
                outcome = self._with_loops(edge, Outcome((Part(deciding.text, case),)))
                step = self._step(source, ref, deciding, outcome)
                return Decision(step, at, label, decided=EdgeOutcome(final=True))
        condition, decided = deciding.condition, outcomes.of_edge(edge)
        parts = _parts(condition, [decided])
        outcome = Outcome(continues=self._target(edge))
        if parts:
            outcome = Outcome(parts, ambiguous=self._is_ambiguous(edge, condition, outcomes))
        own = isinstance(deciding, Statement) and deciding.loop and condition is not None
        ends = own and condition is not None and _whole(condition, decided) is False
        named = None if deciding.hides and not parts else deciding
        step = self._step(source, ref, named, self._with_loops(edge, outcome, ends))
        return Decision(step, at, label, condition, decided)

    def _is_ambiguous(self, edge: int, condition: Condition | None, outcomes: ConditionOutcomes) -> bool:
        """Whether parts may have had the value that an edge shows although another edge was taken.

        Other branches of the condition may decide them, or this branch something else as well: of ``if (a)
        if (b)`` that became one branch, ``a`` is true on one edge and may be true on the other.
        """
        decided = outcomes.of_edge(edge)
        if decided.test is None and not decided.merged and not (condition and len(condition.tests) == 1):
            return True
        opposite = {True: False, False: True, None: None}
        number, value = decided.test or (None, None)
        shown = outcomes.shown_by(self._graph.edges[edge].src)
        others = shown - Counter([(decided.test, decided.whole)])
        if number is not None:
            return any(test != (number, opposite[value]) for test, _ in others)
        return any(whole is None or whole is not opposite[decided.whole] for _, whole in others)

    def _block_and_line(self, vertex: int) -> tuple[str, str | None]:
        """A block by its label and its line: compilers make several blocks of one line."""
        ref = self._locations.begin(vertex)
        label = "exit" if vertex == self._graph.exit else self._graph.labels[vertex]
        return label, None if ref is None else self._locations.name(ref)

    def step_at(self, ref: LineRef) -> Step:
        """A line as a step."""
        return self._step(0, ref, None, None)

    def _step(
        self, source: int, ref: LineRef | None, deciding: Deciding | None, outcome: Outcome | None
    ) -> Step:
        """A block without lines, a line, or the condition of a statement in it, as a step.

        What has a condition is not named where a branch may be none of its tests.
        """
        locations = self._locations
        if ref is None:
            return Step(None, None, f"block {self._graph.labels[source]}", None, outcome)
        path = locations.path_of(ref)
        statement = deciding if isinstance(deciding, Statement) else None
        line = ref.line if deciding is None else deciding.first
        text = locations.index.text(path, line) if statement is None else statement.text
        location = locations.name(LineRef(ref.file, line, ref.instance))
        return Step(path, line, location, text, outcome, locations.inlined_from(ref))

    def _target(self, edge: int) -> str:
        """Where control continues; with the block where the location does not distinguish the successors."""
        locations, (source, target, _) = self._locations, self._graph.edges[edge]
        if source not in self._successor_names:
            self._successor_names[source] = Counter(map(self._name, locations.flow_out(source)))
        name = self._name(edge)
        alike = self._successor_names[source][name] > 1
        if alike and target != self._graph.exit and not name.startswith("block "):
            return f"{name}, block {self._graph.labels[target]}"
        return name

    def _handler(self, edge: int) -> str | None:
        """Where control continues after an exception; None if it leaves the function."""
        found = self._locations.handler(edge)
        return None if found is None else self._locations.name_of_block(*found)

    def _name(self, edge: int) -> str:
        """The location where control continues along an edge."""
        return self._locations.name_of_block(*self._locations.after(edge))

    def _with_loops(self, edge: int, outcome: Outcome, ends: bool = False) -> Outcome:
        """With what happens to the loops around; ``ends``: the condition of a loop was false."""
        locations, (source, target, _) = self._locations, self._graph.edges[edge]
        exited = [] if source == target else locations.exited_by.get(edge, [])
        if exited:
            header = locations.loops.loops[exited[-1]].header
            name = "" if ends and len(exited) == 1 else f" at {locations.name_of_loop(header)}"
            outcome = replace(outcome, exits=f"exits the loop{name}")
        return replace(outcome, iterates=source != target and source in locations.looping)


def _whole(condition: Condition, decided: EdgeOutcome) -> bool | None:
    """The value of a condition after an edge, if it is certain."""
    if decided.test is None:
        return decided.whole
    number, value = decided.test
    following = condition.tests[number].on_true if value else condition.tests[number].on_false
    return None if following >= 0 else following == TRUE


def _parts(condition: Condition | None, decided: Sequence[EdgeOutcome]) -> tuple[Part, ...]:
    """The parts of a condition that are certain to have been evaluated at some branches."""
    if condition is None:
        return ()
    values = dict(each.test for each in decided if each.test is not None)
    whole = next((each.whole for each in reversed(decided) if each.whole is not None), None)
    if not values and whole is None:
        return ()
    names = {True: condition.values[0], False: condition.values[1]}
    if not values and decided[0].merged and whole is not None:
        return (Part(condition.text(condition.root.span), names[whole]),)
    found = Certainty(condition, values, whole, min(values, default=0)).parts()
    return tuple(Part(text, names[value]) for text, value in found)


def _runs(decisions: Sequence[Decision]) -> Iterator[list[Decision]]:
    """Decisions about one evaluation of a condition."""
    run: list[Decision] = []
    for decision in decisions:
        if run and not _continues(run, decision):
            yield run
            run = []
        run.append(decision)
    if run:
        yield run


def _continues(run: Sequence[Decision], other: Decision) -> bool:
    if run[-1].at != other.at or run[-1].decided.final:
        return False
    tests = [each.decided.test[0] for each in run if each.decided.test is not None]
    return not tests or other.decided.test is None or other.decided.test[0] > tests[-1]


def _blocks(passed: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
    """``blocks b2, b4 of line 11``: blocks by their lines."""
    found = []
    for line, group in groupby(passed, key=lambda each: each[1]):
        labels = [label for label, _ in group]
        of = "" if line is None else f" of {line}"
        found.append(f"block{'s' if len(labels) > 1 else ''} {', '.join(labels)}{of}")
    return tuple(found)


def _joined(run: Sequence[Decision]) -> Step:
    """One step: the parts of the condition, and the blocks that edges lead to which decide no part."""
    last = run[-1].step
    if len(run) == 1 or last.outcome is None:
        return last
    outcomes = [each.step.outcome for each in run if each.step.outcome is not None]
    outcome = replace(
        last.outcome,
        parts=_parts(run[-1].condition, [each.decided for each in run]) or last.outcome.parts,
        iterates=any(each.iterates for each in outcomes),
        through=_blocks(each.target for each in run[:-1] if each.decided.test is None),
    )
    return replace(last, outcome=outcome)
