"""Blocks are cut behind calls that return twice, and the function stays the same function."""

from __future__ import annotations

import llvmlite.binding as llvm

from trodden.native.analysis.returns_twice import split_at_returns_twice
from trodden.native.ir.attributes import read_attributes
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.module import cut_module

TEXT = """declare i32 @_setjmp(ptr) #0

define i32 @f(ptr %0, i32 %1) {
  %3 = call i32 @_setjmp(ptr %0) #0
  %4 = add i32 %3, %1
  %5 = call i32 @_setjmp(ptr %0) #0
  %6 = add i32 %4, %5
  switch i32 %6, label %9 [
    i32 1, label %7
    i32 2, label %7
    i32 3, label %9
  ]

7:
  %8 = phi i32 [ %3, %2 ], [ %3, %2 ]
  br label %9

9:
  %10 = phi i32 [ %6, %2 ], [ %6, %2 ], [ %8, %7 ]
  %11 = call i32 @_setjmp(ptr %0) #0
  br label %12

12:
  %13 = phi i32 [ %10, %9 ]
  ret i32 %13
}

attributes #0 = { nounwind returns_twice }
"""


def _cut(text: str) -> IRFunction:
    module = cut_module(text)
    return split_at_returns_twice(cut_function(module.definitions[0]), read_attributes(module))


def test_every_half_is_a_block() -> None:
    cut = _cut(TEXT)
    assert [(block.label, block.successors) for block in cut.blocks] == [
        ("2", ("trodden.again.0",)),
        ("trodden.again.0", ("trodden.again.1",)),
        ("trodden.again.1", ("9", "7", "7", "9")),
        ("7", ("9",)),
        ("9", ("12",)),
        ("12", ()),
    ]
    assert [block.text.count("@_setjmp") for block in cut.blocks] == [1, 1, 0, 0, 1, 0]
    body = "\n\n".join(block.text for block in cut.blocks)
    prologue, epilogue = TEXT[: TEXT.index("define")], TEXT[TEXT.index("attributes") :]
    llvm.parse_assembly(f"{prologue}{cut.header}\n{body}\n}}\n{epilogue}").verify()


def test_terminators_are_still_found() -> None:
    assert [block.text[block.terminator_start :].split()[0] for block in _cut(TEXT).blocks] == [
        *("br", "br", "switch"),
        *("br", "br", "ret"),
    ]


def test_other_functions_are_left_alone() -> None:
    other = TEXT.replace(" returns_twice", "")
    function = cut_function(cut_module(other).definitions[0])
    assert split_at_returns_twice(function, read_attributes(cut_module(other))) is function
