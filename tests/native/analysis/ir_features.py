"""A module in IR text, and the features read off one function in it."""

from __future__ import annotations

from trodden.native.analysis.features import function_features, read_module_features
from trodden.native.analysis.function_cfg import FunctionCfg, read_function
from trodden.native.ir.attributes import read_attributes
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.weigh.features.block_features import FunctionFeatures

MODULE = """\
target triple = "x86_64-pc-linux-gnu"

@table = internal constant [2 x ptr] [ptr @listed, ptr null], align 16
@cell = global i32 0, align 4
@stderr = external global ptr, align 8
@stdout = external global ptr, align 8
@_ZSt4cerr = external global [272 x i8], align 8

{body}

declare void @oops(ptr noundef) #1
declare i32 @strcmp(ptr noundef, ptr noundef)
declare void @qsort(ptr, i64, i64, ptr)
declare i32 @printf(ptr noundef, ...)
declare i64 @llvm.expect.i64(i64, i64)
declare i64 @llvm.expect.with.probability.i64(i64, i64, double immarg)
declare void @abort() #0
declare i32 @fprintf(ptr, ptr, ...)
declare i64 @fwrite(ptr, i64, i64, ptr)
declare ptr @_ZStlsPSoi(ptr, i32)
declare void @leave(i32)
declare i32 @listed(i32)
declare i32 @compare(ptr, ptr)

attributes #0 = {{ cold noreturn nounwind }}
attributes #1 = {{ cold }}

!1 = !{{!"branch_weights", !"expected", i32 1, i32 2000}}
!2 = !{{!"branch_weights", i32 -1, i32 3}}
!3 = !{{!"branch_weights", i32 1, i32 2, i32 3}}
"""


def read(body: str) -> tuple[FunctionCfg, FunctionFeatures, tuple[str, ...]]:
    module = cut_module(MODULE.format(body=body))
    attributes = read_attributes(module)
    found = read_function(cut_function(module.definitions[0]), attributes)
    shared = read_module_features(module, attributes)
    return found, function_features(found, shared), shared.taken


def branching(lines: str, header: str = "define i32 @f(ptr %p, i32 %n, double %d)", tail: str = "") -> str:
    return (
        f"{header} {{\n{lines}\n  br i1 %c, label %yes, label %no{tail}\n\nyes:\n  ret i32 1\n\nno:\n"
        "  ret i32 0\n}\n"
    )


GUARD = """\
define i32 @f(ptr %p, i32 %n) {
  %v = alloca i32, align 4
  store i32 %n, ptr %v, align 4
  %m = load i32, ptr %v, align 4
  %c = icmp slt i32 %m, 5
  br i1 %c, label %yes, label %no

yes:
  %x = load i32, ptr %v, align 4
  ret i32 %x

no:
  store i32 1, ptr %v, align 4
  %y = load i32, ptr %v, align 4
  ret i32 %y
}
"""


CALLS = """\
define internal i32 @f(ptr %p, { i64, i32 } %s, [2 x i64] %a, <4 x float> %v) #1 {
  call void @qsort(ptr %p, i64 4, i64 4, ptr noundef @compare)
  %1 = call i32 %p(ptr noundef nonnull %p, i32 7)
  %2 = call i32 (ptr, ...) @printf(ptr @table, i32 %1)
  %3 = call i32 asm "nop", "=r"()
  store volatile i32 %1, ptr @cell
  call void @oops(ptr @table)
  call void @abort()
  unreachable
}
"""


SWITCH = """\
define i32 @f(i32 %n) {
  switch i32 %n, label %other [
    i32 1, label %one
    i32 -7, label %one
  ]

one:
  ret i32 1

other:
  ret i32 0
}
"""


def loop(start: str, step: int, test: str, leave_if_true: bool = True, on_next: bool = True) -> str:
    targets = "label %out, label %loop" if leave_if_true else "label %loop, label %out"
    tested = "%next" if on_next else "%i"
    return (
        "define i32 @f(i32 %n) {\n  br label %loop\n\n"
        f"loop:\n  %i = phi i32 [ {start}, %0 ], [ %next, %loop ]\n  %next = add nuw nsw i32 %i, {step}\n"
        f"  %c = icmp {test.format(tested)}\n  br i1 %c, {targets}\n\nout:\n  ret i32 0\n}}\n"
    ).replace("define i32 @f(i32 %n) {\n", "define i32 @f(i32 %n) {\n0:\n")
