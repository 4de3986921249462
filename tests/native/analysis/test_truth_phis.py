"""Branches on phis in IR."""

from __future__ import annotations

import pytest

from tests.native.analysis.ir_features import read
from trodden.native.analysis.truth_phis import truth_phis
from trodden.program.facts import TruthPhi

AND = """\
define void @f(i1 %a, i1 %b) {{
entry:
  br i1 %a, label %rhs, label %end

rhs:
  br label %end

end:
  %t = phi i1 [ {on_entry}, %entry ], [ %b, %rhs ]
{between}  br i1 {tested}, label %body, label %out

body:
  ret void

out:
  ret void
}}
"""
NESTED = """\
define void @f(i1 %a, i1 %b, i1 %c) {
entry:
  br i1 %a, label %outer, label %rhs

rhs:
  br i1 %b, label %last, label %inner

last:
  br label %inner

inner:
  %t = phi i1 [ false, %rhs ], [ %c, %last ]
  br label %outer

outer:
  %u = phi i1 [ true, %entry ], [ %t, %inner ]
  %n = xor i1 %u, true
  br i1 %n, label %body, label %out

body:
  ret void

out:
  ret void
}
"""


@pytest.mark.parametrize(
    ("on_entry", "between", "tested", "known"),
    [
        ("false", "", "%t", {1: False}),
        ("true", "", "%t", {1: True}),
        ("false", "  %n = xor i1 %t, true\n", "%n", {1: True}),
        ("undef", "", "%t", None),
        ("%b", "", "%t", None),
        ("false", "", "%a", None),
    ],
)
def test_logical_operators(on_entry: str, between: str, tested: str, known: dict[int, bool] | None) -> None:
    function, _, _ = read(AND.format(on_entry=on_entry, between=between, tested=tested))
    expected = {} if known is None else {2: TruthPhi(known, {}, tested=True)}
    assert truth_phis(function) == expected


def test_a_number_that_is_compared() -> None:
    text = AND.replace("phi i1", "phi i32").replace("i1 %b", "i32 %b")
    function, _, _ = read(text.format(on_entry="3", between="  %n = icmp eq i32 %t, 3\n", tested="%n"))
    assert truth_phis(function) == {2: TruthPhi({1: True}, {}, tested=True, logical=False)}


def test_the_phi_of_a_nested_operator() -> None:
    function, _, _ = read(NESTED)
    assert truth_phis(function) == {
        3: TruthPhi({3: False}, {}, tested=False),
        4: TruthPhi({0: False}, {5: (3, True)}, tested=True),
    }
