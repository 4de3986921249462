"""The value of a condition: stated where it is certain, and not stated otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.profile.making import Place
from tests.report.pathing import edges_along, facts_of, profile_of_walks
from trodden.program.facts import BranchKind
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.steps import Step


def _outcome(
    folder: Path,
    source: str,
    shape: str,
    lines: Mapping[str, Sequence[Place]],
    edge: str,
    kinds: Mapping[str, BranchKind] | None = None,
    inlined: Sequence[Place] = (),
    name: str = "a.c",
    sizes: Mapping[str, int] | None = None,
) -> str | None:
    """What an edge decides."""
    return _step(folder, source, shape, lines, edge, kinds, inlined, name, sizes).outcome_text


def _step(
    folder: Path,
    source: str,
    shape: str,
    lines: Mapping[str, Sequence[Place]],
    edge: str,
    kinds: Mapping[str, BranchKind] | None = None,
    inlined: Sequence[Place] = (),
    name: str = "a.c",
    sizes: Mapping[str, int] | None = None,
) -> Step:
    (folder / name).write_text(f"int f() {{\n{source}\n}}\n")
    facts = facts_of("f", shape, lines, kinds=kinds, inlined=inlined, sizes=sizes)
    profile = profile_of_walks([facts], {}, [f"{folder}/{name}"])
    [index] = edges_along(facts.graph, edge)
    step = Describer(profile).decision(profile.functions["f"], index)
    assert step is not None
    return step


def _outcomes(
    folder: Path,
    source: str,
    shape: str,
    lines: Mapping[str, Sequence[Place]],
    edges: Sequence[str],
    kinds: Mapping[str, BranchKind] | None = None,
) -> list[str | None]:
    return [_outcome(folder, source, shape, lines, edge, kinds) for edge in edges]


IF = "a>y a>n y>j n>j j>exit"
FALL = "a>y a>n y>n n>exit"
NESTED = "a>y a>n y>z y>n z>n n>exit"


@pytest.mark.parametrize(
    ("source", "shape", "lines"),
    [
        ("if (x)\n y();\nn();", FALL, {"a": [2], "y": [3], "n": [4]}),
        ("if (x) {\n y();\n} else {\n n();\n}", IF, {"a": [2], "y": [3], "n": [5], "j": [7]}),
        ("if (x) {\n y();\n} else if (n)\n m();", IF, {"a": [2], "y": [3], "n": [4], "j": [6]}),
        ("if (x)\n return y();\nn();", FALL, {"a": [2], "y": [3], "n": [4]}),
        # All of it on one line: what stays there is what is guarded.
        ("if (x) y();\nn();", FALL, {"a": [2], "y": [2], "n": [3]}),
        # Only a jump is guarded, and its code lies elsewhere.
        ("if (x)\n return 1;\nn();", IF, {"a": [2], "y": [5], "n": [4], "j": [5]}),
        ("if (x) break;\nn();", IF, {"a": [2], "y": [9], "n": [3], "j": [9]}),
        ("if (x) goto out;\nn();", IF, {"a": [2], "y": [9], "n": [3], "j": [9]}),
        ("if (x)\n return 1;\nelse {\n n();\n}", IF, {"a": [2], "y": [9], "n": [5], "j": [9]}),
        # A block without lines leads on, and one that belongs to the condition does too.
        ("if (x)\n y();\nn();", "a>s a>n s>y y>n n>exit", {"a": [2], "y": [3], "n": [4]}),
        # A declaration has no code.
        ("if (x) {\n int k;\n y();\n}\nn();", FALL, {"a": [2], "y": [4], "n": [6]}),
        # What is guarded decides in turn, and the block is there to do so.
        ("if (x)\n if (y)\n  z();\nn();", NESTED, {"a": [2], "y": [3], "z": [4], "n": [5]}),
    ],
)  # fmt: skip
def test_both_successors_are_certain(
    tmp_path: Path, source: str, shape: str, lines: Mapping[str, Sequence[Place]]
) -> None:
    taken = "a s" if "s>" in shape else "a y"
    assert _outcome(tmp_path, source, shape, lines, taken) == "x: true"
    assert _outcome(tmp_path, source, shape, lines, "a n") == "x: false"


TO_2, TO_3, TO_4, TO_5, TO_6, TO_9 = (f"continues at line {line}" for line in (2, 3, 4, 5, 6, 9))


@pytest.mark.parametrize(
    ("source", "lines", "first", "second"),
    [
        # Two conditions made one: it is not known which of them failed.
        ("if (x) {\n if (y)\n  z();\n}\nn();", {"a": [2], "y": [4], "n": [6]}, "x: true", TO_6),
        ("if (x)\n z = y ? g() : 0;\nn();", {"a": [2], "y": [3], "n": [4]}, "x: true", TO_4),
        ("if (x)\n CHECK(y);\nn();", {"a": [2], "y": [3], "n": [4]}, "x: true", TO_4),
        ("if (x)\n y();\nn();", {"a": [2], "y": [(0, 7, 1)], "n": [4]}, "x: true", TO_4),
        # What is guarded has no code of its own.
        ("if (x)\n y = 1;\nn();\nm();", {"a": [2], "y": [5], "n": [4]}, TO_5, TO_4),
        # Both successors are in what is guarded: the branch decides something else.
        ("if (x) {\n y();\n n();\n}", {"a": [2], "y": [3], "n": [4]}, TO_3, TO_4),
        # Nothing distinguishes the successors.
        ("if (x) y(); else n();", {"a": [2], "y": [2], "n": [2]}, f"{TO_2}, block y", f"{TO_2}, block n"),
        ("return x ? y() : n();", {"a": [2], "y": [2], "n": [2]}, f"{TO_2}, block y", f"{TO_2}, block n"),
        ("f(x &&\n y);", {"a": [2], "y": [3], "n": [3]}, f"{TO_3}, block y", f"{TO_3}, block n"),
        # The jump leads to where control continues without it.
        ("if (x) goto n;\nn: n();", {"a": [2], "y": [9], "n": [3]}, TO_9, TO_3),
        # The same line may be tested again.
        ("if (x) y(); else if (z)\n n();", {"a": [2], "y": [2], "n": [3]}, TO_2, TO_3),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_not_claimed(
    tmp_path: Path, source: str, lines: Mapping[str, Sequence[Place]], first: str, second: str
) -> None:
    assert _outcome(tmp_path, source, IF, lines, "a y", inlined=[3]) == first
    assert _outcome(tmp_path, source, IF, lines, "a n", inlined=[3]) == second


def test_on_one_line_the_next_test_is_not_what_is_guarded(tmp_path: Path) -> None:
    """A macro hides several tests: staying on the line may mean the next of them."""
    source, shape = "if (SAME(x)) y();\nn();", "a>b a>n b>y b>n y>n n>exit"
    lines = {"a": [2], "b": [2], "y": [2], "n": [3]}
    outcomes = _outcomes(tmp_path, source, shape, lines, ("a b", "a n", "b y", "b n"))
    assert outcomes == ["continues at line 2", "continues at line 3", "SAME(x): true", "SAME(x): false"]


def test_on_one_line_a_jump_alone_is_not_what_is_guarded(tmp_path: Path) -> None:
    """Compilers leave empty blocks on either side, with the line of the branch."""
    source, lines = "if (x) y();\nn();", {"a": [2], "y": [2], "n": [3]}
    assert _outcome(tmp_path, source, FALL, lines, "a y", sizes={"y": 1}) == "continues at line 2"
    assert _outcome(tmp_path, source, FALL, lines, "a n", sizes={"y": 1}) == "continues at line 3"


TWO = "a>b a>n b>y b>n y>n n>exit"


def test_conditions_of_several_tests(tmp_path: Path) -> None:
    lines = {"a": [2], "b": [2], "y": [3], "n": [4]}
    both = "if (p && q)\n y();\nn();"
    outcomes = _outcomes(tmp_path, both, TWO, lines, ("a b", "a n", "b y", "b n"))
    assert outcomes == ["p: true", "p: false", "q: true", "q: false"]
    either = "if (p || q)\n y();\nn();"
    shape = "a>y a>b b>y b>n y>n n>exit"
    outcomes = _outcomes(tmp_path, either, shape, lines, ("a y", "a b", "b y", "b n"))
    assert outcomes == ["p: true", "p: false", "q: true", "q: false"]
    # The code of the body has another line: the branches still correspond to the tests, but the last may have
    # been joined with another one.
    moved = {"a": [2], "b": [2], "y": [5], "n": [4]}
    outcomes = _outcomes(tmp_path, both, TWO, moved, ("a b", "a n", "b y", "b n"))
    assert outcomes == ["p: true", "p: false", "continues at line 5", "continues at line 4"]
    outcomes = _outcomes(tmp_path, "if (p || q)\n y = 1;\nn();", shape, moved, ("a y", "a b", "b y", "b n"))
    assert outcomes == ["p: true", "p: false", "continues at line 5", "continues at line 4"]


def test_loops(tmp_path: Path) -> None:
    shape = "e>h h>b h>x b>h x>exit"
    lines = {"e": [2], "h": [2], "b": [3], "x": [4]}
    assert _outcome(tmp_path, "while (x)\n b();\nx();", shape, lines, "h b") == "x: true"
    assert _outcome(tmp_path, "while (x)\n b();\nx();", shape, lines, "h x") == "x: false, exits the loop"
    rotated = "e>b e>x b>l l>b l>x x>exit"
    lines = {"e": [2], "b": [3], "l": [2], "x": [5]}
    source = "for (;x;) {\n b();\n}\nx();"
    assert _outcomes(tmp_path, source, rotated, lines, ("e b", "e x", "l b", "l x")) == [
        "x: true",
        "x: false",
        "x: true",
        "x: false, exits the loop",
    ]
    lines = {"b": [3], "c": [4], "n": [5], "l": [6], "x": [7]}
    source = "do {\n b();\n if (c) break;\n n();\n} while (l);\nx();"
    shape = "b>c c>x c>n n>l l>b l>x x>exit"
    assert _outcomes(tmp_path, source, shape, lines, ("c x", "c n", "l b", "l x")) == [
        "c: true, exits the loop at line 2",
        "c: false",
        "l: true",
        "l: false, exits the loop",
    ]


def test_a_loop_of_one_block_iterates_without_paths(tmp_path: Path) -> None:
    lines = {"e": [2], "b": [3, 2], "x": [4]}
    outcome = _outcome(tmp_path, "while (x)\n b();\nx();", "e>b b>b b>x x>exit", lines, "b x")
    assert outcome == "any number of iterations, then x: false, exits the loop"


def test_cases(tmp_path: Path) -> None:
    source = "switch (x) {\ncase 1:\n a();\n break;\ncase 2:\n b();\ncase 3:\n c();\n}\nd();"
    lines = {"s": [2], "a": [4], "b": [7], "c": [9], "d": [11]}
    shape = "s>d s>a s>b s>c a>d b>c c>d d>exit"
    kinds = {"s": BranchKind.SWITCH}
    outcomes = _outcomes(tmp_path, source, shape, lines, ("s d", "s a", "s b", "s c"), kinds)
    assert outcomes == [
        "continues at line 11",
        "switch (x): case 1",
        "switch (x): case 2",
        "continues at line 9",
    ]


def test_the_closing_brace_of_a_switch_is_no_case(tmp_path: Path) -> None:
    source = "switch (x) {\ncase 1:\n a();\n break;\n}\nd();"
    lines = {"s": [2], "a": [4], "e": [6], "d": [7]}
    kinds = {"s": BranchKind.SWITCH}
    outcomes = _outcomes(tmp_path, source, "s>e s>a a>d e>d d>exit", lines, ("s e", "s a"), kinds)
    assert outcomes == ["continues at line 6", "switch (x): case 1"]


def test_exceptions(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int f() {\n g();\n h();\n}\n")
    facts = facts_of(
        "f", "c>n c>p n>exit p>exit", {"c": [2], "n": [3], "p": [4]}, kinds={"c": BranchKind.CALL}
    )
    profile = profile_of_walks([facts], {}, [f"{tmp_path}/a.c"])
    describer = Describer(profile)
    normal, thrown = (edges_along(facts.graph, edge)[0] for edge in ("c n", "c p"))
    assert describer.decision(profile.functions["f"], normal) is None
    step = describer.decision(profile.functions["f"], thrown)
    assert step is not None
    assert step.words() == "2: g(); throws an exception, continues at line 4"


def test_languages_that_are_not_known_show_their_lines(tmp_path: Path) -> None:
    lines = {"a": [2], "y": [3], "n": [4]}
    step = _step(tmp_path, "if x {\n y();\n}", FALL, lines, "a y", name="a.rs")
    assert step.words() == "2: if x { continues at line 3"
