"""Programs as text: graphs that follow each other, with their calls in sections.

``[program NAME]``      a program begins with this graph; those without one belong to the program before
``[calls]``             lines ``B X Y``: block B calls graph X, then Y; ``?`` is anything
``[pads]``              edges to landing pads, for exceptions of the last call of their block
``[resumes]``, ``[cuts]``  edges behind calls that return twice; edges that are cut
``[not-entered]``       the procedure is only called by calls that are certain
``[local]``             it has internal linkage

What is expected stands with the first graph; a name of another one may come first in a line.

``[all-paths MODE]``, with ``split`` where paths are split at cut calls: all paths and their numbers, in the
                        words of :func:`text_of`
``[psi MODE]``          lines ``N A B``: the function of a block, of ``entry`` or of ``inside``
``[rho MODE]``          lines ``N M A B``: that of the edge from one to the other; of all others it is 0
``[unbalanced]``        lines ``G N``: numUnbalRLPaths of a graph's exit
``[at-return]``         lines ``B N``: what a piece adds that returns to the call in block B
``[on-entry MODE]``, ``[on-exit MODE]``  lines ``B N ...``: the numbers with which the callee of the call in
                        block B is entered and left
``[probes MODE]``       the probes of all procedures, given the weights of nesting, in the words of
                        :mod:`tests.plan.interprocedural.probe_text`
``[counted MODE]``      lines ``N C``: the path with number N was executed C times
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.cases import Case, cases
from trodden.plan.interprocedural.numbering import Numbering
from trodden.plan.interprocedural.paths import How, InterproceduralPath, Step
from trodden.plan.interprocedural.points import SURROGATES, Kind
from trodden.plan.interprocedural.program import Procedure


@dataclass(frozen=True)
class ProgramCase:
    """A program of a case file."""

    name: str
    cases: tuple[Case, ...]
    program: tuple[Procedure, ...]

    def __str__(self) -> str:
        return self.name

    def rows(self, name: str) -> list[list[str]]:
        """The words of a section of the first graph."""
        return [[word.text for word in line.words] for line in self.cases[0].section(name).lines]

    def rows_of(self, name: str, argument: str) -> list[list[str]]:
        """The words of the section with that argument."""
        (section,) = (each for each in self.cases[0].sections(name) if each.arguments == (argument,))
        return [[word.text for word in line.words] for line in section.lines]

    def of(self, graph: str) -> int:
        return next(number for number, case in enumerate(self.cases) if case.graph.name == graph)


def program_cases(file: str) -> list[ProgramCase]:
    groups: list[list[Case]] = []
    for case in cases(file):
        if case.has("program"):
            groups.append([])
        groups[-1].append(case)
    return [_program(group) for group in groups]


def _program(group: list[Case]) -> ProgramCase:
    numbers: dict[str, int | None] = {case.graph.name: number for number, case in enumerate(group)}
    numbers["?"] = None
    procedures = []
    for case in group:
        calls = {}
        for section in case.sections("calls"):
            for line in section.lines:
                block, *callees = (word.text for word in line.words)
                calls[case.block(block)] = tuple(numbers[name] for name in callees)
        marked = {
            name: frozenset(edge for section in case.sections(name) for edge in case.edges(section))
            for name in ("pads", "resumes", "cuts")
        }
        procedures.append(
            Procedure(
                case.graph,
                calls,
                marked["pads"],
                marked["resumes"],
                marked["cuts"],
                entered=not case.has("not-entered"),
                local=case.has("local"),
            )
        )
    return ProgramCase(group[0].section("program").arguments[0], tuple(group), tuple(procedures))


def text_of(numbering: Numbering, path: InterproceduralPath) -> str:
    """A path in words: its blocks, ``(`` and ``)`` for calls and returns, ``_`` for a call that is passed.

    ``|`` is a surrogate edge, so the active suffix begins behind the last one; behind a ``!`` an exception
    arrives.
    """
    return " ".join(" ".join(_words(numbering, step)) for step in path.steps)


def _words(numbering: Numbering, step: Step) -> list[str]:
    points = numbering.points[step.procedure]
    arc = points.arcs[step.arc]
    if step.how is not How.ALONG:
        return ["(" if step.how is How.ENTER else ")"]
    if arc.kind is Kind.SUMMARY:
        return ["_"]
    mark = ["|"] if arc.kind in SURROGATES else []
    if arc.kind in (Kind.PAD, Kind.PAD_START, Kind.PAD_END):
        mark.append("!")
    if arc.dst >= points.exit:
        return [*mark, "end" if arc.dst == points.end else "exit"]
    return [*mark, points.dag.graph.labels[points.block[arc.dst]]]
