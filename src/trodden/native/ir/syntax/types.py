"""Types in IR text."""

from __future__ import annotations

from trodden.native.ir.syntax.grammar import ARRAY_TYPE, SIMPLE_TYPE, VECTOR_TYPE, WORD
from trodden.native.ir.syntax.nesting import closing, split_list


def type_end(text: str, start: int = 0) -> int | None:
    """The end of the type at ``start``; None if there is none."""
    simple = SIMPLE_TYPE.match(text, start)
    if simple is not None:
        return simple.end()
    if text[start : start + 1] in ("{", "[", "<"):
        return closing(text, start)
    if text.startswith("target(", start):
        return closing(text, start + len("target"))
    return None


def type_at(text: str, start: int = 0) -> str | None:
    """The type at ``start``."""
    end = type_end(text, start)
    return None if end is None else text[start:end]


def first_type(text: str, start: int = 0) -> int | None:
    """Where the first type begins: after flags, a predicate, a calling convention, result attributes."""
    while start < len(text):
        if type_end(text, start) is not None:
            return start
        word = WORD.match(text, start)
        if word is None:
            return None
        start = word.end()
        if text.startswith("(", start):
            end = closing(text, start)
            if end is None:
                return None
            start = end
        while text.startswith(" ", start):
            start += 1
    return None


def vector_like(shape: str, element: str) -> str:
    """An element's type, or a vector of as many as the type ``shape`` has."""
    vector = VECTOR_TYPE.fullmatch(shape)
    return element if vector is None else f"<{vector.group(1)} x {element}>"


def element_type(vector: str) -> str | None:
    """The type of a vector's elements."""
    match = VECTOR_TYPE.fullmatch(vector)
    return None if match is None else match.group(2)


def member_type(aggregate: str, index: int) -> str | None:
    """The type of a member of an array or of a structure; None for a named type."""
    array = ARRAY_TYPE.fullmatch(aggregate)
    if array is not None:
        return array.group(1)
    structure = aggregate[1:-1] if aggregate.startswith("<{") else aggregate
    if not structure.startswith("{"):
        return None
    members = split_list(structure[1:-1])
    return members[index] if index < len(members) else None
