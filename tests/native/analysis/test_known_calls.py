"""Which calls of a module are known, so that a trace need not say what they enter."""

from __future__ import annotations

import pytest

from trodden.native.analysis.known_calls import TracedCalls, traced_calls
from trodden.native.analysis.module_reader import ModuleReader
from trodden.native.ir.function import cut_function
from trodden.native.ir.llvm import disassemble
from trodden.native.ir.module import cut_module
from trodden.native.options.declarations import Options

INNER = "define internal void @inner() noinline {\n  ret void\n}\n"
CALLER = "define void @outer() {\n  call void @inner()\n  call void @outside()\n  ret void\n}\n"
OUTSIDE = "declare void @outside()\n"


def calls_of(text: str, *leave: str) -> dict[str, TracedCalls]:
    module = cut_module(disassemble(f"{OUTSIDE}{text}".encode(), "a test"))
    reader = ModuleReader(module, "a.c", Options(profile="trace", leave=leave))
    found = [reader.function(cut_function(definition)) for definition in module.definitions]
    read = [function.read for function in found if function is not None]
    calls = traced_calls(module, read)
    return {function.ir.symbol: each for function, each in zip(read, calls, strict=True)}


def test_a_function_that_only_one_other_calls_is_known() -> None:
    found = calls_of(INNER + CALLER)
    assert found == {"inner": TracedCalls({}, False), "outer": TracedCalls({0: 0, 1: None}, True)}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(INNER.replace("internal ", "") + CALLER, id="public"),
        pytest.param(INNER + CALLER + "@taken = global ptr @inner\n", id="taken"),
        pytest.param(INNER + CALLER + "@also = alias void (), ptr @inner\n", id="alias"),
        pytest.param(
            INNER + CALLER + "define void @tail() {\n  tail call void @inner()\n  ret void\n}\n", id="tail"
        ),
        pytest.param(INNER.replace("  ret", "  tail call void @outside()\n  ret") + CALLER, id="tail_inside"),
        pytest.param(
            INNER + CALLER + "define void @bare() naked {\n  call void @inner()\n  unreachable\n}\n",
            id="caller_without_probes",
        ),
        pytest.param(
            INNER + CALLER + "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]"
            " [{ i32, ptr, ptr } { i32 65535, ptr @inner, ptr null }]\n",
            id="constructor",
        ),
        pytest.param(INNER.replace("  ret", "  call void @inner()\n  ret") + CALLER, id="recursive"),
        pytest.param(
            INNER.replace("  ret", "  call void @second()\n  ret")
            + INNER.replace("@inner", "@second").replace("  ret", "  call void @inner()\n  ret")
            + CALLER,
            id="mutually_recursive",
        ),
    ],
)
def test_what_may_be_called_otherwise_is_not_known(text: str) -> None:
    found = calls_of(text)
    assert found["inner"].entered
    assert set(found["outer"].callees.values()) == {None}


def test_a_chain_of_known_calls() -> None:
    inner = INNER.replace("  ret", "  call void @second()\n  ret")
    found = calls_of(inner + INNER.replace("@inner", "@second") + CALLER)
    assert [calls.entered for calls in found.values()] == [False, False, True]
    assert found["inner"].callees == {0: 1}


def test_a_call_that_never_returns_may_be_known() -> None:
    fatal = "define internal void @fatal() noreturn {\n  call void @outside()\n  unreachable\n}\n"
    caller = "define void @outer() {\n  call void @fatal() noreturn\n  unreachable\n}\n"
    found = calls_of(fatal + caller)
    assert found["outer"].callees == {0: 0}
    assert not found["fatal"].entered


def test_functions_that_are_left_out_do_not_count() -> None:
    assert calls_of(INNER + CALLER, "inner") == {"outer": TracedCalls({0: None, 1: None}, True)}
    assert calls_of(INNER + CALLER, "outer") == {"inner": TracedCalls({}, True)}
