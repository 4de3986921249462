"""What can be cloned at all; the clones themselves are in ``tests/native/cases/clone.test``."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trodden.native.clone.clone_text import add_clones, can_be_cloned
from trodden.native.ir.function import cut_function

Successors = Sequence[Sequence[int] | None]

DIAMOND = """
define i32 @f(i1 %c, i32 %n) {
entry:
  br i1 %c, label %left, label %right

left:                                             ; preds = %entry
  %l = add i32 %n, 1
  br label %meet

right:                                            ; preds = %entry
  br label %meet

meet:                                             ; preds = %right, %left
  %m = phi i32 [ %l, %left ], [ 7, %right ]
  %s = mul i32 %m, %n
  %d = icmp eq i32 %s, 3
  br i1 %d, label %last, label %other

other:                                            ; preds = %meet
  br label %last

last:                                             ; preds = %other, %meet
  %r = add i32 %s, %m
  ret i32 %r
}
"""


@pytest.mark.parametrize(
    ("line", "clonable"),
    [
        ("%x = alloca i32, align 4", False),
        ('call void asm sideeffect "nop", ""()', False),
        ('%x = tail call i32 asm "mov $0, $1", "=r,r"(i32 %n)', False),
        ("call void @g() convergent", False),
        ("call void @g() noduplicate", False),
        ("%x = call i32 @_setjmp(ptr %n) returns_twice", False),
        ("%x = call i32 @__sigsetjmp(ptr %n, i32 0)", False),
        ("%x = call token @llvm.experimental.convergence.anchor()", False),
        ('call void @g() [ "convergencectrl"(token %t) ]', False),
        ("%x = call i8 @llvm.coro.suspend(token none, i1 false)", False),
        ("%token = add i32 %convergent, %asm.token", True),
        ("call void @token(ptr @convergent)", True),
        ("call void @llvm.experimental.noalias.scope.decl(metadata !0)", True),
    ],
)
def test_what_can_be_cloned(line: str, clonable: bool) -> None:
    blocks = cut_function(DIAMOND.strip().replace("%s = mul i32 %m, %n", line)).blocks
    assert [can_be_cloned(block) for block in blocks] == [True, True, True, clonable, True, True]


def test_successors_that_make_no_sense() -> None:
    function = cut_function(DIAMOND.strip())
    cases: list[tuple[list[int], Successors]] = [
        ([3], [[1, 2], [6], [3], [5, 4], [5], []]),
        ([3], [[1, 2], [5], [3], [5, 4], [5], [], [5, 4]]),
        ([3], [[1, 2], [6], [3], [5, 4], [5], [], None]),
        ([0], [[1, 2], [3], [3], [5, 4], [5], [], [1, 2]]),
    ]
    for origins, successors in cases:
        with pytest.raises(ValueError, match=r"block \d"):
            add_clones(function, origins, successors)
