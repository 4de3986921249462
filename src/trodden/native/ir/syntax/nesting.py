"""Brackets and lists in IR text: where a bracket is closed, and what the commas outside brackets separate."""

from __future__ import annotations

from trodden.native.ir.syntax.grammar import BRACKET, BRACKET_OR_COMMA, BRACKET_OR_TO


def closing(text: str, start: int) -> int | None:
    """The end of the bracket that opens at ``start``, its closing character included; None if it has none."""
    depth = 0
    for match in BRACKET.finditer(text, start):
        found = match.group()
        if found in "([{<":
            depth += 1
        elif found in ")]}>":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def enclosed(text: str, start: int) -> str:
    """The text between the bracket at ``start`` and the one that closes it; the rest if none does."""
    end = closing(text, start)
    return text[start + 1 :] if end is None else text[start + 1 : end - 1]


def split_list(text: str) -> list[str]:
    """The elements of a comma-separated list; a list of nothing has none."""
    elements: list[str] = []
    start = depth = 0
    if "(" in text or "{" in text or "[" in text or "<" in text or '"' in text:
        for match in BRACKET_OR_COMMA.finditer(text):
            found = match.group()
            if found == ",":
                if depth == 0:
                    elements.append(text[start : match.start()].strip())
                    start = match.end()
            elif found in "([{<":
                depth += 1
            elif found in ")]}>":
                depth -= 1
        elements.append(text[start:].strip())
    else:
        elements = [element.strip() for element in text.split(",")]
    return elements if elements != [""] else []


def find_to(text: str) -> int | None:
    """The end of a cast's own ``to``: a cast of a constant may precede it, in brackets."""
    depth = 0
    for match in BRACKET_OR_TO.finditer(text):
        found = match.group()
        if found == " to ":
            if depth == 0:
                return match.end()
        elif found in "([{<":
            depth += 1
        elif found in ")]}>":
            depth -= 1
    return None
