"""All interprocedural paths of a small program, by the grammars of MR98 §2.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import How, InterproceduralPath, Step
from trodden.plan.interprocedural.points import Kind


class Edge(NamedTuple):
    """An edge of the supergraph; ``label`` is 0, or the parenthesis of a call, closed if negative."""

    target: tuple[int, int] | None
    label: int
    step: Step | None


class Supergraph:
    """G*_fin as MR98 draws it, with labels on its edges; Exit_global is ``None``."""

    def __init__(self, numbering: Numbering) -> None:
        self.piecewise = numbering.mode is Mode.PIECEWISE
        self.edges: dict[tuple[int, int], list[Edge]] = {}
        self.starts: list[tuple[int, bool, Edge]] = []
        programs = range(len(numbering.program))
        index = len(programs)
        for number, points in enumerate(numbering.points):
            exit_node = number, points.exit
            if number in numbering.roots:
                self.starts.append((number, True, Edge((number, points.entry), number + 1, None)))
                self.edges.setdefault(exit_node, []).append(Edge(None, -number - 1, None))
            if points.outs[points.inside]:
                self.starts.append((number, False, Edge((number, points.inside), 0, None)))
            for arc_number, arc in enumerate(points.arcs):
                source = number, arc.src
                if arc.kind is not Kind.CALL:
                    step = Step(How.ALONG, number, arc_number)
                    self.edges.setdefault(source, []).append(Edge((number, arc.dst), 0, step))
                    continue
                index += 1
                callee = numbering.callee[number][arc.src]
                inner = numbering.points[callee]
                into = Edge((callee, inner.entry), index, Step(How.ENTER, number, arc_number))
                back = Edge((number, arc.dst), -index, Step(How.RETURN, number, arc_number))
                self.edges.setdefault(source, []).append(into)
                self.edges.setdefault((callee, inner.exit), []).append(back)
        for number, points in enumerate(numbering.points):
            for node in [*points.order, points.exit]:
                if not points.outs[node] and node != points.exit:
                    self.edges[number, node] = [Edge(None, 0, None)]

    def paths(self) -> Iterator[InterproceduralPath]:
        """All unbalanced-left paths, or for pieces all unbalanced-right-left ones."""
        for procedure, whole, start in self.starts:
            assert start.target is not None
            stack: tuple[int, ...] = (start.label,) if start.label else ()
            work: list[tuple[tuple[int, int], tuple[int, ...], tuple[Step, ...]]] = [
                (start.target, stack, ())
            ]
            while work:
                node, stack, steps = work.pop()
                for edge in self.edges.get(node, ()):
                    opened = self.after(stack, edge.label)
                    if opened is None:
                        continue
                    further = steps if edge.step is None else (*steps, edge.step)
                    if edge.target is None:
                        yield InterproceduralPath(procedure, whole, further)
                    else:
                        work.append((edge.target, opened, further))

    def after(self, stack: tuple[int, ...], label: int) -> tuple[int, ...] | None:
        """The open parentheses behind an edge, ``None`` if it cannot follow."""
        if label == 0:
            return stack
        if label > 0:
            return (*stack, label)
        if stack:
            return stack[:-1] if stack[-1] == -label else None
        return () if self.piecewise else None
