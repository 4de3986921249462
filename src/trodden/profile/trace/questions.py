"""The language of questions about a trace: ``docs/command-line.md`` describes it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trodden.errors import UsageError
from trodden.profile.trace.executed import Place

_LINE = re.compile(r"(?:(?P<file>[^\s:]+):)?(?P<line>\d+)")
_NO_PLACE = Place("", 0)
HINT = (
    "ask for: last A; first A; count A; count A between A and A; between A and A;"
    " calls FUNCTION through LINE; where A is a line ([FILE:]N), enter FUNCTION, leave FUNCTION or signal"
)


@dataclass(frozen=True)
class Happening:
    """What is asked for: a line was executed, a function was entered or left, or a signal handler called."""

    kind: str
    place: Place = _NO_PLACE
    function: str = ""


@dataclass(frozen=True)
class Query:
    """A question: its verb, what it is about, and between what."""

    verb: str
    what: Happening | None = None
    start: Happening | None = None
    stop: Happening | None = None
    function: str = ""


def parse(text: str) -> Query:
    """A question from its text."""
    words = text.split()
    query = _parse(words)
    if query is None:
        raise UsageError(f"{text}: is no question about a trace; {HINT}")
    return query


def _parse(words: Sequence[str]) -> Query | None:
    match words:
        case ["last" | "first" | "count" as verb, *rest]:
            if "between" in rest and verb == "count":
                at = rest.index("between")
                what, ends = _happening(rest[:at]), _two(rest[at + 1 :])
                return Query(verb, what, *ends) if what and ends else None
            what = _happening(rest)
            return Query(verb, what) if what else None
        case ["between", *rest]:
            ends = _two(rest)
            return Query("between", None, *ends) if ends else None
        case ["calls", function, "through", line]:
            what = _happening([line])
            return Query("calls", what, function=function) if what and what.kind == "line" else None
    return None


def _two(words: Sequence[str]) -> tuple[Happening, Happening] | None:
    if "and" not in words:
        return None
    at = words.index("and")
    first, second = _happening(words[:at]), _happening(words[at + 1 :])
    return (first, second) if first and second else None


def _happening(words: Sequence[str]) -> Happening | None:
    match words:
        case ["enter" | "leave" as kind, function]:
            return Happening(kind, function=function)
        case ["signal"]:
            return Happening("signal")
        case ["line", line] | [line]:
            found = _LINE.fullmatch(line)
            return Happening("line", Place(found["file"] or "", int(found["line"]))) if found else None
    return None
