"""The statements of a source and their conditions."""

from __future__ import annotations

import pytest

from trodden.report.narrate.statements import Statement, Structure, knows_language, read_structure
from trodden.report.narrate.switches import label_at
from trodden.report.narrate.tokens import SourceText


def _read(source: str, first: int = 1, least: int | None = None) -> Structure:
    return read_structure(SourceText(source.splitlines()), first, least)


def _bodies(source: str) -> list[tuple[str, list[int]]]:
    return [(each.text, list(each.body)) for each in _read(source).statements]


def _only(source: str) -> Statement:
    [statement] = _read(source).statements
    return statement


@pytest.mark.parametrize(
    ("source", "text", "body"),
    [
        ("if (x)\n  y();\nz();", "if (x)", [2]),
        ("if (x) {\n  y();\n}\nz();", "if (x)", [2, 3]),
        ("if (x)\n{\n  y();\n}\nz();", "if (x)", [3, 4]),
        ("if (x) {\n  y();\n} else {\n  z();\n}", "if (x)", [2]),
        ("if (x &&\n    y)\n  z();\nw();", "if (x && y)", [3]),
        ("if (f(\")\", '(')) // {\n  z(); /* } */\nw();", "if (f(\")\", '('))", [2]),
        ("for (;;) {\n  x();\n}", "for (;;)", [2, 3]),
        ("while (x)\n  y(a,\n    b);\nz();", "while (x)", [2, 3]),
        ("do {\n  x();\n} while (y);\nz();", "while (y)", [2]),
        ("do\n  x();\nwhile (y);\nz();", "while (y)", [2]),
        ("if (x) [[likely]] {\n  y();\n}\nz();\nw();", "if (x)", [2, 3]),
        ("if constexpr (x)\n  y();\nz();", "if constexpr (x)", [2]),
        ("if (x)\n  EACH(a) {\n    y();\n  }\nz();", "if (x)", [2, 3, 4]),
        ("if (x)\n  f([](int a) { return a; },\n    b);\nz();", "if (x)", [2, 3]),
        ("if (x)\n  try {\n    y();\n  } catch (int) {\n    z();\n  }\nw();", "if (x)", [2, 3, 4, 5, 6]),
        ('if (x == 1\'000)\n  y = R"(\n}\n)";\nz();', "if (x == 1'000)", [2, 3, 4]),
        ("if (x) y();\nz();", "if (x)", []),
        ("while (x) ;\nz();", "while (x)", []),
    ],
)
def test_what_a_statement_guards(source: str, text: str, body: list[int]) -> None:
    assert _bodies(source) == [(text, body)]


def test_statements_in_each_other() -> None:
    source = "if (a)\n  if (b)\n    x();\n  else\n    y();\nelse\n  for (;;)\n    z();\nw();"
    assert _bodies(source) == [("if (a)", [2, 3, 4, 5]), ("if (b)", [3]), ("for (;;)", [8])]


def test_an_else_on_the_line_of_a_bracket_is_not_guarded() -> None:
    source = "if (a) {\n  x();\n} else if (b) {\n  y();\n}\nz();"
    assert _bodies(source) == [("if (a)", [2]), ("if (b)", [4, 5])]
    second = _read(source).deciding(3)
    assert isinstance(second, Statement)
    assert second.text == "if (b)"


@pytest.mark.parametrize(
    "line",
    [
        "if (x) if (y)",
        "if (x) a = b ? c :",
        "a = b && c; if (x)",
        "for (;;) while (x)",
        "plain(x);",
    ],
)
def test_lines_on_which_something_else_may_decide(line: str) -> None:
    assert _read(f"{line}\n  z();\nw();").deciding(1) is None


def test_tests_of_a_condition() -> None:
    assert _only("if (a && (b || c))\n  x();").tests == {"&&", "||"}
    assert _only("if (a)\n  x = b && c;").tests == set()


def test_alternatives_of_the_preprocessor_keep_brackets_in_pairs() -> None:
    source = "#ifdef A\nif (a) {\n#elif B\nif (b) {\n#else\nif (c) {\n#endif\n  x();\n}\nif (d)\n  y();"
    assert _bodies(source) == [("if (a)", [8, 9]), ("if (d)", [11])]
    assert _bodies("#if 0\nif (a) {\n#else\nif (b)\n#endif\n  x();") == [("if (b)", [6])]
    assert _bodies("#define IF(x) if (x) { \\\n  y(); }\nif (a)\n  z();") == [("if (a)", [4])]


@pytest.mark.parametrize("source", ["if (x) {\n  y();", "if (x) }\n  y();", "if (x)) {\n}", ""])
def test_a_source_that_makes_no_sense_says_nothing(source: str) -> None:
    assert _read(source).statements == []


def test_only_one_function_is_read() -> None:
    source = "int f() {\n  if (a)\n    x();\n}\nint g() {\n  if (b)\n    y();\n}\nvoid odd() { {"
    assert [each.text for each in _read(source, 1, 3).statements] == ["if (a)"]
    assert [each.text for each in _read(source, 5, 7).statements] == ["if (b)"]
    constructor = "A::A()\n  : a{1},\n    b{2} {\n  if (c)\n    x();\n}\nint f() { {"
    assert [each.text for each in _read(constructor, 1, 5).statements] == ["if (c)"]


SWITCH = """\
switch (op) {
case 1:
  a();
  break;
case 2: case 'x':
  b();
case 3:
  c();
  return x ? 1 : 2;
case A ? 4 : 5: {
  d();
  break;
}
case 6:
  if (e) break;
default:
  f();
}
"""


@pytest.mark.parametrize(
    ("line", "label"),
    [
        (3, "case 1"),
        (6, "case 2 or case 'x'"),
        (8, None),
        (11, "case A ? 4 : 5"),
        (15, "case 6"),
        (17, None),
        (1, None),
    ],
)
def test_the_label_that_leads_to_a_line(line: int, label: str | None) -> None:
    found = label_at(_read(SWITCH).statements[0].labels, line)
    assert (found.text if found else None) == label


def test_labels_belong_to_the_switch_around_them() -> None:
    source = "switch (a) {\ncase 1:\n  switch (b) {\n  case 2:\n    x();\n  }\n  break;\ncase 3:\n  y();\n}"
    outer, inner = _read(source).statements
    assert [each.text for each in outer.labels] == ["case 1", "case 3"]
    assert [each.text for each in inner.labels] == ["case 2"]
    crowded = _only("switch (a) {\ncase 1: x(); break; case 2: y();\n}")
    assert label_at(crowded.labels, 2) is None


def test_the_loop_around_lines() -> None:
    source = "for (;;) {\n  x();\n  do {\n    y();\n  } while (a);\n}\nz();"
    structure = _read(source)
    for lines, begin in (([4, 5], 3), ([2], 1), ([4, 2], 1), ([1, 5], 1)):
        found = structure.loop_around(lines)
        assert found is not None
        assert found.begin == begin
    assert structure.loop_around([7]) is None


def test_languages() -> None:
    assert knows_language("/src/a.c")
    assert knows_language("/src/a.HPP")
    assert knows_language("/usr/include/c++/v1/vector")
    assert not knows_language("/src/a.rs")
    assert not knows_language("/src/Makefile")
