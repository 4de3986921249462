"""Loops of IR with a constant trip count; see also ``analysis-loops.test``."""

from __future__ import annotations

import pytest

from tests.native.analysis.ir_features import loop, read
from trodden.weigh.heuristics.combine import branch_probabilities
from trodden.weigh.heuristics.rates import Rates


@pytest.mark.parametrize(
    ("text", "trip_count"),
    [
        (loop("0", 1, "eq i32 {}, 10"), 10),
        (loop("0", 1, "eq i32 {}, 10", on_next=False), 11),
        (loop("0", 3, "ult i32 {}, 10", leave_if_true=False), 4),
        (loop("0", 3, "slt i32 {}, 10", leave_if_true=False, on_next=False), 5),
        (loop("9", -1, "sgt i32 {}, 0", leave_if_true=False), 9),
        (loop("9", -2, "sge i32 {}, 0", leave_if_true=False), 5),
        (loop("0", 3, "eq i32 {}, 10"), 0),
        (loop("%n", 1, "eq i32 {}, 10"), 0),
        (loop("0", 1, "eq i32 {}, %n"), 0),
        (loop("0", -1, "eq i32 {}, 10"), 0),
        (loop("0", 1 << 20, "ult i32 {}, -294967296", leave_if_true=False), 3815),
    ],
)
def test_constant_trip_counts(text: str, trip_count: int) -> None:
    _, features, _ = read(text)
    assert features.blocks[1].trip_count == trip_count
    if trip_count:
        assert trip_count == iterations(text)


def iterations(text: str) -> int:
    """The same by running the loop."""
    words = text.split()
    value = int(words[words.index("phi") + 3].strip(","))
    step = int(words[words.index("%i,") + 1])
    at = words.index("icmp")
    relation, tested, limit = words[at + 1], words[at + 3].strip(","), int(words[at + 4])
    if relation.startswith("u"):
        limit %= 1 << 32
    leave_if_true = words[words.index("i1") + 3] == "%out,"
    iterations_so_far = 0
    while True:
        iterations_so_far += 1
        value_tested = value + step if tested == "%next" else value
        is_true = {
            "eq": value_tested == limit,
            "lt": value_tested < limit,
            "gt": value_tested > limit,
            "ge": value_tested >= limit,
        }[relation[-2:]]
        if is_true == leave_if_true:
            return iterations_so_far
        value += step


CHECKED = """\
define i32 @f(i32 %n) {{
0:
  br label %loop

loop:
  %i = phi i32 [ 0, %0 ], [ %next, %go ]
  %ok = icmp ult i32 %i, %n
  br i1 %ok, label %go, label %bad

go:
  %next = add i32 %i, 1
  %c = icmp eq i32 %next, 10
  br i1 %c, label %out, label %loop

bad:
  {bad}

worse:
  {worse}

out:
  {out}
}}
"""


@pytest.mark.parametrize(
    ("bad", "worse", "out", "trip_count"),
    [
        ("unreachable", "unreachable", "ret i32 0", 10),
        ("br label %worse", "unreachable", "ret i32 0", 10),
        ("br label %worse", "ret i32 2", "ret i32 0", 0),
        ("ret i32 1", "unreachable", "ret i32 0", 0),
        ("unreachable", "unreachable", "unreachable", 0),
    ],
)
def test_checks_that_fail_do_not_end_a_loop(bad: str, worse: str, out: str, trip_count: int) -> None:
    found, features, _ = read(CHECKED.format(bad=bad, worse=worse, out=out))
    assert features.blocks[1].trip_count == trip_count
    if trip_count:
        rates = Rates("some", {"trips": 0.9999, "ends-badly": 0.999})
        probabilities = branch_probabilities(found.graph, features.blocks, rates)
        by_edge = {
            (edge.src, edge.dst): probabilities[number] for number, edge in enumerate(found.graph.edges)
        }
        assert by_edge[1, 2] == pytest.approx(0.999)
        assert by_edge[2, 1] == pytest.approx(0.9)
