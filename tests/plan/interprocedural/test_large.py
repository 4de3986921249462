"""Large programs: nothing recurses, over blocks or over calls, and numbers may have thousands of bits."""

from __future__ import annotations

import random

import pytest

from tests.graphs import labels
from tests.plan.interprocedural.programs import Call, Enter, Event, Lose, Returned, Take, replay
from tests.plan.interprocedural.test_examples import PROGRAMS
from trodden.graph.cfg import Graph, build
from trodden.plan.interprocedural.call_graph import most_enters, sites_to_keep
from trodden.plan.interprocedural.choosing import REGISTER, choose_sites
from trodden.plan.interprocedural.interpret import Thread
from trodden.plan.interprocedural.numbering import Mode, Numbering
from trodden.plan.interprocedural.paths import number_of, path_with
from trodden.plan.interprocedural.plan import interprocedural_plans
from trodden.plan.interprocedural.preparing import cut_procedures, site_weights
from trodden.plan.interprocedural.program import Procedure, Site
from trodden.recover.interprocedural import recover_interprocedural

SIZE = 100_000


def ladder() -> Graph:
    """Branches in a row, in a loop."""
    flow = [(block, block + 1) for block in range(SIZE - 1)]
    flow += [(block, block + 2) for block in range(SIZE - 2) if block % 10 != 5 and block % 3]
    flow += [(block, block - 7) for block in range(7, SIZE) if block % 100 == 3]
    return build("ladder", labels(SIZE), [*flow, (SIZE - 1, 0), (SIZE - 1, SIZE)])


def diamond(name: str) -> Graph:
    """Two ways to a block with a call, or without one, and on."""
    return build(name, labels(4), [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])


def chain(length: int) -> list[Procedure]:
    """Procedures of which each calls the next."""
    return [
        Procedure(
            diamond(f"p{number}"), {3: (number + 1,)} if number + 1 < length else {}, entered=not number
        )
        for number in range(length)
    ]


@pytest.mark.parametrize("mode", list(Mode))
def test_a_hundred_thousand_blocks(mode: Mode) -> None:
    graph = ladder()
    callees = {block: (1 + block % 2,) for block in range(5, SIZE, 10)}
    leaf = Procedure(diamond("leaf"), {}, entered=False)
    program = [Procedure(graph, callees), leaf, leaf]
    weights = [[1.0] * len(each.graph.edges) for each in program]
    with pytest.raises(ValueError, match="ladder: there are more than"):
        Numbering(program, (), mode, most=REGISTER)
    cut = cut_procedures(program, weights, 60_000)
    kept = choose_sites(cut, site_weights(cut, weights), mode, 2**20)
    assert kept
    numbering = Numbering(cut, kept, mode, most=REGISTER)
    assert numbering.bases[-1] <= 3 * 2**20
    plans = interprocedural_plans(numbering, weights)
    assert len(plans[0].on_edges) >= len(cut[0].cuts)
    rng = random.Random(7)
    for _ in range(20):
        number = rng.randrange(numbering.tables[0].size)
        path = path_with(numbering, 0, number)
        assert number_of(numbering, path) == number


@pytest.mark.parametrize("mode", list(Mode))
def test_thousands_of_procedures_that_call_each_other(mode: Mode) -> None:
    length = 3000
    program = chain(length)
    kept = sites_to_keep(program, "program")
    assert len(kept) == length - 1
    assert most_enters(program, kept, 0) == [1] * length
    numbering = Numbering(program, kept, mode)
    assert numbering.tables[0].size == 2**length
    rng = random.Random(3)
    number = rng.randrange(2**length)
    path = path_with(numbering, 0, number)
    assert len(path.steps) == 6 * length - 2
    assert number_of(numbering, path) == number
    with pytest.raises(ValueError, match="there are more than"):
        interprocedural_plans(numbering, [[1.0] * len(each.graph.edges) for each in program])


def walk(program: list[Procedure], depth: int, rng: random.Random) -> list[Event]:
    """The whole chain, entered and left, at random in each diamond."""
    events: list[Event] = []
    for number in range(depth):
        first = rng.randrange(2)
        events += [Enter(number), Take(first), Take(2 + first)]
        if program[number].calls:
            events.append(Call())
    for number in reversed(range(depth)):
        events += [Take(4)] if number == depth - 1 else [Returned(), Take(4)]
    return events


@pytest.mark.parametrize("mode", list(Mode))
def test_chosen_sites_of_thousands_of_procedures(mode: Mode) -> None:
    length = 3000
    program = chain(length)
    weights = [[1.0] * len(each.graph.edges) for each in program]
    kept = choose_sites(program, site_weights(program, weights), mode, 2**20)
    assert len(kept) > length // 2
    numbering = Numbering(program, kept, mode, most=2**20)
    thread = Thread(numbering, interprocedural_plans(numbering, weights))
    replay(walk(program, length, random.Random(5)), thread)
    assert sum(thread.tally.paths.values()) == length - len(kept)
    flow = recover_interprocedural(numbering, thread.tally, {})
    assert flow.violations == []
    assert flow.entries == [1] * length
    assert all(sum(edges) == 3 for edges in flow.edges)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_hundred_thousand_frames(mode: Mode) -> None:
    """A recursion that is left by an exception; its last frame has come to nothing yet."""
    case = PROGRAMS["recursion"]
    kept = sites_to_keep(case.program, "program")
    numbering = Numbering(case.program, kept, mode)
    weights = [[1.0] * len(each.graph.edges) for each in case.program]
    thread = Thread(numbering, interprocedural_plans(numbering, weights))
    deep: list[Event] = [Call(), Enter(1), Take(0)]
    replay([Enter(0), *deep * SIZE, *[Lose()] * (SIZE + 1)], thread)
    found = {(lost.procedure, lost.sites, lost.pending): n for lost, n in thread.tally.lost.items()}
    call = Site(0, 0, 0)
    assert found == {(0, (), True): 1, (1, (call,), False): 1, (1, (), False): SIZE - 1}
    flow = recover_interprocedural(numbering, thread.tally, {})
    assert flow.violations == []
    assert flow.entries == [1, SIZE]
    assert flow.edges[1][0] == SIZE
