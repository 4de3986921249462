"""Functions with 100,000 blocks are traced like any other."""

from __future__ import annotations

import pytest

from tests.graphs import labels
from tests.plan.trace.procedures import Calls
from tests.plan.trace.programs import ENCODINGS
from trodden.graph.cfg import Graph, build
from trodden.plan.trace.regions import RegionNumbering
from trodden.plan.trace.separators import uncounted_cycles, unseparated

SIZE = 100_000


def ladder() -> Graph:
    """Branches in a row, in a loop; every tenth block ends with a call."""
    flow = [(block, block + 1) for block in range(SIZE - 1)]
    flow += [(block, block + 2) for block in range(SIZE - 2) if block % 10 != 5 and block % 3]
    flow += [(block, block - 7) for block in range(7, SIZE) if block % 100 == 3]
    return build("ladder", labels(SIZE), [*flow, (SIZE - 1, 0), (SIZE - 1, SIZE)])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_hundred_thousand_blocks(encoding: str) -> None:
    graph = ladder()
    found = Calls(dict.fromkeys(range(5, SIZE, 10)))
    plan = ENCODINGS[encoding](graph, [1.0] * len(graph.edges), found)
    assert unseparated(graph, plan) == []
    if encoding != "targets":
        assert uncounted_cycles(graph, plan) == []
    assert plan.trace is not None
    if plan.trace.encoding == "paths":
        numbering = RegionNumbering(graph, plan.trace)
        assert max(numbering.paths(start) for start in numbering.starts) <= 224


def test_a_wide_switch_in_a_large_graph() -> None:
    """Every case is a start of its own, and all of them meet in one long chain."""
    cases = 30_000
    flow = [(0, case) for case in range(1, cases + 1)] + [(case, cases + 1) for case in range(1, cases + 1)]
    flow += [(block, block + 1) for block in range(cases + 1, 2 * cases)]
    graph = build("switch", labels(2 * cases), flow)
    for encoding in ENCODINGS.values():
        plan = encoding(graph, [1.0] * len(graph.edges), Calls(dict.fromkeys(range(1, cases, 2))))
        assert unseparated(graph, plan) == []
