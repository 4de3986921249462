"""Plans of traces are read as they were written, and damaged ones are refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, seeds
from tests.plan.trace.procedures import random_calls
from trodden.graph.cfg import Graph, build
from trodden.plan.probes import EmitTripCount, FlushBits, Plan
from trodden.plan.trace.bits import bit_plan
from trodden.plan.trace.paths import region_plan
from trodden.plan.trace.witnesses import witness_plan
from trodden.program.checked import ColumnError
from trodden.program.plan_codec import plan_from_columns, plan_to_columns

PLANS = {"paths": region_plan, "witnesses": witness_plan, "bits": bit_plan}
LOOP = build("loop", ["b0", "b1", "b2", "b3", "EXIT"], [(0, 1), (1, 1), (1, 2), (1, 3), (2, 1), (3, 4)])


def plan_of(encoding: str, graph: Graph, seed: int, checked: bool = False) -> Plan:
    found = random_calls(graph, seed)
    return PLANS[encoding](
        graph,
        costs_for(graph, seed),
        found.calls,
        counted=found.counted,
        resumes=found.resumes,
        landings=found.landings,
        tails=found.tails,
        entered=found.entered,
        checked=checked,
    )


def written(plan: Plan) -> Any:
    return json.loads(json.dumps(plan_to_columns(plan)))


@pytest.mark.parametrize("encoding", PLANS)
@given(graph=graphs(), seed=seeds(), checked=st.booleans())
def test_plans_are_read_as_they_were_written(encoding: str, graph: Graph, seed: int, checked: bool) -> None:
    plan = plan_of(encoding, graph, seed, checked)
    assert plan_from_columns(written(plan), graph) == plan


def test_values_of_witnesses_are_kept() -> None:
    plan = witness_plan(LOOP, [1.0] * len(LOOP.edges), {}, reuse=True)
    assert plan.trace is not None
    assert plan.trace.witness_values
    assert plan_from_columns(written(plan), LOOP) == plan


def test_every_kind_of_probe_is_kept() -> None:
    plan = bit_plan(LOOP, [1.0] * len(LOOP.edges), {2: 7}, counted=[1])
    kinds = {
        type(probe) for probes in (*plan.on_edges.values(), *plan.on_blocks.values()) for probe in probes
    }
    assert {EmitTripCount, FlushBits} <= kinds
    assert plan_from_columns(written(plan), LOOP) == plan


WRONG: list[tuple[tuple[str | int, ...], Any]] = [
    (("trace", "encoding"), "letters"),
    (("trace", "calls"), [[4], [-1]]),
    (("trace", "calls"), [[2, 2], [-1, -1]]),
    (("trace", "calls"), [[2], [-2]]),
    (("trace", "calls"), [[2], []]),
    (("trace", "calls"), [[1], [-1]]),
    (("trace", "entered"), 2),
    (("trace", "back_edges"), [6]),
    (("trace", "back_edges"), [4, 4]),
    (("trace", "back_edges"), [5]),
    (("trace", "counted"), [2]),
    (("trace", "cuts"), ["2"]),
    (("trace", "landings"), [4]),
    (("trace", "resumes"), [3]),
    (("trace", "tails"), [3]),
    (("trace", "witness_values"), [1, 2, 3, 4, 5, 6]),
    (("trace", "witnesses"), [-1]),
    (("on_entry",), [[1], [-9]]),
    (("on_entry",), [[0], [-16]]),
    (("on_entry",), [[-1], [-11]]),
    (("on_entry",), [[1 << 24], [-12]]),
    (("on_entry",), [[0], [-13]]),
    (("on_entry",), [[2], [-14]]),
    (("on_entry",), [[99], [-15]]),
    (("on_entry",), [[1 << 64], [-10]]),
    (("on_entry",), [[0], [-4]]),
    (("on_entry",), [[0], [-6]]),
    (
        ("paths",),
        {"number": 1, "back_edges": [], "cuts": [], "handlers": [], "flags": 0},
    ),
]


@pytest.mark.parametrize(("where", "value"), WRONG, ids=[f"{w[-1]}={v}" for w, v in WRONG])
def test_what_is_not_valid_is_refused(where: tuple[str | int, ...], value: Any) -> None:
    document = written(region_plan(LOOP, [1.0] * len(LOOP.edges), {2: None}, counted=[1]))
    damaged = copy.deepcopy(document)
    inner = damaged
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    with pytest.raises(ColumnError):
        plan_from_columns(damaged, LOOP)


def test_probes_of_a_trace_need_a_trace() -> None:
    document = written(region_plan(LOOP, [1.0] * len(LOOP.edges), {}))
    del document["trace"]
    with pytest.raises(ColumnError):
        plan_from_columns(document, LOOP)
