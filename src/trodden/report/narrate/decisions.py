"""A branch on a path in words: the condition as the source has it, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from trodden.program.facts import BranchKind, LineRef
from trodden.report.narrate.outcomes import NO, Judge
from trodden.report.narrate.source_locations import Places
from trodden.report.narrate.statements import Statement


@dataclass(frozen=True)
class Step:
    """A place on a path.

    ``place`` is how the place is called where ``file`` is clear, ``text`` the condition or line as it stands
    there, None if the source is not to be had.  ``outcome`` says what was decided, None if nothing was.
    ``inlined`` is the function that the place was inlined from, if it is known.  Without debug information
    there is neither file nor line.
    """

    file: str | None
    line: int | None
    place: str
    text: str | None
    outcome: str | None = None
    inlined: str | None = None

    def words(self, longest: int | None = None) -> str:
        """``12: if (x < 0) no``; the text is cut to ``longest`` characters."""
        text = self.text
        if text is not None and longest is not None and len(text) > longest:
            text = text[: longest - 1] + "…"
        head = self.place if text is None else f"{self.place.removeprefix('line ')}: {text}"
        origin = f"(in inlined {self.inlined})" if self.inlined else ""
        return " ".join(part for part in (head, self.outcome, origin) if part)


@dataclass(frozen=True)
class Decision:
    """An edge out of a block that has several, as a step.

    Decisions with the same ``at`` are about the same condition.  ``settled`` if the source's condition is
    known to have come out like this; otherwise control may still be in the middle of it.  ``way`` is the
    number of the edge among those that leave the block.
    """

    step: Step
    at: object
    settled: bool
    way: int
    ways: int


class Decisions:
    """The branches of one function."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._graph = places.function.facts.graph
        self._known: dict[int, Decision | None] = {}
        self._judges: dict[object, Judge] = {}

    def of_edge(self, edge: int) -> Decision | None:
        """What taking an edge decides; None if there was nothing to decide."""
        if edge not in self._known:
            self._known[edge] = self._decide(edge)
        return self._known[edge]

    def _decide(self, edge: int) -> Decision | None:
        source = self._graph.edges[edge].src
        ways = self._places.flow_out(source)
        if len(ways) < 2:
            return None
        way = ways.index(edge) + 1
        ref = self._places.end(source)
        call = self._places.function.facts.blocks[source].kind is BranchKind.CALL
        if call and way == 1:
            return None
        if ref is None:
            label = f"block {self._graph.labels[source]}"
            outcome = self._embellished(edge, self._goes_to(edge, None), None)
            return Decision(Step(None, None, label, None, outcome), source, False, way, len(ways))
        statement = None if call else self._places.deciding(ref)
        if call:
            verdict, undecided = f"an exception is thrown, {self._goes_to(edge, ref)}", False
            at: object = (source, "call")
        elif statement is None:
            verdict, undecided, at = None, False, (ref, None)
        else:
            at = (ref.file, ref.copy, statement.first, statement.last)
            judge = self._judges.setdefault(at, Judge(self._places, statement, ref))
            verdict, undecided = judge.verdict(edge), judge.undecided(edge)
        said = verdict or (f"way {way} of {len(ways)}" if undecided else self._goes_to(edge, ref))
        step = self.step_at(ref, statement, self._embellished(edge, said, statement))
        return Decision(step, at, verdict is not None, way, len(ways))

    def step_at(self, ref: LineRef, statement: Statement | None = None, outcome: str | None = None) -> Step:
        """A line, or the condition of a statement in it, as a step."""
        places = self._places
        path = places.path_of(ref)
        line = ref.line if statement is None else statement.first
        text = places.landscape.text(path, line) if statement is None else statement.text
        origin = places.inlined_function(ref)
        place = places.name(LineRef(ref.file, line, ref.copy))
        return Step(path, line, place, text, outcome, None if origin is None else origin.name)

    def _goes_to(self, edge: int, ref: LineRef | None) -> str:
        """Where control goes on; by the number of the way where the place would not tell it."""
        places, target = self._places, self._graph.edges[edge].dst
        ways = places.flow_out(self._graph.edges[edge].src)
        name = places.name_of_block(target, places.begin(target))
        others = {e: self._graph.edges[e].dst for e in ways if e != edge}
        same = any(places.name_of_block(other, places.begin(other)) == name for other in others.values())
        number = f"way {ways.index(edge) + 1} of {len(ways)}"
        if ref is not None and name == places.name(ref):
            return number
        goes = "leaves the function" if target == self._graph.exit else f"goes to {name}"
        return f"{goes}, {number}" if same else goes

    def _embellished(self, edge: int, outcome: str, statement: Statement | None) -> str:
        """With what happens to the loops around."""
        places, source = self._places, self._graph.edges[edge].src
        target = self._graph.edges[edge].dst
        left = [] if source == target else places.left_by.get(edge, [])
        if left:
            header = places.loops.loops[left[-1]].header
            own = statement is not None and statement.loop and outcome == NO and len(left) == 1
            outcome += ", left the loop" if own else f", left the loop at {places.name_of_loop(header)}"
        if source != target and any(self._graph.edges[e].dst == source for e in places.flow_out(source)):
            outcome = f"any number of rounds, then {outcome}"
        return outcome
