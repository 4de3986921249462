"""What interprocedural paths need to know of a program: procedures and their calls (MR98 §2.2).

MR98 has a call vertex and a return vertex for each call.  Here a block may contain several calls; the paths
that a call splits a block into are told apart by *points* (:mod:`trodden.plan.interprocedural.points`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import Graph
from trodden.graph.traverse import reachable


class Site(NamedTuple):
    """A call site: a call of a block of a procedure, by its index among the calls of the block."""

    procedure: int
    block: int
    call: int


@dataclass(frozen=True)
class Procedure:
    """A procedure and how control may enter and leave it.

    ``calls[b]`` are the calls of a block in order, each with the procedure that it certainly calls, ``None``
    where that is not known.  Calls that execute no code with probes may be left out.  ``pads`` are edges on
    which control arrives only if the last call of their block throws an exception.  ``resume_edges`` are
    those behind calls that return twice, ``cuts`` further edges on which paths end.  In the blocks of
    ``tails`` the callee of the last call takes the place of the procedure.  ``entered``: it may also be
    called by code without probes, or through a pointer.  ``local`` and ``file`` are its linkage and where it
    is defined.
    """

    graph: Graph
    calls: Mapping[int, Sequence[int | None]] = field(default_factory=dict)
    pads: frozenset[int] = frozenset()
    resume_edges: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    tails: frozenset[int] = frozenset()
    entered: bool = True
    local: bool = False
    file: str = ""

    def has_self_loop(self, block: int) -> bool:
        """Whether an edge leads from a block to itself."""
        return any(self.graph.edges[edge].dst == block for edge in self.graph.out_edges[block])


Program = Sequence[Procedure]


def reached_sites(program: Program) -> Iterator[Site]:
    """The call sites in blocks that can be reached."""
    for number, procedure in enumerate(program):
        reached = reachable(procedure.graph)
        for block in sorted(procedure.calls):
            if block in reached:
                for index in range(len(procedure.calls[block])):
                    yield Site(number, block, index)


def direct_sites(program: Program) -> Iterator[tuple[Site, int]]:
    """Those of which the callee is known, with it."""
    for site in reached_sites(program):
        callee = callee_of(program, site)
        if callee is not None:
            yield site, callee


def callee_of(program: Program, site: Site) -> int | None:
    """Which procedure a site certainly calls."""
    return program[site.procedure].calls[site.block][site.call]


def obstacle(program: Program, site: Site) -> str | None:
    """Why no path can lead through a call, apart from recursion; ``None`` if one can."""
    caller, callee = program[site.procedure], callee_of(program, site)
    if callee is None:
        return "its callee is not known"
    if caller.has_self_loop(site.block):
        return "its block is a loop by itself"
    if site.block in caller.tails and site.call == len(caller.calls[site.block]) - 1:
        return "it is a tail call"
    if program[callee].tails:
        return "its callee ends with a tail call"
    return None
