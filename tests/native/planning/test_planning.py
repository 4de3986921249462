"""What planning asks of a native function: see ``tests/native/cases/planning-*.test``."""

from __future__ import annotations

import pytest

from tests.native.cases import Case, cases
from trodden.native.analysis.function_cfg import FunctionCfg, read_function
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.function import cut_function
from trodden.native.ir.llvm import disassemble
from trodden.native.ir.module import cut_module
from trodden.native.planning.probe_costs import edge_costs
from trodden.native.planning.register_slots import (
    block_frequencies,
    blocks_that_may_be_cut_short,
    reloaded_blocks,
)
from trodden.plan.paths.path_register import BlockPhi, Register, Value

TRIANGLE = """\
define void @triangle(i1 %c) {
entry:
  br i1 %c, label %then, label %join

then:
  br label %join

join:
  ret void
}"""
KNOWN, UNKNOWN = Value(None, 4), Value(BlockPhi(1), 4)


def read(case: Case) -> FunctionCfg:
    """The function of a case, which LLVM has verified and printed."""
    module = cut_module(disassemble(f"{case['in']}\n{case['module']}\n".encode(), str(case)))
    return read_function(cut_function(module.definitions[0]), read_attributes(module))


@pytest.mark.parametrize("case", cases("planning-edge-costs"), ids=str)
def test_edge_costs(case: Case) -> None:
    function = read(case)
    labels = [*(block.label for block in function.ir.blocks), "EXIT"]
    costs = edge_costs(function, [1.0] * len(function.graph.edges))
    edges = zip(function.graph.edges[: len(function.positions)], costs, strict=False)
    assert "\n".join(f"{labels[e.src]} -> {labels[e.dst]}: {cost:g}" for e, cost in edges) == case["out"]
    assert costs[len(function.positions) :] == [1.0] * (len(costs) - len(function.positions))


@pytest.mark.parametrize("case", cases("planning-cut-short"), ids=str)
def test_blocks_that_may_be_cut_short(case: Case) -> None:
    function = read(case)
    labels = [function.ir.blocks[block].label for block in sorted(blocks_that_may_be_cut_short(function))]
    assert ("\n".join(labels) or "none") == case["out"]


@pytest.mark.parametrize(
    ("then", "join", "ambiguous", "expected"),
    [
        # As often as saving and restoring a machine register costs.
        ((1, UNKNOWN), (1, UNKNOWN), {1, 2}, {1, 2}),
        # Calls are frequent: a machine register is better.
        ((3, UNKNOWN), (100, UNKNOWN), {1, 2}, set()),
        # Only in a block that is rare beside the hottest one.
        ((2, UNKNOWN), (100, UNKNOWN), {1, 2}, {1}),
        # What is a constant, or not set, is not stored.
        ((1, KNOWN), (1, None), {1, 2}, set()),
        # No path can be cut short there.
        ((1, UNKNOWN), (1, UNKNOWN), {2}, {2}),
    ],
)
def test_reloaded_blocks(
    then: tuple[int, Value | None],
    join: tuple[int, Value | None],
    ambiguous: set[int],
    expected: set[int],
) -> None:
    """How often two blocks of a function run that is called once, and what the path register holds there."""
    function = read_function(cut_function(TRIANGLE), Attributes())
    weights = [float(weight) for weight in (then[0], join[0] - then[0], then[0], 1, 1)]
    assert block_frequencies(function, weights) == [1, then[0], join[0], 1]
    register = Register([KNOWN, then[1], join[1], None])
    assert reloaded_blocks(function, register, ambiguous, weights) == expected
