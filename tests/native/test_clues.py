"""Clues about where control goes, read off IR text: each kind of comparison, call and loop as data."""

from __future__ import annotations

import json
from itertools import product

import pytest

from trodden.errors import BadFile
from trodden.graph.cfg import build
from trodden.native.calls import read_attributes
from trodden.native.clues import function_clues, read_module_clues
from trodden.native.irtext import cut_function, cut_module
from trodden.native.read import FunctionRead, read_function
from trodden.profile.checked import ColumnError
from trodden.profile.clue_columns import clues_from_columns, clues_to_columns
from trodden.weigh.clues import (
    Against,
    BlockClues,
    CallClue,
    Ending,
    FunctionClues,
    Given,
    Origin,
    Relation,
    Sort,
)
from trodden.weigh.clues import Test as Comparison
from trodden.weigh.evidence import branch_odds
from trodden.weigh.rates import Rates

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


def read(body: str) -> tuple[FunctionRead, FunctionClues, tuple[str, ...]]:
    module = cut_module(MODULE.format(body=body))
    attributes = read_attributes(module)
    found = read_function(cut_function(module.definitions[0]), attributes)
    shared = read_module_clues(module, attributes)
    return found, function_clues(found, shared), shared.taken


def branching(lines: str, header: str = "define i32 @f(ptr %p, i32 %n, double %d)", tail: str = "") -> str:
    return (
        f"{header} {{\n{lines}\n  br i1 %c, label %yes, label %no{tail}\n\nyes:\n  ret i32 1\n\nno:\n"
        "  ret i32 0\n}\n"
    )


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("  %c = icmp eq ptr %p, null", "eq p 0 g"),
        ("  %q = load ptr, ptr %p\n  %c = icmp ne ptr %q, %p", "ne p v l"),
        ("  %c = icmp slt i32 %n, 0", "lt i 0 g"),
        ("  %c = icmp slt i32 %n, 1", "le i 0 g"),
        ("  %c = icmp sgt i32 %n, -1", "ge i 0 g"),
        ("  %c = icmp sle i32 %n, -1", "lt i 0 g"),
        ("  %c = icmp sge i32 %n, 1", "gt i 0 g"),
        ("  %c = icmp ult i32 %n, 1", "eq i 0 g u"),
        ("  %c = icmp ugt i32 %n, 0", "ne i 0 g u"),
        ("  %c = icmp ugt i32 %n, 10", "gt i + g u"),
        ("  %c = icmp eq i32 %n, 1", "eq i 1 g"),
        ("  %c = icmp eq i32 %n, -4", "eq i - g"),
        ("  %c = icmp samesign ult i32 %n, 7", "lt i + g u"),
        ("  %c = icmp slt i32 0, %n", "gt i 0 g"),
        ("  %m = and i32 %n, 4\n  %c = icmp eq i32 %m, 0", "eq i 0 b"),
        ("  %m = add nsw i32 %n, 4\n  %c = icmp eq i32 %m, %n", "eq i v a"),
        ("  %m = load i8, ptr %p\n  %c = icmp eq i8 %m, 32", "eq c + l"),
        ("  %l = load i8, ptr %p\n  %m = sext i8 %l to i32\n  %c = icmp eq i32 %m, 32", "eq c + l"),
        ("  %c = fcmp oeq double %d, 0.000000e+00", "eq f 0 g"),
        ("  %c = fcmp ult double %d, 2.000000e+00", "lt f + g"),
        ("  %c = trunc i32 %n to i1", "ne b 0 g"),
        ("  %b = icmp slt i32 %n, 0\n  %c = xor i1 %b, true", "ge i 0 g"),
        ("  %b = icmp eq ptr %p, null\n  %z = zext i1 %b to i32\n  %c = icmp eq i32 %z, 0", "ne p 0 g"),
        ("  %a = call i32 @strcmp(ptr %p, ptr %p)\n  %c = icmp eq i32 %a, 0", "eq i 0 c strcmp"),
        ("  %a = tail call i32 %p(ptr %p, ptr %p)\n  %c = icmp slt i32 %a, 0", "lt i 0 c"),
    ],
)
def test_a_comparison_is_read_as_it_was_meant(lines: str, word: str) -> None:
    relation, sort, against, origin, *rest = word.split()
    unsigned = rest == ["u"]
    expected = Comparison(
        Relation(relation),
        Sort(sort),
        Against(against),
        Origin(origin),
        unsigned,
        "" if unsigned else "".join(rest),
    )
    _, clues, _ = read(branching(lines))
    assert clues.blocks[0].test == expected


