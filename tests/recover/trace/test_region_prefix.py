"""The register of a frame in the middle of a region tells which of several ways it has taken."""

from __future__ import annotations

import random

from hypothesis import given, settings

from tests.graphs import seeds
from tests.plan.trace.procedures import flow_out
from tests.plan.trace.programs import by_paths, by_short_paths, random_program
from trodden.plan.trace.activation import Activation, Procedure
from trodden.plan.trace.regions import RegionNumbering
from trodden.recover.trace.ending import way_to
from trodden.recover.trace.region_prefix import region_sum
from trodden.recover.trace.tables import procedure_of


class _Walk(Activation):
    """An activation that remembers where its region has begun, and what it has executed since."""

    def __init__(self, procedure: Procedure) -> None:
        super().__init__(0, procedure, [], [])
        self.numbering = RegionNumbering(procedure.graph, procedure.trace)
        self.enter()
        self.way = [self.block]

    def take(self, edge: int) -> None:
        super().take(edge)
        if edge in self.numbering.dag.removed:
            self.way = [self.block]
        elif edge not in self.procedure.trace.counted:
            self.way.append(self.block)

    @property
    def total(self) -> int | None:
        return region_sum(self.procedure.graph, self.procedure.plan, self.block, self._register)


@settings(max_examples=300)
@given(seed=seeds())
def test_the_way_follows_from_the_register(seed: int) -> None:
    rng = random.Random(seed)
    program = random_program(seed, rng.choice([by_paths, by_short_paths]), 1, 40, rng.choice([0.02, 0.3]))
    (procedure,) = program.procedures
    graph, code = procedure.graph, procedure_of("f", procedure.graph, procedure.plan)
    walk = _Walk(procedure)
    for _ in range(200):
        total = walk.total
        if total is not None:
            assert code.way_by_sum(walk.way[0], total, walk.block) == walk.way
        else:
            # The register is not needed: one way leads there, or none leads to the end of the region.
            _, arrived = way_to(code, walk.way[0], walk.block)
            assert arrived or not _ends(walk, walk.block)
        ways = [edge for edge in flow_out(graph, walk.block) if graph.edges[edge].dst != graph.exit]
        if not ways:
            return
        walk.take(rng.choice(ways))
        walk.arrive()


def _ends(walk: _Walk, block: int) -> bool:
    """Whether a region that has come to a block may end."""
    dag = walk.numbering.dag
    pending, seen = [block], {block}
    while pending:
        for number in dag.outs[pending.pop()]:
            target = dag.arcs[number].dst
            if target == dag.graph.exit:
                return True
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return False
