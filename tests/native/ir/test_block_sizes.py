"""Lines of a block, and which of them a machine executes."""

from __future__ import annotations

import pytest

from trodden.native.ir.block import IRBlock

SWITCH = """\
next:
  %v = phi i32 [ 1, %entry ], [ %w, %next ]
    #dbg_value(i32 %v, !5, !DIExpression(), !6)
  %w = add i32 %v, 1
  switch i32 %w, label %other [
    i32 1, label %next
    i32 2, label %b
    i32 7, label %b
  ], !dbg !7"""

CALLS = """\
  call void @llvm.lifetime.start.p0(i64 4, ptr %x)
  tail call void @llvm.assume(i1 %c) [ "align"(ptr %p, i64 8) ]
  %m = call i64 @llvm.ctpop.i64(i64 %y)
  call void @use(ptr @llvm.lifetime)
  invoke void @may_throw()
          to label %fine unwind label %pad"""

PAD = """\
pad:
  %e = landingpad { ptr, i32 }
          cleanup
          catch ptr null
  resume { ptr, i32 } %e"""


@pytest.mark.parametrize(("text", "instructions"), [(SWITCH, 2), (CALLS, 3), (PAD, 1), ("  ret void", 1)])
def test_what_a_machine_executes(text: str, instructions: int) -> None:
    block = IRBlock.parse("x", text)
    assert block.size - block.silent == instructions
