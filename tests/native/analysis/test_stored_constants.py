"""Branches that a constant stored before decides."""

from __future__ import annotations

import pytest

from tests.native.analysis.ir_features import read
from trodden.native.analysis.stored_constants import stored_constants

LOOP = """\
define void @f(ptr %p, i32 %n) {{
entry:
  %i = alloca i32, align 4
  %j = alloca i32, align 4
  {store}
  {after}
  br label %cond

cond:
  {before}
  %v = load {volatile}i32, ptr %i, align 4
  %t = icmp {test}
  br i1 %t, label %body, label %out

body:
  %next = add i32 %v, 1
  store i32 %next, ptr %i, align 4
  br label %cond

out:
  ret void
}}
"""
PLAIN = {
    "store": "store i32 0, ptr %i, align 4",
    "after": "store i32 7, ptr %j, align 4",
    "before": "%x = load i32, ptr %j, align 4",
    "volatile": "",
    "test": "slt i32 %v, 10",
}


@pytest.mark.parametrize(
    ("test", "holds"),
    [
        ("slt i32 %v, 10", True),
        ("sgt i32 %v, 0", False),
        ("ne i32 %v, 0", False),
        ("ult i32 %v, -1", True),
        ("sge i32 %v, -1", True),
        ("uge i32 %v, -1", False),
    ],
)
def test_the_edge_from_the_store_decides(test: str, holds: bool) -> None:
    found, _, _ = read(LOOP.format(**PLAIN | {"test": test}))
    [(block, truth)] = stored_constants(found).items()
    assert found.ir.blocks[block].label == "cond"
    [(edge, value)] = truth.known.items()
    assert found.ir.blocks[found.graph.edges[edge].src].label == "entry"
    assert value is holds
    assert truth.tested
    assert not truth.logical


@pytest.mark.parametrize(
    "change",
    [
        {"store": "store i32 %n, ptr %i, align 4"},
        {"store": "store volatile i32 0, ptr %i, align 4"},
        {"after": "store i32 7, ptr %p, align 4"},
        {"after": "call void @leave(i32 1)"},
        {"before": "store i32 7, ptr %p, align 4"},
        {"before": "call void @leave(i32 1)"},
        {"volatile": "volatile "},
        {"test": "slt i32 %v, %n"},
        {"test": "slt i32 %n, 10"},
    ],
)
def test_what_is_not_certain_decides_nothing(change: dict[str, str]) -> None:
    found, _, _ = read(LOOP.format(**PLAIN | change))
    assert stored_constants(found) == {}
