"""The type of the result of an instruction, derived from its text."""

from __future__ import annotations

import pytest

from trodden.native.ir.instruction import instructions_of

TYPES = [
    ("add nuw nsw i32 %a, 1", "i32"),
    ("or disjoint <4 x i32> %a, splat (i32 1)", "<4 x i32>"),
    ("fneg reassoc nnan double %a", "double"),
    ("icmp samesign ult i64 %a, 5", "i1"),
    ("icmp eq <vscale x 4 x ptr> %a, %b", "<vscale x 4 x i1>"),
    ("fcmp fast oeq <2 x float> %a, %b", "<2 x i1>"),
    ("load atomic volatile i64, ptr %a seq_cst, align 8", "i64"),
    ("load { i32, [2 x %T] }, ptr %a, align 8", "{ i32, [2 x %T] }"),
    ("getelementptr inbounds nuw { i8, <2 x i64> }, ptr %a, i64 0, i32 1", "ptr"),
    ("getelementptr inrange(0, 8) i8, ptr addrspace(3) %a, i64 4, !dbg !5", "ptr addrspace(3)"),
    ("getelementptr i8, ptr %a, <4 x i64> %b", "<4 x ptr>"),
    ("getelementptr i8, <4 x ptr> %a, i64 1", "<4 x ptr>"),
    ("select nsz i1 %c, ptr getelementptr (i8, ptr @x, i64 1), ptr null", "ptr"),
    ("select <2 x i1> %c, <2 x i8> <i8 1, i8 2>, <2 x i8> %a", "<2 x i8>"),
    ("phi nnan float [ 0.000000e+00, %left ], [ %b, %right ]", "float"),
    ("zext nneg i8 %a to i64, !dbg !5", "i64"),
    ("inttoptr i64 ptrtoint (ptr @x to i64) to ptr", "ptr"),
    ('bitcast <2 x i32> %"a to i8" to i64', "i64"),
    ("call i32 (ptr, ...) @printf(ptr noundef @.str, i32 1)", "i32"),
    ("tail call fastcc noundef range(i32 0, 5) i32 @f(ptr %x) #4, !dbg !5", "i32"),
    ("call fast <4 x float> @llvm.fma.v4f32(<4 x float> %a, <4 x float> %b, <4 x float> %c)", "<4 x float>"),
    ('musttail call cc 10 "key"="i8" noalias align 8 dereferenceable(8) ptr %f(i64 %x)', "ptr"),
    ('call %"struct.a b" @f()', '%"struct.a b"'),
    (
        'call nofpclass(nan) addrspace(1) target("spirv.Image", void, 1) @f()',
        'target("spirv.Image", void, 1)',
    ),
    ("invoke noundef signext i8 @f(i32 1)", "i8"),
    ("extractelement <8 x half> %a, i64 0", "half"),
    ("insertelement <8 x half> %a, half %b, i64 0", "<8 x half>"),
    ("shufflevector <4 x i8> %a, <4 x i8> poison, <16 x i32> zeroinitializer", "<16 x i8>"),
    ("extractvalue { i32, i1 } %a, 1", "i1"),
    ("extractvalue <{ i8, [3 x { ptr, %T }] }> %a, 1, 2, 0", "ptr"),
    ("extractvalue [2 x %T] %a, 1, !dbg !5", "%T"),
    ("insertvalue { i32, i1 } poison, i32 %a, 0", "{ i32, i1 }"),
    ("extractvalue %T %a, 0", None),
    ("freeze i1 %a", "i1"),
    ("cmpxchg weak volatile ptr %a, i64 0, i64 %b seq_cst monotonic, align 8", "{ i64, i1 }"),
    ("atomicrmw volatile umax ptr %a, i32 %b monotonic, align 4", "i32"),
    ("va_arg ptr %a, double", "double"),
    ("call token @llvm.coro.id(i32 0)", None),
    ("unheard of i32 %a", None),
]


@pytest.mark.parametrize(("instruction", "kind"), TYPES)
def test_the_type_of_an_instruction(instruction: str, kind: str | None) -> None:
    (view,) = instructions_of(f"  %r = {instruction}")
    assert view.type == kind
