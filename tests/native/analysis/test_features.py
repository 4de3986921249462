"""Clues about where control goes, read off IR text: weights, guards, calls and cases."""

from __future__ import annotations

import pytest

from tests.native.analysis.ir_features import CALLS, GUARD, MODULE, SWITCH, branching, read
from trodden.native.analysis.features import read_module_features
from trodden.native.ir.module import cut_module
from trodden.weigh.features.block_features import BlockEnding, CallFeatures, ReturnedConstant


def test_weights_of_the_source_and_of_the_compiler() -> None:
    compare = "  %c = icmp slt i32 %n, 0"
    _, said, _ = read(branching(compare, tail=", !prof !1"))
    _, guessed, _ = read(branching(compare, tail=", !prof !2"))
    _, misfit, _ = read(branching(compare, tail=", !prof !3"))
    assert (said.blocks[0].source_weights, said.blocks[0].compiler_weights) == ((1, 2000), ())
    assert (guessed.blocks[0].source_weights, guessed.blocks[0].compiler_weights) == ((), ((1 << 32) - 1, 3))
    assert (misfit.blocks[0].source_weights, misfit.blocks[0].compiler_weights) == ((), ())


def test_a_guarded_successor_uses_the_variable_before_it_sets_it() -> None:
    _, features, _ = read(GUARD)
    assert features.blocks[0].guarded == (0,)
    register = (
        "  %c = icmp ne ptr %p, null\n  br i1 %c, label %yes, label %no\n\nyes:\n  %x = load i32, ptr %p"
    )
    text = f"define i32 @f(ptr %p) {{\n{register}\n  ret i32 %x\n\nno:\n  ret i32 0\n}}\n"
    _, features, _ = read(text)
    assert features.blocks[0].guarded == (0,)


def test_a_value_of_a_loop_is_not_used_before_it_is_made_anew() -> None:
    text = (
        "define i32 @f(ptr %p) {\n  br label %loop\n\nloop:\n  %x = load i8, ptr %p\n"
        "  %c = icmp eq i8 %x, 0\n  br i1 %c, label %out, label %loop\n\nout:\n  ret i32 0\n}\n"
    )
    _, features, _ = read(text)
    assert features.blocks[1].guarded == ()


def test_calls_with_what_they_pass_and_how_a_block_ends() -> None:
    _, features, taken = read(CALLS)
    assert features.signature == "i32(ptr,{i64,i32},[2xi64],<4xfloat>)"
    assert features.local
    assert features.cold
    block = features.blocks[0]
    assert block.calls == (
        CallFeatures("qsort", passes=((3, "compare"),)),
        CallFeatures("", "i32(ptr,i32)"),
        CallFeatures("printf"),
        CallFeatures("oops", cold=True),
        CallFeatures("abort", cold=True, ends=True),
    )
    assert block.stores == 1
    assert block.ending is BlockEnding.NEVER_RETURNS
    assert taken == ("compare", "listed")


@pytest.mark.parametrize(
    ("lines", "reports_error"),
    [
        (
            "  %s = load ptr, ptr @stderr, align 8\n  %r = call i32 (ptr, ptr, ...) @fprintf(ptr %s, ptr %p)",
            True,
        ),
        (
            "  %s = load ptr, ptr @stdout, align 8\n  %r = call i32 (ptr, ptr, ...) @fprintf(ptr %s, ptr %p)",
            False,
        ),
        ("  %s = load ptr, ptr @stderr\n  %r = tail call i64 @fwrite(ptr %p, i64 1, i64 9, ptr %s) #1", True),
        ("  %r = call ptr @_ZStlsPSoi(ptr nonnull @_ZSt4cerr, i32 7)", True),
        ("  %r = call i32 %p(ptr @stderr)", True),
        ("  %r = call i32 @strcmp(ptr %p, ptr @table)", False),
    ],
)
def test_a_call_that_is_told_to_write_where_errors_go(lines: str, reports_error: bool) -> None:
    _, features, _ = read(f"define void @f(ptr %p) {{\n{lines}\n  ret void\n}}\n")
    (call,) = features.blocks[0].calls
    assert call.reports_error is reports_error
    assert not call.ends


def test_a_module_that_does_not_know_where_errors_go_has_no_complaints() -> None:
    """What is loaded is not looked at, so that it costs nothing there."""
    module = cut_module("define void @f(ptr %p) {\n  call void %p(ptr %p)\n  ret void\n}\n")
    assert not read_module_features(module).writes_errors
    assert read_module_features(cut_module(MODULE.format(body=CALLS))).writes_errors


@pytest.mark.parametrize(
    ("call", "ends"),
    [("@abort()", True), ("@leave(i32 1) #0", True), ("@leave(i32 1)", False), ("%p(i32 1) #0", True)],
)
def test_a_call_that_does_not_come_back(call: str, ends: bool) -> None:
    _, features, _ = read(f"define void @f(ptr %p) {{\n  call void {call}\n  ret void\n}}\n")
    assert features.blocks[0].calls[0].ends is ends


def test_a_switch_over_a_truth_value() -> None:
    text = (
        "define i32 @f(i1 %n) {\n  switch i1 %n, label %other [\n    i1 true, label %one\n"
        "    i1 false, label %other\n  ]\n\none:\n  ret i32 1\n\nother:\n  ret i32 0\n}\n"
    )
    _, features, _ = read(text)
    assert features.blocks[0].cases == (None, 1, 0)


def test_the_type_of_what_takes_any_number_of_arguments() -> None:
    text = (
        "define i32 @f(ptr %p, ...) {\n  %1 = call i32 (ptr, ...) %p(ptr null, i32 5, double 1.0)\n"
        "  ret i32 %1\n}\n"
    )
    _, features, _ = read(text)
    assert features.blocks[0].calls[0].signature == features.signature == "i32(ptr,...)"


def test_an_invoke_is_a_call() -> None:
    text = (
        "define i32 @f(ptr %p) personality ptr @listed {\n"
        "  %x = invoke i32 %p(ptr noundef %p)\n          to label %on unwind label %pad\n\n"
        "on:\n  ret i32 %x\n\npad:\n  %l = landingpad { ptr, i32 }\n          cleanup\n"
        "  resume { ptr, i32 } %l\n}\n"
    )
    _, features, _ = read(text)
    assert features.blocks[0].calls == (CallFeatures("", "i32(ptr)"),)
    assert [block.may_throw for block in features.blocks] == [True, False, False]
    assert [block.ending for block in features.blocks] == [
        BlockEnding.CONTINUES,
        BlockEnding.RETURNS,
        BlockEnding.UNWINDS,
    ]


def test_the_cases_of_a_switch() -> None:
    _, features, _ = read(SWITCH)
    assert features.blocks[0].cases == (None, 1, -7)


def test_what_the_blocks_of_a_function_make_it_return() -> None:
    _, features, _ = read(SWITCH)
    assert [block.returned for block in features.blocks] == [
        ReturnedConstant.NOTHING,
        ReturnedConstant.CONSTANT,
        ReturnedConstant.ZERO,
    ]
    _, features, _ = read(GUARD)
    assert [block.returned for block in features.blocks] == [
        ReturnedConstant.NOTHING,
        ReturnedConstant.NOTHING,
        ReturnedConstant.CONSTANT,
    ]
