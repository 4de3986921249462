"""Whether a condition held: told when it is certain, and not told otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.profile.making import Place
from tests.report.pathing import edges_along, facts_of, profile_of_walks
from trodden.program.facts import BranchKind
from trodden.report.narrate.decisions import Step
from trodden.report.narrate.paths import Describer


def _decision(
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
    return [_decision(folder, source, shape, lines, edge, kinds).outcome for edge in edges]


IF = "a>y a>n y>j n>j j>exit"
FALL = "a>y a>n y>n n>exit"
TO_3 = "goes to line 3"
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
def test_both_ways_are_certain(
    tmp_path: Path, source: str, shape: str, lines: Mapping[str, Sequence[Place]]
) -> None:
    taken = "a s" if "s>" in shape else "a y"
    assert _decision(tmp_path, source, shape, lines, taken).outcome == "yes"
    assert _decision(tmp_path, source, shape, lines, "a n").outcome == "no"


@pytest.mark.parametrize(
    ("source", "lines", "yes", "no"),
    [
        # Two conditions made one: it is not known which of them failed.
        ("if (x) {\n if (y)\n  z();\n}\nn();", {"a": [2], "y": [4], "n": [6]}, "yes", "goes to line 6"),
        ("if (x)\n z = y ? g() : 0;\nn();", {"a": [2], "y": [3], "n": [4]}, "yes", "goes to line 4"),
        ("if (x)\n CHECK(y);\nn();", {"a": [2], "y": [3], "n": [4]}, "yes", "goes to line 4"),
        ("if (x)\n y();\nn();", {"a": [2], "y": [(0, 7, 1)], "n": [4]}, "yes", "goes to line 4"),
        # What is guarded has no code of its own.
        ("if (x)\n y = 1;\nn();\nm();", {"a": [2], "y": [5], "n": [4]}, "goes to line 5", "goes to line 4"),
        # Both ways are in what is guarded: the branch decides something else.
        ("if (x) {\n y();\n n();\n}", {"a": [2], "y": [3], "n": [4]}, "goes to line 3", "goes to line 4"),
        # Nothing tells the ways apart.
        ("if (x) y(); else n();", {"a": [2], "y": [2], "n": [2]}, "way 1 of 2", "way 2 of 2"),
        ("return x ? y() : n();", {"a": [2], "y": [2], "n": [2]}, "way 1 of 2", "way 2 of 2"),
        ("f(x &&\n y);", {"a": [2], "y": [3], "n": [3]}, f"{TO_3}, way 1 of 2", f"{TO_3}, way 2 of 2"),
        # The jump leads to where control goes on without it.
        ("if (x) goto n;\nn: n();", {"a": [2], "y": [9], "n": [3]}, "goes to line 9", "goes to line 3"),
        # The same line may be tested again.
        ("if (x) y(); else if (z)\n n();", {"a": [2], "y": [2], "n": [3]}, "way 1 of 2", "goes to line 3"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_not_claimed(
    tmp_path: Path, source: str, lines: Mapping[str, Sequence[Place]], yes: str, no: str
) -> None:
    assert _decision(tmp_path, source, IF, lines, "a y", inlined=[3]).outcome == yes
    assert _decision(tmp_path, source, IF, lines, "a n", inlined=[3]).outcome == no


def test_on_one_line_the_next_test_is_not_what_is_guarded(tmp_path: Path) -> None:
    """A macro hides several tests: staying on the line may mean the next of them."""
    source, shape = "if (SAME(x)) y();\nn();", "a>b a>n b>y b>n y>n n>exit"
    lines = {"a": [2], "b": [2], "y": [2], "n": [3]}
    outcomes = _outcomes(tmp_path, source, shape, lines, ("a b", "a n", "b y", "b n"))
    assert outcomes == ["way 1 of 2", "goes to line 3", "yes", "no"]


def test_on_one_line_a_jump_alone_is_not_what_is_guarded(tmp_path: Path) -> None:
    """Compilers leave empty blocks on either side, with the line of the branch."""
    source, lines = "if (x) y();\nn();", {"a": [2], "y": [2], "n": [3]}
    assert _decision(tmp_path, source, FALL, lines, "a y", sizes={"y": 1}).outcome == "way 1 of 2"
    assert _decision(tmp_path, source, FALL, lines, "a n", sizes={"y": 1}).outcome == "goes to line 3"


TWO = "a>b a>n b>y b>n y>n n>exit"


def test_conditions_of_several_tests(tmp_path: Path) -> None:
    lines = {"a": [2], "b": [2], "y": [3], "n": [4]}
    both = "if (p && q)\n y();\nn();"
    outcomes = _outcomes(tmp_path, both, TWO, lines, ("a b", "a n", "b y", "b n"))
    assert outcomes == ["way 1 of 2", "no", "yes", "no"]
    either = "if (p || q)\n y();\nn();"
    shape = "a>y a>b b>y b>n y>n n>exit"
    outcomes = _outcomes(tmp_path, either, shape, lines, ("a y", "a b", "b y", "b n"))
    assert outcomes == ["yes", "way 2 of 2", "yes", "no"]
    # What is guarded is gone: leaving the first test may mean that the condition holds.
    gone = {"a": [2], "b": [2], "y": [5], "n": [4]}
    assert _decision(tmp_path, both, TWO, gone, "a n").outcome == "goes to line 4"
    assert _decision(tmp_path, "if (p || q)\n y = 1;\nn();", shape, gone, "a y").outcome == "goes to line 5"


def test_loops(tmp_path: Path) -> None:
    shape = "e>h h>b h>x b>h x>exit"
    lines = {"e": [2], "h": [2], "b": [3], "x": [4]}
    assert _decision(tmp_path, "while (x)\n b();\nx();", shape, lines, "h b").outcome == "yes"
    assert _decision(tmp_path, "while (x)\n b();\nx();", shape, lines, "h x").outcome == "no, left the loop"
    turned = "e>b e>x b>l l>b l>x x>exit"
    lines = {"e": [2], "b": [3], "l": [2], "x": [5]}
    source = "for (;x;) {\n b();\n}\nx();"
    assert _outcomes(tmp_path, source, turned, lines, ("e b", "e x", "l b", "l x")) == [
        "yes",
        "no",
        "yes",
        "no, left the loop",
    ]
    lines = {"b": [3], "c": [4], "n": [5], "l": [6], "x": [7]}
    source = "do {\n b();\n if (c) break;\n n();\n} while (l);\nx();"
    shape = "b>c c>x c>n n>l l>b l>x x>exit"
    assert _outcomes(tmp_path, source, shape, lines, ("c x", "c n", "l b", "l x")) == [
        "yes, left the loop at line 2",
        "no",
        "yes",
        "no, left the loop",
    ]


def test_a_loop_of_one_block_goes_round_unseen(tmp_path: Path) -> None:
    lines = {"e": [2], "b": [3, 2], "x": [4]}
    step = _decision(tmp_path, "while (x)\n b();\nx();", "e>b b>b b>x x>exit", lines, "b x")
    assert step.outcome == "any number of rounds, then no, left the loop"


def test_cases(tmp_path: Path) -> None:
    source = "switch (x) {\ncase 1:\n a();\n break;\ncase 2:\n b();\ncase 3:\n c();\n}\nd();"
    lines = {"s": [2], "a": [4], "b": [7], "c": [9], "d": [11]}
    shape = "s>d s>a s>b s>c a>d b>c c>d d>exit"
    kinds = {"s": BranchKind.SWITCH}
    outcomes = _outcomes(tmp_path, source, shape, lines, ("s d", "s a", "s b", "s c"), kinds)
    assert outcomes == ["goes to line 11", "case 1", "case 2", "goes to line 9"]


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
    assert step.words() == "2: g(); an exception is thrown, goes to line 4"


def test_languages_that_are_not_known_show_their_lines(tmp_path: Path) -> None:
    lines = {"a": [2], "y": [3], "n": [4]}
    step = _decision(tmp_path, "if x {\n y();\n}", FALL, lines, "a y", name="a.rs")
    assert step.words() == "2: if x { goes to line 3"
