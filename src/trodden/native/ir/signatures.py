"""The types of functions and of calls in IR text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_WORD = re.compile(r"[^\s(\[{<,]+")


def signature(returned: str, arguments: str) -> str:
    """The type of a function, given what stands before its name and inside its brackets."""
    return f"{_last_type(returned)}({','.join(_first_type(each) for each in split_arguments(arguments))})"


def call_signature(before: str, arguments: str) -> str:
    """The type of what is called, which is written out before a callee that takes any number of arguments."""
    written = before.rstrip()
    if written.endswith(")") and " (" in written:
        start = written.index(" (")
        return signature(written[:start], enclosed(written, start + 1))
    return signature(before, arguments)


def split_arguments(text: str) -> list[str]:
    """A list in brackets, cut at its commas."""
    return [text[start:end].strip() for start, end in _cuts(text) if text[start:end].strip()]


def enclosed(text: str, start: int) -> str:
    """What stands between the bracket at ``start`` and the one that closes it."""
    return text[start + 1 : _closing(text, start)]


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    start = position = 0
    while position < len(text):
        character = text[position]
        if character == '"':
            position = text.find('"', position + 1)
            if position < 0:
                break
        elif character in _PAIRS:
            position = _closing(text, position)
        elif character == ",":
            yield start, position
            start = position + 1
        position += 1
    yield start, len(text)


def _closing(text: str, start: int) -> int:
    """Where the bracket at ``start`` is closed; the end of the text if it is not."""
    depth = 0
    position = start
    while position < len(text):
        character = text[position]
        if character == '"':
            position = text.find('"', position + 1)
            if position < 0:
                break
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
            if not depth:
                return position
        position += 1
    return len(text)


def _first_type(argument: str) -> str:
    if argument[:1] in _PAIRS:
        return argument[: _closing(argument, 0) + 1].replace(" ", "")
    word = _WORD.match(argument)
    return word.group() if word is not None else argument


def _last_type(text: str) -> str:
    """The type at the end of the words between ``call`` or ``define`` and a name."""
    text = text.rstrip()
    if text.endswith(")") and " (" in text:
        text = text[: text.index(" (")]
    if text.endswith(("]", "}", ">")):
        opening = {"]": "[", "}": "{", ">": "<"}[text[-1]]
        return text[text.index(opening) :].replace(" ", "")
    return text.rpartition(" ")[2]
