"""Dense numbers for interprocedural paths: ψ, ρ and what follows from them (MR98 §5.1 to §5.3, §6.1).

ψ of a node takes the number of paths from the exit of its procedure, which depends on who has called it, to
the number of paths from the node.  ρ of an arc takes it to what the arc adds to the number of a path.  Both
are linear (:mod:`trodden.plan.interprocedural.linear`), so one pass over the program determines them all.

*Tables.*  MR98 numbers all paths of a program together, in the order of the edges from Entry_global
(equations 25 to 27).  Of most programs these numbers would have hundreds of bits.  Here each procedure in
which paths start has numbers of its own: those of its ``table``.  ``bases`` says where a table begins if all
of them are put behind each other, which is the numbering of the paper.

Successors are numbered in the order of the graph.  Sorting them by their number of paths, as is done for the
paths of a single procedure, is not possible: which has most depends on the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

from trodden.plan.interprocedural.call_graph import kept_call_graph
from trodden.plan.interprocedural.linear import IDENTITY, ONE, ZERO, Linear
from trodden.plan.interprocedural.points import Kind, Points, lay_out
from trodden.plan.interprocedural.program import Procedure, Program, Site


def assign(
    points: Points, through: Mapping[int, Linear], most: int | None = None
) -> tuple[list[Linear], list[Linear]]:
    """ψ of the nodes and ρ of the arcs of a procedure (equations 19 to 24).

    ``through`` is ψ of the callee's entry for each kept call, by the point before it.
    """
    psi = [ONE] * (len(points.block) + 3)
    rho = [ZERO] * len(points.arcs)
    psi[points.exit] = IDENTITY
    for node in reversed(points.order):
        if node in (points.exit, points.end) or not points.outs[node]:
            continue
        total = ZERO
        for arc in points.outs[node]:
            rho[arc] = total
            function = psi[points.arcs[arc].dst]
            if points.arcs[arc].kind is Kind.CALL:
                function = through[node].after(function)
            total = total.plus(function)
        psi[node] = total
        if most is not None and total.b > most:
            raise too_many(points.procedure, most)
    return psi, rho


def too_many(procedure: Procedure, most: int) -> ValueError:
    """The error for a procedure that has more paths than it may have."""
    return ValueError(f"{procedure.graph.name}: there are more than {most} paths; cut some of the calls")


class Mode(Enum):
    """What is known of a path that starts behind a back edge or the like.

    CONTEXT: how control came to its procedure (MR98 §5).  PIECEWISE: nothing; but it goes on when its
    procedure returns to a kept call (§6).
    """

    CONTEXT = "context"
    PIECEWISE = "piecewise"


class Table(NamedTuple):
    """The numbers of the paths that start in a procedure: first ``whole`` ones, then the others."""

    whole: int
    inside: int

    @property
    def size(self) -> int:
        """How many there are."""
        return self.whole + self.inside


class Return(NamedTuple):
    """A successor of the exit of a procedure, where a piece that started inside of it may go on.

    The point behind the call of a procedure, with what the edge adds; no point stands for Exit_global.
    """

    procedure: int
    point: int | None
    value: int


class Numbering:
    """The numbers of the interprocedural paths of a program.

    ``psi[p][n]`` is the function of a node, ``rho[p][a]`` that of an arc.  ``order`` has callees before
    callers, ``callee[p][n]`` the procedure of the kept call behind a point.  ``roots`` are the procedures
    that are entered by a cut call or from outside.  For pieces, ``unbalanced[p]`` is
    numUnbalRLPaths[Exit_P], and ``returns[p]`` are the successors of Exit_P (equations 33 to 35).

    :class:`ValueError` if a table has more than ``most`` numbers, before any number grows much larger.
    """

    def __init__(
        self,
        program: Program,
        kept: Collection[Site],
        mode: Mode,
        *,
        split: bool = False,
        most: int | None = None,
    ) -> None:
        """Number the paths that lead through the ``kept`` call sites; see :func:`points.lay_out`."""
        self.program, self.mode, self.split = program, mode, split
        self.kept = frozenset(kept)
        self.order, callees = kept_call_graph(program, kept)
        of_procedure = [{(site.block, site.call) for site, _ in sites} for sites in callees]
        piecewise = mode is Mode.PIECEWISE
        self.points = [
            lay_out(procedure, of_procedure[number], piecewise, split)
            for number, procedure in enumerate(program)
        ]
        self.callee: list[dict[int, int]] = [
            {self.points[number].before_call(site.block, site.call): callee for site, callee in sites}
            for number, sites in enumerate(callees)
        ]
        self.roots = _roots(program, self.kept)
        self.psi: list[list[Linear]] = [[] for _ in program]
        self.rho: list[list[Linear]] = [[] for _ in program]
        for number in self.order:
            self._assign(number, most)
        self.unbalanced = [0] * len(program)
        self.returns: list[list[Return]] = [[] for _ in program]
        self._value_at_return: list[dict[int, int]] = [{} for _ in program]
        if piecewise:
            self._count_returns(most)
        self.tables = [self._table(number) for number in range(len(program))]
        for number, table in enumerate(self.tables):
            self._check(number, table.size, most)

    @property
    def bases(self) -> list[int]:
        """Where each table begins in the numbering of the whole program; its size comes last."""
        return [0, *accumulate(table.size for table in self.tables)]

    def behind_call(self, procedure: int, point: int) -> Linear:
        """ψ of the return vertex of a kept call: what its callee has for its exit."""
        return self.psi[procedure][point + 1]

    def value_at_return(self, procedure: int, point: int) -> int:
        """What a piece that started inside of the callee of a kept call adds when it returns (35)."""
        return self._value_at_return[procedure][point]

    def value_at_end(self, procedure: int) -> int:
        """What such a piece adds when a root returns to where no path goes on."""
        return next((each.value for each in self.returns[procedure] if each.point is None), 0)

    def call_arc(self, procedure: int, point: int) -> int:
        """The CALL arc behind a point, which comes before those of landing pads."""
        return self.points[procedure].outs[point][0]

    def site_of(self, procedure: int, point: int) -> Site:
        """The call site that has the point before it."""
        points = self.points[procedure]
        block = points.block[point]
        return Site(procedure, block, point - points.first[block])

    def _assign(self, number: int, most: int | None) -> None:
        """ψ and ρ of one procedure, whose callees are done."""
        points = self.points[number]
        through = {
            point: self.psi[callee][self.points[callee].entry]
            for point, callee in self.callee[number].items()
        }
        self.psi[number], self.rho[number] = assign(points, through, most)

    def _count_returns(self, most: int | None) -> None:
        """Equations 33 to 35, callers first."""
        ways: list[list[Return]] = [[] for _ in self.program]
        for number in reversed(self.order):
            returns = sorted(ways[number])
            if number in self.roots:
                returns.append(Return(number, None, 0))
            total = 0
            for way in returns:
                self.returns[number].append(way._replace(value=total))
                if way.point is not None:
                    self._value_at_return[way.procedure][way.point - 1] = total
                total += 1 if way.point is None else way.value
            self.unbalanced[number] = total
            self._check(number, total, most)
            for point, callee in self.callee[number].items():
                ways[callee].append(Return(number, point + 1, self.behind_call(number, point).of(total)))

    def _table(self, number: int) -> Table:
        points, psi = self.points[number], self.psi[number]
        whole = psi[points.entry].of(1) if number in self.roots else 0
        if not points.outs[points.inside]:
            return Table(whole, 0)
        return Table(whole, psi[points.inside].of(self.unbalanced[number]))

    def _check(self, number: int, paths: int, most: int | None) -> None:
        if most is not None and paths > most:
            raise too_many(self.program[number], most)


def _roots(program: Program, kept: Collection[Site]) -> frozenset[int]:
    found = {number for number, procedure in enumerate(program) if procedure.entered}
    for number, procedure in enumerate(program):
        for block, callees in procedure.calls.items():
            found.update(
                callee
                for index, callee in enumerate(callees)
                if callee is not None and Site(number, block, index) not in kept
            )
    return frozenset(found)
