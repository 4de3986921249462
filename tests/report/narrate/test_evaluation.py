"""Branches of the compiled program as the tests of a condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.profile.making import Place
from tests.report.pathing import edges_along, facts_of, path_of, profile_of_walks
from trodden.plan.routes import PathEnd, PathStart
from trodden.profile.model import Profile
from trodden.program.facts import BranchKind
from trodden.report.narrate.paths import Describer
from trodden.weigh.features.block_features import Comparison as Compiled
from trodden.weigh.features.block_features import OperandType, Origin, Relation, RightOperand

Lines = Mapping[str, Sequence[Place]]
JOINED = Compiled(Relation.UNEQUAL, OperandType.FLAG, RightOperand.ZERO, Origin.BITS)
MERGED = Compiled(Relation.UNEQUAL, OperandType.FLAG, RightOperand.ZERO, Origin.PHI)


def _reinverted(callee: str) -> Compiled:
    """A branch that is taken if a function returns something else than 0."""
    return Compiled(Relation.UNEQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.CALL, callee=callee)


def _profile(
    folder: Path,
    source: str,
    shape: str,
    lines: Lines,
    compares: Mapping[str, Compiled] | None = None,
    kinds: Mapping[str, BranchKind] | None = None,
    inlined: Sequence[Place] = (),
) -> Profile:
    (folder / "a.c").write_text(f"int f() {{\n{source}\n}}\n")
    facts = facts_of("f", shape, lines, compares=compares, kinds=kinds, inlined=inlined)
    return profile_of_walks([facts], {}, [f"{folder}/a.c"])


def _outcome(profile: Profile, edge: str) -> str | None:
    function = profile.functions["f"]
    [index] = edges_along(function.facts.graph, edge)
    step = Describer(profile).decision(function, index)
    return None if step is None else step.outcome_text


def _steps(profile: Profile, walk: str) -> str:
    function = profile.functions["f"]
    path = path_of(function, walk, PathStart.ENTRY, PathEnd.EXIT)
    return Describer(profile).describe(function, path).steps_text()


NESTED = "a>c a>b b>c b>n c>y c>d d>y d>n y>n n>exit"
NESTED_SOURCE = "if ((a || b) && (c || d))\n y();\nn();"
NESTED_LINES: Lines = {"a": [2], "b": [2], "c": [2], "d": [2], "y": [3], "n": [4]}


@pytest.mark.parametrize(
    ("walk", "parts"),
    [
        ("a c y n exit", "a: true, c: true"),
        ("a c d y n exit", "a: true, c: false, d: true"),
        ("a c d n exit", "a: true, c: false, d: false"),
        ("a b c y n exit", "a: false, b: true, c: true"),
        ("a b n exit", "a: false, b: false"),
    ],
)
def test_nested_conditions(tmp_path: Path, walk: str, parts: str) -> None:
    profile = _profile(tmp_path, NESTED_SOURCE, NESTED, NESTED_LINES)
    assert _steps(profile, walk).startswith(f"2: {parts} → ")


def test_edges_in_any_order(tmp_path: Path) -> None:
    shape = "a>b a>c b>n b>c c>d c>y d>n d>y y>n n>exit"
    profile = _profile(tmp_path, NESTED_SOURCE, shape, NESTED_LINES)
    assert _steps(profile, "a b c d y n exit").startswith("2: a: false, b: true, c: false, d: true → ")


def test_negations(tmp_path: Path) -> None:
    source = "if (!(a && !b))\n y();\nn();"
    profile = _profile(
        tmp_path, source, "a>b a>y b>n b>y y>n n>exit", {"a": [2], "b": [2], "y": [3], "n": [4]}
    )
    outcomes = [_outcome(profile, edge) for edge in ("a b", "a y", "b n", "b y")]
    assert outcomes == ["a: true", "a: false", "!b: true", "!b: false"]


def test_a_condition_on_several_lines(tmp_path: Path) -> None:
    source = "while (a\n    && b)\n y();\nn();"
    shape = "e>a a>b a>n b>y b>n y>a n>exit"
    profile = _profile(tmp_path, source, shape, {"e": [1], "a": [2], "b": [3], "y": [4], "n": [5]})
    outcomes = [_outcome(profile, edge) for edge in ("a b", "a n", "b y", "b n")]
    assert outcomes == ["a: true", "a: false, exits the loop", "b: true", "b: false, exits the loop"]
    assert _steps(profile, "e a b n exit") == "2: a: true, b: false, exits the loop → 5: n();"


def test_on_one_line(tmp_path: Path) -> None:
    source, shape = "if (a && b) y();\nn();", "a>b a>n b>y b>n y>n n>exit"
    profile = _profile(tmp_path, source, shape, {"a": [2], "b": [2], "y": [2], "n": [3]})
    outcomes = [_outcome(profile, edge) for edge in ("a b", "a n", "b y", "b n")]
    assert outcomes == ["a: true", "a: false", "b: true", "b: false"]


VALUE = "e>a a>b a>m b>m m>y m>n y>a n>exit"
VALUE_LINES: Lines = {"e": [2], "a": [2], "b": [2], "m": [2], "y": [3], "n": [4]}


def test_tests_that_meet_before_the_branch(tmp_path: Path) -> None:
    """Outside of if, compilers compute the value of a condition first."""
    profile = _profile(tmp_path, "while (a && b)\n y();\nn();", VALUE, VALUE_LINES, {"m": MERGED})
    assert _steps(profile, "e a b m y a m n exit") == (
        "2: a: true, b: true → 2: a: false, exits the loop → 4: n();"
    )
    assert _steps(profile, "e a b m n exit") == "2: a: true, b: false, exits the loop → 4: n();"
    assert _outcome(profile, "m y") == "a && b: true"
    assert _outcome(profile, "m n") == "a && b: false, exits the loop"


def test_an_operator_in_a_condition(tmp_path: Path) -> None:
    """Both of its arms look alike; only the comparison of the first test distinguishes them."""
    source, shape = "if (a ? b : c)\n y();\nn();", "a>b a>c b>y b>n c>y c>n y>n n>exit"
    lines = {"a": [2], "b": [2], "c": [2], "y": [3], "n": [4]}
    unknown = _profile(tmp_path, source, shape, lines)
    assert [_outcome(unknown, edge) for edge in ("a b", "b y", "b n")] == [
        "continues at line 2, block b",
        "a ? b : c: true",
        "a ? b : c: false",
    ]
    assert _steps(unknown, "a b y n exit") == "2: a ? b : c: true (through block b of line 2) → 4: n();"
    tested = Compiled(Relation.UNEQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.LOAD)
    known = _profile(tmp_path, source, shape, lines, {"a": tested})
    assert _steps(known, "a b y n exit") == "2: a: true, b: true → 4: n();"
    assert _steps(known, "a c n exit") == "2: a: false, c: false → 4: n();"


def test_calls_tell_tests_apart(tmp_path: Path) -> None:
    source, shape = "if (a ? f(x) : g(x))\n y();\nn();", "a>b a>c b>y b>n c>y c>n y>n n>exit"
    called = Compiled(Relation.UNEQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.CALL, callee="g")
    lines = {"a": [2], "b": [2], "c": [2], "y": [3], "n": [4]}
    profile = _profile(tmp_path, source, shape, lines, {"b": called})
    assert _steps(profile, "a b y n exit") == "2: a: false, g(x): true → 4: n();"


def test_a_joined_branch_says_nothing_of_its_parts(tmp_path: Path) -> None:
    source, shape = "if (a && b && c)\n y();\nn();", "a>b a>n b>y b>n y>n n>exit"
    profile = _profile(tmp_path, source, shape, {"a": [2], "b": [2], "y": [3], "n": [4]})
    assert (
        _steps(profile, "a b y n exit")
        == "2: a: true, b: true, c: true (through block b of line 2) → 4: n();"
    )
    assert _steps(profile, "a n exit") == "2: a && b && c: false → 4: n();"
    two = "if (a && b)\n y();\nn();"
    joined = _profile(tmp_path, two, shape, {"a": [2], "b": [2], "y": [3], "n": [4]}, {"a": JOINED})
    assert _outcome(joined, "a b") == "continues at line 2"


def test_a_macro_may_hold_tests(tmp_path: Path) -> None:
    source, shape = "if (CHECK(a) && b)\n y();\nn();", "a>b a>n b>y b>n y>n n>exit"
    lines = {"a": [2], "b": [2], "y": [3], "n": [4]}
    profile = _profile(tmp_path, source, shape, lines)
    assert [_outcome(profile, edge) for edge in ("a b", "a n", "b y")] == [
        "continues at line 2",
        "CHECK(a) && b: false",
        "CHECK(a): true, b: true",
    ]
    plain = "#define CHECK(x) ((x) > 1)\n"
    (tmp_path / "b.c").write_text(f"{plain}int f() {{\n{source}\n}}\n")
    facts = facts_of(
        "f", shape, {label: [line + 1 for line in found] for label, found in lines.items()}, line=2
    )
    profile = profile_of_walks([facts], {}, [f"{tmp_path}/b.c"])
    assert _outcome(profile, "a b") == "CHECK(a): true"


def test_inlined_code_may_hold_tests(tmp_path: Path) -> None:
    """A branch of what was inlined into a test may have been joined with the test before."""
    source = "if (a && b())\n y();\nn();\n}\nint b() {\nif (c)\n return 0;\nreturn d;"
    shape = "a>b a>n b>y b>n y>n n>exit"
    lines: Lines = {"a": [2, (0, 7, 1), 2], "b": [(0, 9, 1), 2], "y": [3], "n": [4]}
    profile = _profile(tmp_path, source, shape, lines, inlined=[2])
    assert _outcome(profile, "a b") == "continues at a.c:9"
    straight = "if (a && b())\n y();\nn();\n}\nint b() {\nint e = c;\n\nreturn d;"
    profile = _profile(tmp_path, straight, shape, lines, inlined=[2])
    assert _outcome(profile, "a b") == "a: true"


def test_exceptions_in_a_condition(tmp_path: Path) -> None:
    source = "if (a() && b())\n y();\nn();"
    shape = "a>s a>p s>b s>n b>t b>p t>y t>n y>n n>exit p>exit"
    lines: Lines = {"a": [2], "s": [2], "b": [2], "t": [2], "y": [3], "n": [4], "p": [9]}
    calls = {"a": BranchKind.CALL, "b": BranchKind.CALL}
    profile = _profile(tmp_path, source, shape, lines, kinds=calls)
    assert _steps(profile, "a s b t n exit") == "2: a(): true, b(): false → 4: n();"
    assert _outcome(profile, "b p") == "throws an exception, continues at line 9"


def test_a_loop_may_begin_with_its_last_test(tmp_path: Path) -> None:
    """``b`` heads the compiled loop: the first test is repeated at its end.

    There are more branches than tests then, so that calls have to show which is which.
    """
    source = "while (a() && b())\n y();\nn();"
    shape = "e>b e>n b>y b>n y>b y>n n>exit"
    lines: Lines = {"e": [2], "b": [2], "y": [3, 2], "n": [4]}
    assert _outcome(_profile(tmp_path, source, shape, lines), "e b") == "continues at line 2"
    profile = _profile(
        tmp_path, source, shape, lines, {"e": _reinverted("a"), "b": _reinverted("b"), "y": _reinverted("a")}
    )
    outcomes = [_outcome(profile, edge) for edge in ("e b", "e n", "b n", "y b", "y n")]
    assert outcomes == [
        "a(): true",
        "a(): false",
        "b(): false, exits the loop",
        "a(): true",
        "a(): false, exits the loop",
    ]


def test_code_of_the_body_may_have_moved_past_tests(tmp_path: Path) -> None:
    """The second block begins with the body, but it is the next test: nothing is left of the loop."""
    source = "do {\n y();\n} while (a && b && c);\nn();"
    shape = "a>b a>n b>n b>m m>n n>exit"
    lines: Lines = {"a": [3, 4], "b": [3, 4], "m": [9], "n": [5]}
    profile = _profile(tmp_path, source, shape, lines, {})
    assert _outcome(profile, "a b") == "continues at line 3"


def test_a_branch_without_a_line_is_no_test(tmp_path: Path) -> None:
    from dataclasses import replace

    source, shape = "if (a)\n y();\nn();", "a>y a>n y>n n>exit"
    profile = _profile(tmp_path, source, shape, {"a": [2], "y": [3], "n": [4]})
    function = profile.functions["f"]
    blocks = list(function.facts.blocks)
    blocks[0] = replace(blocks[0], branch=None)
    moved = replace(function, facts=replace(function.facts, blocks=tuple(blocks)))
    profile = replace(profile, functions={"f": moved})
    assert _outcome(profile, "a y") == "continues at line 3"


ARMS = "a>y a>n y>j n>j j>exit"


def test_conditional_operators_on_lines_of_their_own(tmp_path: Path) -> None:
    source = "s = a\n ? f()\n : g();\nj();"
    profile = _profile(tmp_path, source, ARMS, {"a": [2], "y": [3, 2], "n": [4, 2], "j": [2, 5]})
    assert [_outcome(profile, edge) for edge in ("a y", "a n")] == ["a: true", "a: false"]


def test_conditional_operators_on_one_line(tmp_path: Path) -> None:
    source, lines = "s = a > 3 ? f() : g();\nj();", {"a": [2], "y": [2], "n": [2], "j": [2, 3]}
    assert _outcome(_profile(tmp_path, source, ARMS, lines), "a y") == "continues at line 2, block y"
    inverted = Compiled(Relation.AT_MOST, OperandType.INTEGER, RightOperand.POSITIVE, Origin.LOAD)
    profile = _profile(tmp_path, source, ARMS, lines, {"a": inverted})
    assert [_outcome(profile, edge) for edge in ("a y", "a n")] == ["a > 3: false", "a > 3: true"]
    # Where the operands do not meet again, the branch may have decided more.
    profile = _profile(tmp_path, source, "a>y a>n y>exit n>exit", lines, {"a": inverted})
    assert _outcome(profile, "a y") == "continues at line 2, block y"


@pytest.mark.parametrize(
    "source",
    [
        "s = a > 3 ? b ? f() : g() : h();\nj();",
        "s = a > 3 ? f() : g(); t = b && c;\nj();",
        "if (x) s = a > 3 ? f() : g();\nj();",
        "s = a > 3 ? CHECK(f) : g();\nj();",
        "s = 1 ? f() : g();\nj();",
        "s = T{a}.b > 3 ? f() : g();\nj();",
    ],
)
def test_lines_on_which_something_else_may_branch(tmp_path: Path, source: str) -> None:
    inverted = Compiled(Relation.AT_MOST, OperandType.INTEGER, RightOperand.POSITIVE, Origin.LOAD)
    profile = _profile(tmp_path, source, ARMS, {"a": [2], "y": [2], "n": [2], "j": [2, 3]}, {"a": inverted})
    assert _outcome(profile, "a y") == "continues at line 2, block y"


def test_ranges_have_elements(tmp_path: Path) -> None:
    shape = "e>h h>b h>x b>h x>exit"
    source = "for (auto &x : all)\n b(x);\nx();"
    profile = _profile(tmp_path, source, shape, {"e": [2], "h": [2], "b": [3], "x": [4]})
    (tmp_path / "a.c").write_text(f"int f() {{\n{source}\n}}\n")
    assert _outcome(profile, "h b") == "for (auto &x : all): next element"
    assert _outcome(profile, "h x") == "for (auto &x : all): no more elements, exits the loop"


def test_initialisation_is_no_part_of_a_condition(tmp_path: Path) -> None:
    source = "if (int q = f(x); q > 1)\n y();\nn();"
    profile = _profile(tmp_path, source, "a>y a>n y>n n>exit", {"a": [2], "y": [3], "n": [4]})
    assert _outcome(profile, "a y") == "q > 1: true"
    source = "for (int i = 0; i < 3 && a[i]; i++)\n y();\nn();"
    profile = _profile(tmp_path, source, VALUE, VALUE_LINES, {"m": MERGED})
    assert _steps(profile, "e a b m n exit") == "2: i < 3: true, a[i]: false, exits the loop → 4: n();"


@pytest.mark.parametrize("source", ["while (1) {\n y();\n}\nn();", "for (;;) {\n y();\n}\nn();"])
def test_constant_conditions_have_no_value_to_name(tmp_path: Path, source: str) -> None:
    shape = "e>h h>b h>x b>h x>exit"
    profile = _profile(tmp_path, source, shape, {"e": [2], "h": [2], "b": [3], "x": [5]})
    assert _outcome(profile, "h b") == "continues at line 3"


ZERO = Compiled(Relation.EQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.LOAD)


@pytest.mark.parametrize("test", ["!empty(p)", "DONE", "!FULL(p)"])
def test_comparisons_of_what_a_test_names(tmp_path: Path, test: str) -> None:
    """What is compared with 0 is a value inside of a function or macro, not the value of the test."""
    lines: Lines = {"a": [2], "y": [2], "n": [2], "j": [2, 3]}
    profile = _profile(tmp_path, f"s = {test} ? f() : g();\nj();", ARMS, lines, {"a": ZERO})
    assert _outcome(profile, "a y") == "continues at line 2, block y"
    profile = _profile(tmp_path, "s = !p ? f() : g();\nj();", ARMS, lines, {"a": ZERO})
    assert _outcome(profile, "a y") == "!p: true"


def test_comparisons_of_inlined_code(tmp_path: Path) -> None:
    """An overloaded operator is inlined without any call in the source."""
    source = "s = !p ? f() : g();\nj();\n}\nbool operator!(P p) {\n return p.size;"
    lines: Lines = {"a": [(0, 6, 1), 2], "y": [2], "n": [2], "j": [2, 3]}
    profile = _profile(tmp_path, source, ARMS, lines, {"a": ZERO}, inlined=[2])
    assert _outcome(profile, "a y") == "continues at line 2, block y"


def test_iterations_of_an_unrolled_loop(tmp_path: Path) -> None:
    """Nothing is left of the loop and of its first test: both branches are the second one."""
    source = "do\n x++;\nwhile (n-- > 0 && x);\nn();"
    profile = _profile(
        tmp_path, source, "a>n a>b b>n b>c c>n n>exit", {"a": [3, 4], "b": [4], "c": [3, 4], "n": [5]}
    )
    outcomes = [_outcome(profile, edge) for edge in ("a n", "a b")]
    assert outcomes == ["n-- > 0 && x: false", "continues at line 4"]


def test_an_optimised_loop_may_begin_in_the_middle_of_its_condition(tmp_path: Path) -> None:
    """The first test is known to hold when the loop is entered."""
    source, shape = "while (n-- > 0 && x) s++;\nn();", "e>x x>c x>n c>x c>n n>exit"
    lines: Lines = {"e": [1], "x": [2], "c": [2], "n": [3]}
    counted = Compiled(Relation.EQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.PHI)
    profile = _profile(tmp_path, source, shape, lines, {"c": counted})
    assert _outcome(profile, "x n") == "continues at line 3, exits the loop at line 2"


def test_the_value_of_a_do_loop_may_be_merged_on_a_line_of_its_body(tmp_path: Path) -> None:
    source = "do x++;\nwhile (a && (b || c));\nn();"
    shape = "x>a a>b a>m b>m b>c c>m m>x m>n n>exit"
    lines: Lines = {"x": [2], "a": [3], "b": [3], "c": [3], "m": [2], "n": [4]}
    profile = _profile(tmp_path, source, shape, lines, {"m": MERGED})
    assert _outcome(profile, "a m") == "continues at line 2"
