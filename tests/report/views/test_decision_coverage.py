"""MC/DC as paths tell it, compared with all pairs of evaluations of the same decisions."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest

import trodden
from trodden.report.views.coverage import report_coverage

Decision = str | tuple["Decision", str, "Decision"]
"""The name of a condition, or two operands of ``&&`` or ``||``."""

_LAYOUTS = [
    "    if ({})\n        y++;\n    return y;",
    "    if ({}) y++; return y;",
    "    if ({}) return 1; else return 2;",
    "    if ({}) {{\n        y++;\n    }} else {{\n        y--;\n    }}\n    return y;",
    "    return {} ? y + 1 : y * 2;",
    "    y = {}\n        ? y + 1\n        : y * 2;\n    return y;",
    "    while ({}) {{\n        if (y++ > 0) break;\n    }}\n    return y;",
    "    while ({}) {{ y++; a = b = c = d = 0; }}\n    return y;",
    "    for (; {}; a = b = c = d = 0) y++;\n    return y;",
    "    do {{\n        if (y++ > 0)\n            a = b = c = d = 0;\n    }} while ({});\n    return y;",
]


def _decision(chance: random.Random, names: str) -> Decision:
    if len(names) == 1:
        return names
    cut = chance.randrange(1, len(names))
    return _decision(chance, names[:cut]), chance.choice(["&&", "||"]), _decision(chance, names[cut:])


def _text(decision: Decision) -> str:
    return decision if isinstance(decision, str) else f"({' '.join(map(_text, decision))})"


def _evaluate(decision: Decision, values: dict[str, bool], evaluated: dict[str, bool]) -> bool:
    if isinstance(decision, str):
        evaluated[decision] = values[decision]
        return values[decision]
    left, operator, right = decision
    result = _evaluate(left, values, evaluated)
    return result if result is (operator == "||") else _evaluate(right, values, evaluated)


def _independent(decision: Decision, inputs: list[dict[str, bool]]) -> int:
    executions = []
    for values in inputs:
        evaluated: dict[str, bool] = {}
        executions.append((_evaluate(decision, values, evaluated), evaluated))
    found = set()
    for (one, first), (other, second) in combinations(executions, 2):
        differing = [name for name in first.keys() & second.keys() if first[name] != second[name]]
        if one is not other and len(differing) == 1:
            found.add(differing[0])
    return len(found)


@pytest.fixture(scope="module")
def cases() -> list[tuple[Decision, str, list[dict[str, bool]]]]:
    """Decisions in several layouts, with the inputs that they are executed with, one call for each."""
    chance = random.Random(7)
    found = []
    for layout in _LAYOUTS * 2:
        names = "abcd"[: chance.randrange(2, 5)]
        inputs = [{name: chance.random() < 0.5 for name in "abcd"} for _ in range(chance.randrange(2, 9))]
        found.append((_decision(chance, names), layout, inputs))
    return found


def test_conditions_that_decide_alone(
    cases: list[tuple[Decision, str, list[dict[str, bool]]]], tmp_path: Path
) -> None:
    source, calls, expected = ["static int y;"], [], {}
    for number, (decision, layout, inputs) in enumerate(cases):
        source += [f"static int f{number}(int a, int b, int c, int d) {{"]
        source += [layout.format(_text(decision)), "}"]
        repeated = "a = b" in layout and any(_evaluate(decision, values, {}) for values in inputs)
        seen = [*inputs, *[dict.fromkeys("abcd", False)] * repeated]
        conditions = len(_text(decision).translate(dict.fromkeys(map(ord, "()&| "))))
        expected[f"f{number}"] = _independent(decision, seen), conditions
        for values in inputs:
            calls.append(f"    y = 0, f{number}({', '.join(str(int(values[name])) for name in 'abcd')});")
    program = tmp_path / "decisions.c"
    program.write_text("\n".join([*source, "int main(void) {", *calls, "    return 0;", "}", ""]))
    profile = trodden.run(program, "-O0", profile="paths").profile
    decisions = report_coverage([profile], ["x"]).decisions
    found = {each.function: (each.conditions.covered, each.conditions.total) for each in decisions}
    assert found == expected


def test_a_decision_with_other_branches_than_its_conditions_is_left_out(tmp_path: Path) -> None:
    """Whether a temporary object was made, and has to be destroyed, is a branch of its own."""
    program = tmp_path / "temporary.cpp"
    program.write_text(
        "static int destroyed;\n"
        "struct Guard {\n"
        "    int n;\n"
        "    explicit Guard(int n) : n(n) {}\n"
        "    ~Guard() { destroyed++; }\n"
        "    bool ok() const { return n > 1; }\n"
        "};\n"
        "static int f(int a, int b) {\n"
        "    if (Guard(a).ok() && Guard(b).ok())\n"
        "        return 1;\n"
        "    if (a && b)\n"
        "        return 2;\n"
        "    return 0;\n"
        "}\n"
        "int main() { return f(2, 2) + f(1, 2) + f(2, 1) + f(0, 2) - 5; }\n"
    )
    profile = trodden.run(program, "-O0", profile="paths").profile
    decisions = report_coverage([profile], ["x"]).decisions
    assert [(each.line, each.conditions.covered, each.conditions.total) for each in decisions] == [(11, 1, 2)]