@pytest.mark.parametrize(
    ("value", "weights"), [("0", (1, 2000)), ("1", (2000, 1))], ids=["unlikely", "likely"]
)
def test_what_the_source_expects_before_the_optimiser_has_seen_it(
    value: str, weights: tuple[int, int]
) -> None:
    lines = (
        "  %a = icmp sgt i32 %n, 4\n  %b = zext i1 %a to i64\n"
        f"  %e = call i64 @llvm.expect.i64(i64 %b, i64 {value})\n  %c = icmp ne i64 %e, 0"
    )
    _, clues, _ = read(branching(lines))
    assert clues.blocks[0].said == weights
    assert clues.blocks[0].test == Comparison(Relation.MORE, Sort.INTEGER, Against.POSITIVE, Origin.GIVEN)


def test_what_the_source_expects_of_a_number() -> None:
    """``__builtin_expect(n & 4, 0)``, and ``!!`` before what is expected."""
    number = (
        "  %a = and i32 %n, 4\n  %b = sext i32 %a to i64\n"
        "  %e = call i64 @llvm.expect.i64(i64 %b, i64 0)\n  %c = icmp ne i64 %e, 0"
    )
    _, clues, _ = read(branching(number))
    assert clues.blocks[0].said == (1, 2000)
    assert clues.blocks[0].test == Comparison(Relation.UNEQUAL, Sort.INTEGER, Against.ZERO, Origin.BITS)
    twice = (
        "  %a = icmp ne i32 %n, 0\n  %n1 = xor i1 %a, true\n  %n2 = xor i1 %n1, true\n"
        "  %b = zext i1 %n2 to i64\n  %e = call i64 @llvm.expect.i64(i64 %b, i64 0)\n"
        "  %c = icmp ne i64 %e, 0"
    )
    _, clues, _ = read(branching(twice))
    assert clues.blocks[0].said == (1, 2000)
    assert clues.blocks[0].test == Comparison(Relation.UNEQUAL, Sort.INTEGER, Against.ZERO, Origin.GIVEN)


def test_what_the_source_expects_with_a_probability() -> None:
    lines = (
        "  %a = icmp sgt i32 %n, 4\n  %b = zext i1 %a to i64\n"
        "  %e = call i64 @llvm.expect.with.probability.i64(i64 %b, i64 1, double 0x3FE6666666666666)\n"
        "  %c = icmp ne i64 %e, 0"
    )
    _, clues, _ = read(branching(lines))
    assert clues.blocks[0].said == (1400, 600)


def test_weights_of_the_source_and_of_the_compiler() -> None:
    compare = "  %c = icmp slt i32 %n, 0"
    _, said, _ = read(branching(compare, tail=", !prof !1"))
    _, guessed, _ = read(branching(compare, tail=", !prof !2"))
    _, misfit, _ = read(branching(compare, tail=", !prof !3"))
    assert (said.blocks[0].said, said.blocks[0].guessed) == ((1, 2000), ())
    assert (guessed.blocks[0].said, guessed.blocks[0].guessed) == ((), ((1 << 32) - 1, 3))
    assert (misfit.blocks[0].said, misfit.blocks[0].guessed) == ((), ())


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


def test_a_guarded_successor_uses_the_variable_before_it_sets_it() -> None:
    _, clues, _ = read(GUARD)
    assert clues.blocks[0].guarded == (0,)
    register = (
        "  %c = icmp ne ptr %p, null\n  br i1 %c, label %yes, label %no\n\nyes:\n  %x = load i32, ptr %p"
    )
    text = f"define i32 @f(ptr %p) {{\n{register}\n  ret i32 %x\n\nno:\n  ret i32 0\n}}\n"
    _, clues, _ = read(text)
    assert clues.blocks[0].guarded == (0,)


