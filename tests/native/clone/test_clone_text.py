"""Copies of blocks: the text that comes out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from trodden.native.clone.clone_text import can_be_cloned, with_clones
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.llvm import check

Targets = Sequence[Sequence[int] | None]


def printed(function: IRFunction) -> str:
    blocks = "\n\n".join(block.text for block in function.blocks)
    return f"{function.header}\n{blocks}\n}}"


def copied(source: str, origins: Sequence[int], targets: Targets, types: Collection[str] = ()) -> str:
    """The text with copies, whose blocks are what their text says."""
    function = with_clones(cut_function(source.strip()), origins, targets, types)
    assert function is not None
    text = printed(function)
    assert cut_function(text) == function
    return text


def blocks_of(text: str) -> dict[str, str]:
    return {block.label: block.text for block in cut_function(text).blocks}


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

LOOP = """
define i32 @f(i32 %n) {
entry:
  br label %head

head:                                             ; preds = %body, %entry
  %i = phi i32 [ 0, %entry ], [ %j, %body ]
  %sum = phi i32 [ %n, %entry ], [ %t, %body ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %end

body:                                             ; preds = %head
  %j = add i32 %i, 1
  %t = add i32 %sum, %j
  br label %head

end:                                              ; preds = %head
  ret i32 %sum
}
"""


def test_a_merge_copied_for_one_of_those_before() -> None:
    """What is used behind it comes together in phis; what is not, stays as it is."""
    text = copied(DIAMOND, [3], [[1, 2], [6], [3], [5, 4], [5], [], [5, 4]])
    assert text == (
        """\
define i32 @f(i1 %c, i32 %n) {
entry:
  br i1 %c, label %left, label %right

left:                                             ; preds = %entry
  %l = add i32 %n, 1
  br label %trodden.copy.1

right:                                            ; preds = %entry
  br label %meet

meet:
  %m = phi i32 [ 7, %right ]
  %s = mul i32 %m, %n
  %d = icmp eq i32 %s, 3
  br i1 %d, label %last, label %other

other:
  %s.p2 = phi i32 [ %s, %meet ], [ %s.t1, %trodden.copy.1 ]
  %m.p2 = phi i32 [ %m, %meet ], [ %m.t1, %trodden.copy.1 ]
  br label %last

last:
  %s.p1 = phi i32 [ %s, %meet ], [ %s.p2, %other ], [ %s.t1, %trodden.copy.1 ]
  %m.p1 = phi i32 [ %m, %meet ], [ %m.p2, %other ], [ %m.t1, %trodden.copy.1 ]
  %r = add i32 %s.p1, %m.p1
  ret i32 %r

trodden.copy.1:
  %m.t1 = phi i32 [ %l, %left ]
  %s.t1 = mul i32 %m.t1, %n
  %d.t1 = icmp eq i32 %s.t1, 3
  br i1 %d.t1, label %last, label %other
}"""
    )
    check(text, "merge")


def test_a_copy_of_all_that_follows_needs_no_phi() -> None:
    text = copied(DIAMOND, [3, 4, 5], [[1, 2], [6], [3], [5, 4], [5], [], [8, 7], [8], []])
    copies = blocks_of(text)
    assert " = phi " not in copies["last"] + copies["trodden.copy.3"]
    assert copies["trodden.copy.3"] == "trodden.copy.3:\n  %r.t3 = add i32 %s.t1, %m.t1\n  ret i32 %r.t3"
    check(text, "all that follows")


def test_a_first_turn_of_its_own() -> None:
    """The head of a loop copied for whoever comes from before: only the end sees both."""
    text = copied(LOOP, [1], [[4], [2, 3], [1], [], [2, 3]])
    assert text == (
        """\
define i32 @f(i32 %n) {
entry:
  br label %trodden.copy.1

head:
  %i = phi i32 [ %j, %body ]
  %sum = phi i32 [ %t, %body ]
  %c = icmp slt i32 %i, %n
  br i1 %c, label %body, label %end

body:
  %i.p1 = phi i32 [ %i, %head ], [ %i.t1, %trodden.copy.1 ]
  %sum.p1 = phi i32 [ %sum, %head ], [ %sum.t1, %trodden.copy.1 ]
  %j = add i32 %i.p1, 1
  %t = add i32 %sum.p1, %j
  br label %head

end:
  %sum.p2 = phi i32 [ %sum, %head ], [ %sum.t1, %trodden.copy.1 ]
  ret i32 %sum.p2

trodden.copy.1:
  %i.t1 = phi i32 [ 0, %entry ]
  %sum.t1 = phi i32 [ %n, %entry ]
  %c.t1 = icmp slt i32 %i.t1, %n
  br i1 %c.t1, label %body, label %end
}"""
    )
    check(text, "first turn")


def test_a_block_replaced_by_its_copy() -> None:
    """Nothing leads to the block itself: it is left empty, and all see the copy."""
    text = copied(LOOP, [2], [[1], [4, 3], None, [], [1]])
    blocks = blocks_of(text)
    assert blocks["body"] == "body:\n  unreachable"
    assert blocks["head"].startswith(
        "head:\n  %i = phi i32 [ 0, %entry ], [ %j.t1, %trodden.copy.1 ]\n"
        "  %sum = phi i32 [ %n, %entry ], [ %t.t1, %trodden.copy.1 ]\n"
    )
    check(text, "replaced")


def test_blocks_that_change_in_nothing_are_the_same() -> None:
    function = cut_function(DIAMOND.strip())
    answer = with_clones(function, [5], [[1, 2], [3], [3], [5, 4], [6], [], []])
    assert answer is not None
    assert [new is old for new, old in zip(answer.blocks, function.blocks, strict=False)] == [
        *(True, True, True, True),
        *(False, False),
    ]


CYCLE = """
define i32 @f(i32 %n, i1 %c, i1 %d) {
entry:
  br i1 %c, label %make, label %skip

skip:                                             ; preds = %entry
  br label %make

make:                                             ; preds = %skip, %entry
  %x = add i32 %n, 1
  br i1 %d, label %one, label %two

one:                                              ; preds = %two, %make
  br i1 %c, label %two, label %end

two:                                              ; preds = %one, %make
  br i1 %d, label %one, label %end

end:                                              ; preds = %two, %one
  ret i32 %x
}
"""


def test_a_cycle_that_sees_one_version_has_no_phi() -> None:
    """Two blocks that lead to each other and are both entered from outside; the copy has its own pair."""
    targets = [[2, 6], None, [3, 4], [4, 5], [3, 5], [], [7], [8, 9], [9, 10], [8, 10], []]
    text = copied(CYCLE, [1, 2, 3, 4, 5], targets)
    assert " = phi " not in text
    assert blocks_of(text)["trodden.copy.5"].endswith("  ret i32 %x.t2")
    check(text, "cycle")


def test_a_cycle_that_sees_two_versions_has_the_phis_it_needs() -> None:
    text = copied(CYCLE, [2], [[2, 1], [6], [3, 4], [4, 5], [3, 5], [], [3, 4]])
    blocks = blocks_of(text)
    assert blocks["one"].count(" = phi ") == 1
    assert blocks["two"].count(" = phi ") == 1
    assert blocks["end"].count(" = phi ") == 1
    check(text, "cycle")
    inside = copied(CYCLE, [2, 5], [[2, 1], [6], [3, 4], [4, 5], [3, 7], [], [3, 4], []])
    assert " = phi " not in blocks_of(inside)["end"] + blocks_of(inside)["trodden.copy.2"]
    check(inside, "cycle")


SWITCH = """
define i32 @f(i32 %n) {
entry:
  br label %turn

turn:                                             ; preds = %same, %entry
  %v = phi i32 [ %n, %entry ], [ %w, %same ]
  switch i32 %v, label %same [
    i32 1, label %same
    i32 2, label %end
    i32 3, label %same
  ], !prof !0

same:                                             ; preds = %turn, %turn, %turn
  %w = phi i32 [ 5, %turn ], [ 5, %turn ], [ 5, %turn ]
  br label %turn

end:                                              ; preds = %turn
  ret i32 %v
}
"""


def test_a_phi_has_an_entry_for_every_place_of_a_switch() -> None:
    text = copied(SWITCH, [1, 2], [[1], [2, 5, 3, 2], [4], [], [5, 5, 3, 5], [4]])
    blocks = blocks_of(text)
    assert blocks["turn"].endswith(
        "  switch i32 %v, label %same [\n    i32 1, label %trodden.copy.2\n    i32 2, label %end\n"
        "    i32 3, label %same\n  ], !prof !0"
    )
    assert blocks["same"].startswith("same:\n  %w = phi i32 [ 5, %turn ], [ 5, %turn ]\n")
    one, other = "[ 5, %turn ]", "[ 5, %trodden.copy.1 ]"
    assert f"  %w.t2 = phi i32 {one}, {other}, {other}, {other}\n" in blocks["trodden.copy.2"]
    entries = "[ %w, %same ], [ %w.t2, %trodden.copy.2 ]"
    assert blocks["trodden.copy.1"].startswith(f"trodden.copy.1:\n  %v.t1 = phi i32 {entries}\n")
    assert "  %v.p1 = phi i32 [ %v, %turn ], [ %v.t1, %trodden.copy.1 ]\n" in blocks["end"]
    check(f'{text}\n!0 = !{{!"branch_weights", i32 1, i32 2, i32 3, i32 4}}\n', "switch")


RECORDS = """
define i32 @f(i1 %c, i32 %n) {
  br i1 %c, label %1, label %2

1:                                                ; preds = %0
  br label %2

2:                                                ; preds = %1, %0
  %3 = add i32 %n, 1
  %4 = add i32 %n, 2
    #dbg_value(i32 %3, !1, !DIExpression(), !2)
  br i1 %c, label %5, label %6

5:                                                ; preds = %2
    #dbg_value(i32 %4, !1, !DIExpression(), !2)
    #dbg_value(!DIArgList(i32 %3, i32 %n), !1, !DIExpression(DW_OP_LLVM_arg, 0), !2)
  br label %6

6:                                                ; preds = %5, %2
    #dbg_value(i32 %3, !1, !DIExpression(), !2)
    #dbg_value(i32 %4, !1, !DIExpression(), !2)
  ret i32 %4
}
"""


def test_debug_records_make_no_phis() -> None:
    """They take the one version that comes, or a phi that is there anyway, or nothing."""
    text = copied(RECORDS, [2], [[1, 2], [5], [3, 4], [4], [], [3, 4]])
    blocks = blocks_of(text)
    assert '    #dbg_value(i32 %"3.t1", !1, !DIExpression(), !2)' in blocks["trodden.copy.1"]
    assert blocks["5"].splitlines()[1:4] == [
        '  %"4.p2" = phi i32 [ %4, %2 ], [ %"4.t1", %trodden.copy.1 ]',
        '    #dbg_value(i32 %"4.p2", !1, !DIExpression(), !2)',
        "    #dbg_value(!DIArgList(i32 poison, i32 %n), !1, !DIExpression(DW_OP_LLVM_arg, 0), !2)",
    ]
    assert blocks["6"].splitlines()[2:] == [
        "    #dbg_value(i32 poison, !1, !DIExpression(), !2)",
        '    #dbg_value(i32 %"4.p1", !1, !DIExpression(), !2)',
        '  ret i32 %"4.p1"',
    ]
    alone = copied(RECORDS, [2, 3], [[1, 2], [5], [3, 4], [4], [], [6, 4], [4]])
    assert '    #dbg_value(i32 %"4.t1", !1, !DIExpression(), !2)' in blocks_of(alone)["trodden.copy.2"]
    assert copied(RECORDS, [], [[1, 2], [2], [3, 4], [4], []]) == RECORDS.strip()


ODD = """
define ptr @"odd f"(ptr %"a b", i1 %c) {
entry:
  br i1 %c, label %"x y", label %"x y.t1"

"x y.t1":                                         ; preds = %entry
  br label %"x y"

"x y":                                            ; preds = %"x y.t1", %entry
  %"a c" = getelementptr %T, ptr %"a b", i64 1
  %"a c.t1" = load <2 x ptr>, ptr %"a c", align 8
  %z = call ptr @g(ptr @"s %z", ptr %"a c") [ "tag %z"(ptr %"a c") ]
  br label %end

end:                                              ; preds = %"x y"
  %w = call ptr @g(ptr %z, ptr @"s %z") [ "tag %z"(<2 x ptr> %"a c.t1") ]
  ret ptr %"a c"
}
"""


def test_odd_names_and_strings() -> None:
    text = copied(ODD, [2], [[2, 1], [4], [3], [], [3]], types=["%T", "z.t1"])
    blocks = blocks_of(text)
    assert blocks["trodden.copy.1"] == (
        "trodden.copy.1:\n"
        '  %"a c.t1.1" = getelementptr %T, ptr %"a b", i64 1\n'
        '  %"a c.t1.t1" = load <2 x ptr>, ptr %"a c.t1.1", align 8\n'
        '  %z.t1 = call ptr @g(ptr @"s %z", ptr %"a c.t1.1") [ "tag %z"(ptr %"a c.t1.1") ]\n'
        "  br label %end"
    )
    assert blocks["end"].splitlines()[1:] == [
        '  %z.p1 = phi ptr [ %z, %"x y" ], [ %z.t1, %trodden.copy.1 ]',
        '  %"a c.t1.p1" = phi <2 x ptr> [ %"a c.t1", %"x y" ], [ %"a c.t1.t1", %trodden.copy.1 ]',
        '  %"a c.p1" = phi ptr [ %"a c", %"x y" ], [ %"a c.t1.1", %trodden.copy.1 ]',
        '  %w = call ptr @g(ptr %z.p1, ptr @"s %z") [ "tag %z"(<2 x ptr> %"a c.t1.p1") ]',
        '  ret ptr %"a c.p1"',
    ]
    check(f'%T = type {{ i32 }}\n@"s %z" = global i8 0\ndeclare ptr @g(ptr, ptr)\n{text}\n', "odd")


INVOKE = """
define i32 @f(i1 %c) personality ptr @p {
entry:
  br i1 %c, label %call, label %more

more:                                             ; preds = %entry
  br label %call

call:                                             ; preds = %more, %entry
  %a = phi i32 [ 1, %entry ], [ 2, %more ]
  %r = invoke noundef i32 @g(i32 %a)
          to label %fine unwind label %pad

fine:                                             ; preds = %call
  ret i32 %r

pad:                                              ; preds = %call
  %v = landingpad { ptr, i32 }
          cleanup
  %u = extractvalue { ptr, i32 } %v, 1
  %s = add i32 %u, %a
  ret i32 %s
}
"""


def test_an_invoke_and_its_landing_pad() -> None:
    text = copied(INVOKE, [2], [[2, 1], [5], [3, 4], [], [], [3, 4]])
    blocks = blocks_of(text)
    assert blocks["fine"].startswith(
        "fine:\n  %r.p1 = phi i32 [ %r, %call ], [ %r.t1, %trodden.copy.1 ]\n  ret i32 %r.p1"
    )
    assert "\n  %a.p1 = phi i32 [ %a, %call ], [ %a.t1, %trodden.copy.1 ]\n  %v = landing" in blocks["pad"]
    check(f"declare i32 @g(i32)\ndeclare i32 @p(...)\n{text}\n", "invoke")
    assert [can_be_cloned(block) for block in cut_function(INVOKE.strip()).blocks] == [True] * 4 + [False]
    assert with_clones(cut_function(INVOKE.strip()), [4], [[2, 1], [2], [3, 5], [], None, []]) is None


def test_word_of_aliases_is_not_in_copies() -> None:
    source = """
define void @f(ptr %x, ptr %y, i1 %c) {
entry:
  br label %loop

loop:                                             ; preds = %loop, %entry
  call void @llvm.experimental.noalias.scope.decl(metadata !0)
  %v = load i32, ptr %x, align 4, !alias.scope !0, !tbaa !3
  store i32 %v, ptr %y, align 4, !noalias !0
  br i1 %c, label %loop, label %end

end:                                              ; preds = %loop
  ret void
}
"""
    blocks = blocks_of(copied(source, [1], [[3], [1, 2], [], [1, 2]]))
    assert "align 4, !alias.scope !0, !tbaa !3\n" in blocks["loop"]
    assert "  %v.t1 = load i32, ptr %x, align 4, !tbaa !3\n" in blocks["trodden.copy.1"]
    assert "  store i32 %v.t1, ptr %y, align 4\n" in blocks["trodden.copy.1"]


def test_a_phi_of_a_type_that_cannot_be_told() -> None:
    """A member of a named type: there are no copies, unless no phi is needed of it."""
    source = cut_function(DIAMOND.replace("mul i32 %m, %n", "extractvalue %T %m, 0").strip())
    assert with_clones(source, [3], [[1, 2], [6], [3], [5, 4], [5], [], [5, 4]]) is None
    assert with_clones(source, [3, 4, 5], [[1, 2], [6], [3], [5, 4], [5], [], [8, 7], [8], []]) is not None


@pytest.mark.parametrize(
    ("line", "fit"),
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
def test_what_can_be_copied(line: str, fit: bool) -> None:
    blocks = cut_function(DIAMOND.strip().replace("%s = mul i32 %m, %n", line)).blocks
    assert [can_be_cloned(block) for block in blocks] == [True, True, True, fit, True, True]


def test_where_targets_cannot_be_meant() -> None:
    function = cut_function(DIAMOND.strip())
    cases: list[tuple[list[int], Targets]] = [
        ([3], [[1, 2], [6], [3], [5, 4], [5], []]),
        ([3], [[1, 2], [5], [3], [5, 4], [5], [], [5, 4]]),
        ([3], [[1, 2], [6], [3], [5, 4], [5], [], None]),
        ([0], [[1, 2], [3], [3], [5, 4], [5], [], [1, 2]]),
    ]
    for origins, targets in cases:
        with pytest.raises(ValueError, match=r"block \d"):
            with_clones(function, origins, targets)
