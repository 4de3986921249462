"""The language of questions about a trace."""

from __future__ import annotations

import pytest

from trodden.errors import UsageError
from trodden.profile.trace.executed import Place
from trodden.profile.trace.questions import Happening, Query, parse

ENTER = Happening("enter", function="f")
LINE = Happening("line", Place("", 7))
MAIN = Happening("line", Place("src/main.c", 8))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("last 7", Query("last", LINE)),
        ("first line 7", Query("first", LINE)),
        ("count src/main.c:8", Query("count", MAIN)),
        ("count enter f between 7 and signal", Query("count", ENTER, LINE, Happening("signal"))),
        ("between 7 and leave g*", Query("between", None, LINE, Happening("leave", function="g*"))),
        ("calls f through src/main.c:8", Query("calls", MAIN, function="f")),
        ("calls f(int, g*) const through 7", Query("calls", LINE, function="f(int, g*) const")),
        ("first enter 'a and  b'", Query("first", Happening("enter", function="a and  b"))),
        ('last "my file.c:7"', Query("last", Happening("line", Place("my file.c", 7)))),
    ],
)  # fmt: skip
def test_questions(text: str, query: Query) -> None:
    assert parse(text) == query


@pytest.mark.parametrize(
    "text",
    [
        "",
        "last",
        "last f",
        "count 7 between 8",
        "between 7",
        "calls f through enter g",
        "calls f",
        "when 7",
        "last enter",
        "last enter f between 7 and 8",
        "calls through 7",
    ],
)
def test_what_is_no_question_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no question"):
        parse(text)