def test_a_value_of_a_loop_is_not_used_before_it_is_made_anew() -> None:
    text = (
        "define i32 @f(ptr %p) {\n  br label %loop\n\nloop:\n  %x = load i8, ptr %p\n"
        "  %c = icmp eq i8 %x, 0\n  br i1 %c, label %out, label %loop\n\nout:\n  ret i32 0\n}\n"
    )
    _, clues, _ = read(text)
    assert clues.blocks[1].guarded == ()


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


def test_calls_with_what_they_pass_and_how_a_block_ends() -> None:
    _, clues, taken = read(CALLS)
    assert clues.signature == "i32(ptr,{i64,i32},[2xi64],<4xfloat>)"
    assert clues.local
    assert clues.cold
    block = clues.blocks[0]
    assert block.calls == (
        CallClue("qsort", passes=((3, "compare"),)),
        CallClue("", "i32(ptr,i32)"),
        CallClue("printf"),
        CallClue("oops", cold=True),
        CallClue("abort", cold=True, ends=True),
    )
    assert block.stores == 1
    assert block.ending is Ending.NEVER_RETURNS
    assert taken == ("compare", "listed")


@pytest.mark.parametrize(
    ("lines", "complains"),
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
def test_a_call_that_is_told_to_write_where_errors_go(lines: str, complains: bool) -> None:
    _, clues, _ = read(f"define void @f(ptr %p) {{\n{lines}\n  ret void\n}}\n")
    (call,) = clues.blocks[0].calls
    assert call.complains is complains
    assert not call.ends


def test_a_module_that_does_not_know_where_errors_go_has_no_complaints() -> None:
    """What is loaded is not looked at, so that it costs nothing there."""
    module = cut_module("define void @f(ptr %p) {\n  call void %p(ptr %p)\n  ret void\n}\n")
    assert not read_module_clues(module).complains
    assert read_module_clues(cut_module(MODULE.format(body=CALLS))).complains


@pytest.mark.parametrize(
    ("call", "ends"),
    [("@abort()", True), ("@leave(i32 1) #0", True), ("@leave(i32 1)", False), ("%p(i32 1) #0", True)],
)
def test_a_call_that_does_not_come_back(call: str, ends: bool) -> None:
    _, clues, _ = read(f"define void @f(ptr %p) {{\n  call void {call}\n  ret void\n}}\n")
    assert clues.blocks[0].calls[0].ends is ends


def test_a_switch_over_a_truth_value() -> None:
    text = (
        "define i32 @f(i1 %n) {\n  switch i1 %n, label %other [\n    i1 true, label %one\n"
        "    i1 false, label %other\n  ]\n\none:\n  ret i32 1\n\nother:\n  ret i32 0\n}\n"
    )
    _, clues, _ = read(text)
    assert clues.blocks[0].cases == (None, 1, 0)


def test_a_switch_in_a_loop_without_end_comes_back_from_its_columns() -> None:
    """The edge that closes such a loop for the flow law is none that the switch has."""
    text = (
        "define i32 @f(i32 %n) {\n  br label %loop\n\nloop:\n  switch i32 %n, label %loop [\n"
        "    i32 1, label %loop\n    i32 2, label %loop\n  ]\n}\n"
    )
    found, clues, _ = read(text)
    assert clues.blocks[1].cases == (None, 1, 2)
    assert len(found.graph.out_edges[1]) == 4
    assert clues_from_columns(json.loads(json.dumps(clues_to_columns(clues))), found.graph) == clues


@pytest.mark.parametrize(
    ("word", "relation"), [("ord", Relation.UNEQUAL), ("uno", Relation.EQUAL), ("une", Relation.UNEQUAL)]
)
def test_numbers_that_are_none_are_not_expected(word: str, relation: Relation) -> None:
    _, clues, _ = read(branching(f"  %c = fcmp {word} double %d, 0.000000e+00"))
    test = clues.blocks[0].test
    assert test is not None
    assert (test.relation, test.sort) == (relation, Sort.FLOAT)


def test_a_comparison_that_asks_nothing_is_a_flag() -> None:
    _, clues, _ = read(branching("  %c = fcmp true double %d, 0.000000e+00"))
    test = clues.blocks[0].test
    assert test is not None
    assert test.sort is Sort.FLAG


def test_the_type_of_what_takes_any_number_of_arguments() -> None:
    text = (
        "define i32 @f(ptr %p, ...) {\n  %1 = call i32 (ptr, ...) %p(ptr null, i32 5, double 1.0)\n"
        "  ret i32 %1\n}\n"
    )
    _, clues, _ = read(text)
    assert clues.blocks[0].calls[0].signature == clues.signature == "i32(ptr,...)"


def test_an_invoke_is_a_call() -> None:
    text = (
        "define i32 @f(ptr %p) personality ptr @listed {\n"
        "  %x = invoke i32 %p(ptr noundef %p)\n          to label %on unwind label %pad\n\n"
        "on:\n  ret i32 %x\n\npad:\n  %l = landingpad { ptr, i32 }\n          cleanup\n"
        "  resume { ptr, i32 } %l\n}\n"
    )
    _, clues, _ = read(text)
    assert clues.blocks[0].calls == (CallClue("", "i32(ptr)"),)
    assert [block.may_throw for block in clues.blocks] == [True, False, False]
    assert [block.ending for block in clues.blocks] == [Ending.GOES_ON, Ending.RETURNS, Ending.UNWINDS]


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


def test_the_cases_of_a_switch() -> None:
    _, clues, _ = read(SWITCH)
    assert clues.blocks[0].cases == (None, 1, -7)


def loop(start: str, step: int, test: str, leave_if_true: bool = True, on_next: bool = True) -> str:
    targets = "label %out, label %loop" if leave_if_true else "label %loop, label %out"
    tested = "%next" if on_next else "%i"
    return (
        "define i32 @f(i32 %n) {\n  br label %loop\n\n"
        f"loop:\n  %i = phi i32 [ {start}, %0 ], [ %next, %loop ]\n  %next = add nuw nsw i32 %i, {step}\n"
        f"  %c = icmp {test.format(tested)}\n  br i1 %c, {targets}\n\nout:\n  ret i32 0\n}}\n"
    ).replace("define i32 @f(i32 %n) {\n", "define i32 @f(i32 %n) {\n0:\n")


@pytest.mark.parametrize(
    ("text", "trips"),
    [
        (loop("0", 1, "eq i32 {}, 10"), 10),
        (loop("0", 1, "eq i32 {}, 10", on_next=False), 11),
        (loop("0", 3, "ult i32 {}, 10", leave_if_true=False), 4),
        (loop("0", 3, "slt i32 {}, 10", leave_if_true=False, on_next=False), 5),
        (loop("9", -1, "sgt i32 {}, 0", leave_if_true=False), 9),
        (loop("9", -2, "sge i32 {}, 0", leave_if_true=False), 5),
        (loop("0", 3, "eq i32 {}, 10"), 0),
        (loop("%n", 1, "eq i32 {}, 10"), 0),
        (loop("0", 1, "eq i32 {}, %n"), 0),
        (loop("0", -1, "eq i32 {}, 10"), 0),
        (loop("0", 1 << 20, "ult i32 {}, -294967296", leave_if_true=False), 3815),
    ],
)
def test_loops_between_constants_turn_a_certain_number_of_times(text: str, trips: int) -> None:
    _, clues, _ = read(text)
    assert clues.blocks[1].trips == trips
    if trips:
        assert trips == turns(text)


def turns(text: str) -> int:
    """The same by running the loop."""
    words = text.split()
    value = int(words[words.index("phi") + 3].strip(","))
    step = int(words[words.index("%i,") + 1])
    at = words.index("icmp")
    relation, tested, limit = words[at + 1], words[at + 3].strip(","), int(words[at + 4])
    if relation.startswith("u"):
        limit %= 1 << 32
    leave_if_true = words[words.index("i1") + 3] == "%out,"
    made = 0
    while True:
        made += 1
        seen = value + step if tested == "%next" else value
        holds = {"eq": seen == limit, "lt": seen < limit, "gt": seen > limit, "ge": seen >= limit}[
            relation[-2:]
        ]
        if holds == leave_if_true:
            return made
        value += step


CHECKED = """\
define i32 @f(i32 %n) {{
0:
  br label %loop

loop:
  %i = phi i32 [ 0, %0 ], [ %next, %go ]
  %ok = icmp ult i32 %i, %n
  br i1 %ok, label %go, label %bad

go:
  %next = add i32 %i, 1
  %c = icmp eq i32 %next, 10
  br i1 %c, label %out, label %loop

bad:
  {bad}

worse:
  {worse}

out:
  {out}
}}
"""


@pytest.mark.parametrize(
    ("bad", "worse", "out", "trips"),
    [
        ("unreachable", "unreachable", "ret i32 0", 10),
        ("br label %worse", "unreachable", "ret i32 0", 10),
        ("br label %worse", "ret i32 2", "ret i32 0", 0),
        ("ret i32 1", "unreachable", "ret i32 0", 0),
        ("unreachable", "unreachable", "unreachable", 0),
    ],
)
def test_checks_that_fail_do_not_end_a_loop(bad: str, worse: str, out: str, trips: int) -> None:
    found, clues, _ = read(CHECKED.format(bad=bad, worse=worse, out=out))
    assert clues.blocks[1].trips == trips
    if trips:
        rates = Rates("some", {"trips": 0.9999, "ends-badly": 0.999})
        odds = branch_odds(found.graph, clues.blocks, rates)
        by_way = {(edge.src, edge.dst): odds[number] for number, edge in enumerate(found.graph.edges)}
        assert by_way[1, 2] == pytest.approx(0.999)
        assert by_way[2, 1] == pytest.approx(0.9)


def test_what_the_blocks_of_a_function_make_it_return() -> None:
    _, clues, _ = read(SWITCH)
    assert [block.gives for block in clues.blocks] == [Given.NOTHING, Given.CONSTANT, Given.ZERO]
    _, clues, _ = read(GUARD)
    assert [block.gives for block in clues.blocks] == [Given.NOTHING, Given.NOTHING, Given.CONSTANT]


@pytest.mark.parametrize("body", [GUARD, CALLS, SWITCH, loop("0", 1, "eq i32 {}, 10")])
def test_clues_come_back_from_their_columns(body: str) -> None:
    found, clues, _ = read(body)
    columns = json.loads(json.dumps(clues_to_columns(clues)))
    assert clues_from_columns(columns, found.graph) == clues


def test_every_constant_and_every_mark_of_a_call_comes_back_from_its_column() -> None:
    chain = build("f", ["a", "b", "c", "d", "e", "EXIT"], [(block, block + 1) for block in range(5)])
    marks = [
        CallClue("f", cold=cold, complains=complains, ends=ends)
        for cold, complains, ends in product((False, True), repeat=3)
    ]
    blocks = tuple(BlockClues(gives=given, calls=tuple(marks)) for given in Given)
    clues = FunctionClues(blocks)
    columns = clues_to_columns(clues)
    assert columns["gives"] == "".join(given.value for given in Given)
    assert columns["calls"][3] == [0, 4, 2, 6, 1, 5, 3, 7] * len(Given)
    assert clues_from_columns(json.loads(json.dumps(columns)), chain) == clues


def test_what_the_whole_program_tells_is_not_kept() -> None:
    """How many places call a function changes with the program around, so it is counted anew each time."""
    line = build("f", ["a", "EXIT"], [(0, 1)])
    clues = FunctionClues((BlockClues(calls=(CallClue("f", sites=9),)),))
    assert clues_from_columns(clues_to_columns(clues), line).blocks[0].calls == (CallClue("f"),)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ends", "g"),
        ("gives", "."),
        ("gives", "..x"),
        ("tests", [[0], "eqi0x", [0], [0]]),
        ("tests", [[0], "eqi0gs", [4], [0]]),
        ("tests", [[0], "eqi0gs", [0], [9]]),
        ("calls", [[0], [0], [0]]),
        ("calls", [[7], [0], [0], [0]]),
        ("calls", [[0], [0], [0], [8]]),
        ("passes", [[0], [0], [0]]),
        ("stores", [[0], [-1]]),
        ("said", [[0], [[1]]]),
        ("cases", [[0], [["1", 2, 3]]]),
        ("names", "x"),
    ],
)
def test_damaged_columns_are_refused(key: str, value: object) -> None:
    found, clues, _ = read(GUARD)
    columns = clues_to_columns(clues)
    columns[key] = value
    with pytest.raises((ColumnError, KeyError, BadFile)):
        clues_from_columns(columns, found.graph)
