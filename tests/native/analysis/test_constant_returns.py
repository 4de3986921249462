"""Which blocks make a function return a constant: through a variable, through phis, or as it is."""

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

STORED = """\
define i32 @f(i32 noundef %n) {
entry:
  %retval = alloca i32, align 4
  %other = alloca i32, align 4
  %c = icmp slt i32 %n, 0
  br i1 %c, label %wrong, label %fine

wrong:
  store i32 5, ptr %retval.addr, align 4
  store i32 -1, ptr %retval, align 4
  br label %return

fine:
  store i32 7, ptr %other, align 4
  %c2 = icmp eq i32 %n, 1
  br i1 %c2, label %first, label %second

first:
  store i32 0, ptr %retval
  br label %return

second:
  store i32 0, ptr %retval, align 4
  %x = load i32, ptr %other, align 4
  store i32 %x, ptr %retval, align 4
  br label %return

return:
  %r = load i32, ptr %retval, align 4
  ret i32 %r
}
"""

PHI = """\
define ptr @f(i32 %n, ptr %p) {
entry:
  switch i32 %n, label %last [
    i32 1, label %none
    i32 2, label %some
    i32 3, label %unknown
    i32 4, label %inner
  ]

none:
  br label %return

some:
  br label %return

unknown:
  br label %return

inner:
  %c = icmp eq ptr %p, null
  br i1 %c, label %left, label %right

left:
  br label %meet

right:
  br label %meet

meet:
  %m = phi ptr [ null, %left ], [ %p, %right ]
  br label %return

last:
  br label %return

return:
  %r = phi ptr [ null, %none ], [ @table, %some ], [ poison, %unknown ], [ %m, %meet ], [ %p, %last ]
  ret ptr %r
}
"""

ROUND = """\
define i32 @f(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %again ]
  %c = icmp eq i32 %i, %n
  br i1 %c, label %out, label %again

again:
  %j = phi i32 [ %i, %loop ]
  br label %loop

out:
  ret i32 %i
}
"""


def given(body: str) -> dict[str, str]:
    (definition,) = cut_module(MODULE.format(body=body)).definitions
    return {label: what.value for label, what in returned_constants(cut_function(definition)).items()}


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
def test_a_constant_is_returned_as_it_is(kind: str, value: str, letter: str, tail: str) -> None:
    body = DIRECT.format(kind=kind, first=value + tail, second="%x" + tail)
    assert given(body) == {"one": letter}


@pytest.mark.parametrize("kind", ["{ i64, i32 }", "[2 x i64]", "<4 x float>", "<{ i8, i32 }>"])
def test_several_values_at_once_are_no_constant(kind: str) -> None:
    assert given(DIRECT.format(kind=kind, first="zeroinitializer", second="%x")) == {}


@pytest.mark.parametrize("end", ["ret void", "ret void, !dbg !7", "unreachable"])
def test_nothing_is_returned(end: str) -> None:
    assert given(f"define void @f() {{\nentry:\n  {end}\n}}\n") == {}


def test_before_optimisation_the_last_store_to_what_is_returned_tells() -> None:
    assert given(STORED) == {"wrong": "-", "first": "0"}


def test_phis_are_followed_to_where_their_constants_come_from() -> None:
    found = given(PHI)
    assert found.pop("unknown") == "."
    assert found == {"none": "n", "some": "c", "left": "n"}


def test_phis_that_go_round_are_followed_once() -> None:
    assert given(ROUND) == {"entry": "0"}


def test_a_long_chain_of_phis_is_given_up() -> None:
    blocks = "".join(
        f"b{n}:\n  %v{n} = phi i32 [ %v{n - 1}, %b{n - 1} ], [ -{n}, %c{n} ]\n  br label %b{n + 1}\n\n"
        f"c{n}:\n  br label %b{n}\n\n"
        for n in range(1, 30)
    )
    found = given(f"define i32 @f(i32 %v0) {{\nb0:\n  br label %b1\n\n{blocks}b30:\n  ret i32 %v29\n}}\n")
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
def test_what_a_compiler_makes_of_it(tmp_path: Path, level: str) -> None:
    (tmp_path / "a.c").write_text(SOURCE)
    (facts,) = facts_of_source([str(tmp_path / "a.c"), level, "-g"], Options()).functions
    said = [
        block.returned
        for block in facts.features.blocks
        if any(call.callee == "puts" for call in block.calls)
    ]
    assert sorted(each.value for each in said) == ["-", "0"]
