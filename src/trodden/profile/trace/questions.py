"""The language of questions about a trace: ``docs/command-line.md`` describes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trodden.errors import UsageError
from trodden.profile.trace.executed import Place

_LINE = re.compile(r"(?:(?P<file>[^:]+):)?(?P<line>\d+)")
_WORD = re.compile(r"\"[^\"]*\"(?!\S)|'[^']*'(?!\S)|\S+")
_ENDS = ("between", "and", "through")
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

    def with_places(self, meant: Callable[[Place], Place]) -> Query:
        """The question with what ``meant`` says of each of its lines."""

        def of(part: Happening | None) -> Happening | None:
            return replace(part, place=meant(part.place)) if part and part.kind == "line" else part

        return replace(self, what=of(self.what), start=of(self.start), stop=of(self.stop))


def parse(text: str) -> Query:
    """A question from its text."""
    query = _parse(_WORD.findall(text))
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
        case ["calls", *rest] if "through" in rest:
            at = rest.index("through")
            function, what = _name(rest[:at]), _happening(rest[at + 1 :])
            is_call = function and what and what.kind == "line"
            return Query("calls", what, function=function) if is_call else None
    return None


def _two(words: Sequence[str]) -> tuple[Happening, Happening] | None:
    if "and" not in words:
        return None
    at = words.index("and")
    first, second = _happening(words[:at]), _happening(words[at + 1 :])
    return (first, second) if first and second else None


def _happening(words: Sequence[str]) -> Happening | None:
    match words:
        case ["enter" | "leave" as kind, *rest]:
            function = _name(rest)
            return Happening(kind, function=function) if function else None
        case ["signal"]:
            return Happening("signal")
        case ["line", line] | [line]:
            found = _LINE.fullmatch(_unquoted(line))
            return Happening("line", Place(found["file"] or "", int(found["line"]))) if found else None
    return None


def _name(words: Sequence[str]) -> str:
    """The name of a function, which may have blanks; empty if there is none, or a word that is none of it."""
    if any(word in _ENDS for word in words):
        return ""
    return " ".join(map(_unquoted, words))


def _unquoted(word: str) -> str:
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word
