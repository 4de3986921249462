"""Which blocks make a function return a constant; see also ``analysis-constant-returns.test``."""

from __future__ import annotations

from pathlib import Path

import pytest

from trodden.native.analysis.constant_returns import returned_constants
from trodden.native.driver.describe import facts_of_source
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.options.declarations import Options

MODULE = 'target triple = "x86_64-pc-linux-gnu"\n\n{body}\n'

DIRECT = """\
define {kind} @f(i32 %n, {kind} %x) {{
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %one, label %two

one:
  ret {kind} {first}

two:
  ret {kind} {second}
}}
"""


def returned(body: str) -> dict[str, str]:
    (definition,) = cut_module(MODULE.format(body=body)).definitions
    return {label: kind.value for label, kind in returned_constants(cut_function(definition)).items()}


@pytest.mark.parametrize(
    ("kind", "value", "letter"),
    [
        ("i32", "0", "0"),
        ("i1", "false", "0"),
        ("i1", "true", "c"),
        ("i32", "-1", "-"),
        ("i64", "42", "c"),
        ("ptr", "null", "n"),
        ("ptr", "@table", "c"),
        ("double", "-1.000000e+00", "-"),
        ("i32", "poison", "."),
        ("i32", "undef", "."),
    ],
)
@pytest.mark.parametrize("tail", ["", ", !dbg !7"], ids=["", "debug"])
def test_constants_of_many_types(kind: str, value: str, letter: str, tail: str) -> None:
    body = DIRECT.format(kind=kind, first=value + tail, second="%x" + tail)
    assert returned(body) == {"one": letter}


@pytest.mark.parametrize("kind", ["{ i64, i32 }", "[2 x i64]", "<4 x float>", "<{ i8, i32 }>"])
def test_aggregates_and_vectors_are_left_out(kind: str) -> None:
    assert returned(DIRECT.format(kind=kind, first="zeroinitializer", second="%x")) == {}


@pytest.mark.parametrize("end", ["ret void", "ret void, !dbg !7", "unreachable"])
def test_nothing_is_returned(end: str) -> None:
    assert returned(f"define void @f() {{\nentry:\n  {end}\n}}\n") == {}


def test_a_long_chain_of_phis_is_not_followed_to_its_end() -> None:
    blocks = "".join(
        f"b{n}:\n  %v{n} = phi i32 [ %v{n - 1}, %b{n - 1} ], [ -{n}, %c{n} ]\n  br label %b{n + 1}\n\n"
        f"c{n}:\n  br label %b{n}\n\n"
        for n in range(1, 30)
    )
    found = returned(f"define i32 @f(i32 %v0) {{\nb0:\n  br label %b1\n\n{blocks}b30:\n  ret i32 %v29\n}}\n")
    assert set(found.values()) == {"-"}
    assert "c29" in found
    assert "c1" not in found


SOURCE = """\
#include <stdio.h>
int find(const char *text, int n) {
    if (!text) {
        puts("none");
        return -1;
    }
    for (int i = 0; i < n; i++)
        if (text[i] == 'x')
            return i;
    puts("no x");
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_compiled_function(tmp_path: Path, level: str) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    (facts,) = facts_of_source([str(tmp_path / "a.c"), level, "-g"], Options()).functions
    constants = [
        block.returned
        for block in facts.features.blocks
        if any(call.callee == "puts" for call in block.calls)
    ]
    assert sorted(each.value for each in constants) == ["-", "0"]
