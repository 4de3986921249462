"""What comes before call sites are chosen: procedures of a bearable size, and the weights of the sites."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from trodden.plan.interprocedural.program import Procedure, Program, Site
from trodden.plan.paths.plan import choose_paths


def cut_procedures(program: Program, weights: Sequence[Sequence[float]], limit: int) -> list[Procedure]:
    """The program with edges cut where a procedure alone has more than ``limit`` paths (BL96 §5.3)."""
    found = []
    for procedure, own in zip(program, weights, strict=True):
        paths, _ = choose_paths(
            procedure.graph, own, limit=limit, resume_edges=sorted(procedure.resume_edges)
        )
        found.append(replace(procedure, cuts=procedure.cuts | frozenset(paths.cuts)))
    return found


def site_weights(program: Program, weights: Sequence[Sequence[float]]) -> dict[Site, float]:
    """How often each site is expected to be executed: as often as its block is entered."""
    found = {}
    for number, procedure in enumerate(program):
        for block, callees in procedure.calls.items():
            entered = math.fsum(weights[number][edge] for edge in procedure.graph.in_edges[block])
            for index in range(len(callees)):
                found[Site(number, block, index)] = entered
    return found
