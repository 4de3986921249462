"""Graphs with their expected answers, as data: the ``*.cfg`` files here, in the text form of graphs.

Sections that a case may have (an edge list is lines like ``A -> B, C``):

``[loop H members|exits]``      the blocks, or the edges out, of the loop with entry H ``[dominators]`` lines
``B A``: A is the closest dominator of B ``[weights]``                   edges with the weights that nesting
gives them ``[frequencies WITHIN]``        edges with the frequencies that follow if the weights of the graph
are odds ``[block-frequencies WITHIN]``  blocks with theirs ``[counters SCHEME]``           the edges, or
blocks, that a scheme counts, given the weights of the graph ``[cost SCHEME]``               what these
counters cost ``[walks]``                     one walk a line, as blocks; cut short if it does not end in EXIT
``[blocks]``, ``[edges]``       the counts that must come out, whatever counters were used ``[given]`` edges
with counters, chosen by hand; the counts must follow from them too ``[open]``                      the edges
whose counts do not follow from ``[given]`` ``[hoisted]``                   where counters stand after
``[given]`` is hoisted ``[pinned]``                    blocks that hoisting must not cross ``[paths]``,
``[paths context]``  all paths: number, how it starts, blocks, how it ends; ``|`` ends a context ``[values]``
the edges of the acyclic graph with the values that number its paths ``[increments]``                the
chords among them with their increments, given the weights of the graph ``[calls]``                     lines
``B X``: block B ends with a call of graph X, ``?`` of anything ``[witnesses]``                 lines ``P A
t``: the edge P -> A writes the witness t ``[witness-sets]``              lines ``P A t u EOF``: the witness
set of predicate P to A ``[solved]``                    ``yes`` if these witnesses solve the tracing problem
``[executions]``                lines ``P A EXIT = t EOF``: the blocks of an execution and its trace
``[placed]``, ``[tree-first]``  the edges that get a witness, given the weights: blockers first, or last
``[sufficient]``                witnesses chosen by hand ``[witness-cost WHICH]``        what ``placed``,
``tree-first``, ``sufficient``, the ``tree`` alone, the ``optimum`` or the ``optimum-unblocked`` (for one
procedure) costs ``[different-values]``          how many values the witnesses of ``[placed]`` need
``[turns]``                     lines ``A B A = 2 3``: bits that a walk writes, by witnesses and by bits
``[set]``, ``[bump]``           all edges that set the register, or bump what it names, each with the number
``[largest-degree]``            of the overlaps of the loop ``[overlapping]``               lines ``k N``: N
overlapping paths have exactly the degree k ``[numbers]``                   lines ``k N``: a plan of degree k
has N counters ``[edges K]``, ``[stops K]``    the edges of the overlapping graph as ``DI A B`` or ``PI A B``,
and where it stops ``[probes K]``                  the probes of a plan of degree K, on entry and on edges,
given the weights of nesting ``[runs]``                      lines ``N A B EXIT``: walks that are taken N
times ``[runs same-counts]``          other walks that a plan of degree 1 counts in the same way
``[loop-paths]``                lines ``1 A B``: what the loop paths are called ``[interesting]`` lines ``1 2
N``: how often 1!2 was executed in these runs ``[bounds K]``                  lines ``1 2 L U``: the bounds
that a plan of degree K leads to ``[flow]``                      lines ``k D R P``: definite, real and
potential flow ``[prefixes]``                  lines ``1 N A B``: the prefixes of a call, and how often they
were executed ``[whole-paths]``               the same for paths of a procedure ``[entered]``, ``[returned]``
lines ``k N``: N overlapping paths of type I, or II, have exactly the degree k ``[interesting-calls]``
how many interesting paths there are of each type ``[calls-of-pairs]`` lines ``1 2 N``: how often prefix 1 led
to path 2 of the callee ``[call-bounds K]``             their bounds for degree K, in one line if they are all
the same (-1: no overlaps)

Graphs that make up a program, with the interprocedural paths of all of them together, have sections that
``tests/plan/interprocedural/cases.py`` lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.cfg_text import EXIT, GraphText, Section, name_edges, parse_graphs

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One graph of a case file."""

    text: GraphText

    @property
    def graph(self) -> Graph:
        return self.text.graph

    def __str__(self) -> str:
        return self.graph.name

    def sections(self, name: str) -> list[Section]:
        return [section for section in self.text.sections if section.name == name]

    def section(self, name: str) -> Section:
        (section,) = self.sections(name)
        return section

    def has(self, name: str) -> bool:
        return bool(self.sections(name))

    def edges(self, section: Section) -> list[int]:
        return [index for index, _ in name_edges(self.graph, section.lines)]

    def numbered_edges(self, section: Section) -> dict[int, float]:
        named = name_edges(self.graph, section.lines)
        return {index: number for index, number in named if number is not None}

    def block(self, name: str) -> int:
        return self.graph.exit if name == EXIT else self.graph.labels.index(name)

    def blocks(self, section: Section) -> list[int]:
        return [self.block(part[0].text) for line in section.lines for part in line.parts(line.words)]

    def numbered_blocks(self, section: Section) -> dict[int, int]:
        parts = [part for line in section.lines for part in line.parts(line.words)]
        return {self.block(block.text): int(number.text) for block, number in parts}

    def walks(self) -> list[list[int]]:
        walks = []
        for line in self.section("walks").lines:
            stops = [self.block(word.text) for word in line.words]
            walks.append([self._edge(*step) for step in pairwise(stops)])
        return walks

    def _edge(self, source: int, target: int) -> int:
        return next(
            index
            for index in self.graph.out_edges[source]
            if self.graph.edges[index].dst == target and self.graph.edges[index].kind is EdgeKind.FLOW
        )


def cases(*files: str, having: str | None = None) -> Sequence[Case]:
    """The cases of some files (all, if none is named) that have a certain section."""
    paths = [HERE / file for file in files] or sorted(HERE.glob("*.cfg"))
    found = [Case(text) for path in paths for text in parse_graphs(path.read_text("utf-8"), path.name)]
    return [case for case in found if having is None or case.has(having)]
