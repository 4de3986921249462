"""Makes a program smaller as long as its counts differ from its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tests.fuzz.counting.program import Program

_NEEDED = re.compile(r"\b(return|break|case|default|goto|ENTER|__builtin_\w+|volatile)\b|^\s*\w+:")
_FUNCTION = re.compile(r"^static int f\d\(int start\) \{$")


def reduced(
    program: Program, differs: Callable[[Program], Sequence[str]], attempts: int
) -> tuple[Program, Sequence[str]]:
    """A program with fewer statements that still differs, and how it does, after so many attempts."""
    left: Sequence[str] = ()
    at = 0
    for _ in range(attempts):
        chunk = next((each for each in _chunks(program.first) if each[0] >= at), None)
        if chunk is None:
            break
        first, last = chunk
        lines = program.first.splitlines()
        candidate = replace(program, first="\n".join([*lines[:first], *lines[last + 1 :]]) + "\n")
        found = differs(candidate)
        if found and _kind(found) != "does not compile":
            program, left, at = candidate, found, first
        else:
            at = first + 1
    return program, left


def _kind(differences: Sequence[str]) -> str:
    return differences[0].partition(":")[0]


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """The lines of statements, and of compound statements, that a structured function may do without."""
    lines = text.splitlines()
    inside = False
    for number, line in enumerate(lines):
        if _FUNCTION.match(line):
            inside = True
        elif line == "}":
            inside = False
        elif inside and line.endswith(("{", ";")):
            last = _end(lines, number)
            if not any(_NEEDED.search(each) for each in lines[number : last + 1]):
                yield number, last


def _end(lines: Sequence[str], start: int) -> int:
    """The last line of the statement that begins on a line."""
    if not lines[start].endswith("{"):
        return start
    indent = len(lines[start]) - len(lines[start].lstrip())
    for number in range(start + 1, len(lines)):
        line = lines[number]
        text = line.lstrip()
        if len(line) - len(text) == indent and text.startswith("}") and not text.endswith("{"):
            return number
    return len(lines) - 1
