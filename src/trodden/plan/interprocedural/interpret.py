"""The reference interpreter of programs that count their interprocedural paths (MR98 §5.5, §6.3).

It is told what one thread does and executes the probes on the way.  Where an activation is left in the middle
it records what the stack walk at the end of a process, or of an exception, finds in the frame: the point, the
number of the path up to there, and which kept calls of the path were active.  So nothing is lost, without the
surrogate edges from every vertex to GExit_P and the stack of pending paths that MR98 §9.2.1 has for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.plan.interprocedural.numbering import Numbering
from trodden.plan.interprocedural.program import Site
from trodden.plan.interprocedural.tally import InterproceduralTally, Lost
from trodden.plan.interprocedural_probes import (
    AddSums,
    CountPath,
    EnterProcedure,
    LeaveProcedure,
    Probes,
    ProcedurePlan,
    PublishPath,
    StartInContext,
    StartPiece,
    TakePath,
    TakePiece,
)
from trodden.plan.probes import Count


@dataclass
class _Carried:
    """What is known of a path where it goes from one procedure to another."""

    table: int
    number: int
    completions: int = 1
    open: int = 1


@dataclass
class _Exchange:
    """What a thread keeps between a call and its callee (``target``), and between a return and the caller."""

    target: int | None = None
    call: _Carried | None = None
    answer: _Carried | None = None


class _Activation:
    def __init__(self, number: int, plan: ProcedurePlan, root_block: int) -> None:
        self.number = number
        self.plan = plan
        self.block = root_block
        self.calls_done = 0
        self.calling = False
        self.publishing = False
        self.root = True
        self.on_entry = _Carried(number, 0)
        self.path = _Carried(number, 0)
        self.t1 = self.t2 = 0

    def number_with(self, a: int, b: int) -> int:
        return self.path.number + (self.t1 + a) * self.path.completions + self.t2 + b

    def start(self, path: _Carried, a: int, b: int) -> None:
        self.path, self.t1, self.t2 = path, a, b


class Thread:
    """A thread that calls procedures, which are known by their number, and code without probes."""

    def __init__(self, numbering: Numbering, plans: Sequence[ProcedurePlan]) -> None:
        self._numbering = numbering
        self._plans = plans
        self._exchange = _Exchange()
        self._stack: list[_Activation | None] = []
        self._saved: list[_Exchange | None] = []
        self.tally = InterproceduralTally()

    def enter(self, number: int) -> None:
        """A procedure is entered."""
        root = self._numbering.program[number].graph.root
        activation = _Activation(number, self._plans[number], root)
        self._stack.append(activation)
        self._fire(activation, activation.plan.on_entry)

    def call(self) -> None:
        """The innermost activation is about to make the next call of its block."""
        activation = self._top()
        activation.calling = True
        probes = activation.plan.before_calls.get((activation.block, activation.calls_done), ())
        self._fire(activation, probes)

    def returned(self) -> None:
        """The call has returned."""
        activation = self._top()
        key = activation.block, activation.calls_done
        activation.calling = activation.publishing = False
        activation.calls_done += 1
        self._fire(activation, activation.plan.after_calls.get(key, ()))

    def leave_probes(self, signal: bool) -> None:
        """Code without probes is entered: by a call, or by a signal, which may come at any time.

        The runtime saves for a signal handler what the thread keeps between two procedures.
        """
        self._stack.append(None)
        self._saved.append(self._exchange if signal else None)
        if signal:
            self._exchange = _Exchange()

    def come_back(self) -> None:
        """Code without probes returns."""
        self._stack.pop()
        self._restore()

    def _restore(self) -> None:
        """What a signal handler has been saved from."""
        saved = self._saved.pop()
        if saved is not None:
            self._exchange = saved

    def take(self, edge: int) -> None:
        """The innermost activation takes an edge; if that leads to EXIT it returns."""
        activation = self._top()
        self._fire(activation, activation.plan.on_edges.get(edge, ()))
        self._arrive(activation, edge)

    def jump(self, edge: int) -> None:
        """Control arrives once more behind a call of the innermost activation that returns twice."""
        activation = self._top()
        self._lose(activation)
        self.tally.jumps[activation.number, edge] += 1
        self._fire(activation, activation.plan.on_jumps.get(edge, ()))
        self._arrive(activation, edge)

    def lose(self) -> None:
        """The innermost frame is left in the middle: by an exception, a jump, or because the process ends."""
        activation = self._stack[-1]
        if activation is None:
            self._restore()
        else:
            self._lose(activation)
        self._stack.pop()

    def _top(self) -> _Activation:
        activation = self._stack[-1]
        assert activation is not None
        return activation

    def _arrive(self, activation: _Activation, edge: int) -> None:
        graph = self._numbering.program[activation.number].graph
        activation.block, activation.calls_done = graph.edges[edge].dst, 0
        activation.calling = activation.publishing = False
        if activation.block == graph.exit:
            self._stack.pop()

    def _lose(self, activation: _Activation) -> None:
        """Record the path of a frame; where paths are split at cut calls, none is under way in them."""
        if self._numbering.split and activation.calling and not activation.publishing:
            return
        point = self._numbering.points[activation.number].before_call(activation.block, activation.calls_done)
        number = activation.number_with(*activation.plan.pending[point])
        sites = tuple(self._open_sites(activation))
        lost = Lost(
            activation.path.table, number, activation.number, point, sites, pending=activation.publishing
        )
        self.tally.lost[lost] += 1

    def _open_sites(self, activation: _Activation) -> list[Site]:
        """The kept calls in which the path is, as the frames below say."""
        found: list[Site] = []
        for depth in range(len(self._stack) - 1, 0, -1):
            inner, frame = self._stack[depth], self._stack[depth - 1]
            if inner is None or inner.root or frame is None or len(found) == activation.path.open:
                break
            found.append(Site(frame.number, frame.block, frame.calls_done))
        return found[::-1]

    def _fire(self, activation: _Activation, probes: Probes) -> None:
        for probe in probes:
            match probe:
                case EnterProcedure(a, b):
                    self._enter(activation, a, b)
                case AddSums(a, b):
                    activation.t1 += a
                    activation.t2 += b
                case CountPath(a, b):
                    self.tally.paths[activation.path.table, activation.number_with(a, b)] += 1
                case StartInContext(a, b):
                    activation.start(activation.on_entry, a, b)
                case StartPiece(number, completions):
                    activation.start(_Carried(activation.number, number, completions, 0), 0, 0)
                case PublishPath(callee, a, b, c, d):
                    path = activation.path
                    activation.publishing = True
                    self._exchange.target = callee
                    self._exchange.call = _Carried(
                        path.table, activation.number_with(a, b), c * path.completions + d, path.open + 1
                    )
                case TakePath(a, b):
                    self._take(activation, a, b)
                case TakePiece(a, b, value, completions):
                    self._take(activation, a, b)
                    if activation.path.open < 0:
                        path = activation.path
                        activation.path = _Carried(path.table, path.number + value, completions, 0)
                case LeaveProcedure(a, b, at_end):
                    self._leave(activation, activation.number_with(a, b), at_end)
                case Count(slot):
                    self.tally.loops[activation.number, slot] += 1

    def _enter(self, activation: _Activation, a: int, b: int) -> None:
        if self._exchange.target == activation.number and self._exchange.call is not None:
            activation.on_entry, activation.root = self._exchange.call, False
            self._exchange.target = self._exchange.call = None
        activation.start(activation.on_entry, a, b)

    def _take(self, activation: _Activation, a: int, b: int) -> None:
        """The path comes back from a callee; its calls that are open are one fewer."""
        answer = self._exchange.answer
        if answer is None:
            name = self._numbering.program[activation.number].graph.name
            raise ValueError(f"{name}: a kept call has returned, but its callee was not entered")
        self._exchange.answer = None
        completions = activation.path.completions
        activation.start(_Carried(answer.table, answer.number, completions, answer.open - 1), a, b)

    def _leave(self, activation: _Activation, number: int, at_end: int) -> None:
        path = activation.path
        if not activation.root:
            self._exchange.answer = _Carried(path.table, number, path.completions, path.open)
        else:
            self.tally.paths[path.table, number + (at_end if path.open == 0 else 0)] += 1
