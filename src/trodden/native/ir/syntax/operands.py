"""The operands of an instruction, read off what follows its opcode.

Which of the elements between the commas are operands, and which of them name their type, is a matter of the
opcode; the LangRef has the syntax of each.  The order is that of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trodden.native.ir.syntax.grammar import (
    LANDINGPAD_CLAUSE,
    PHI_INCOMING_END,
    SUCCESSOR,
    TYPED_VALUE,
    VALUE,
    WORD,
)
from trodden.native.ir.syntax.nesting import closing, split_list
from trodden.native.ir.syntax.opcodes import BINARY, COMPARISONS, CONSTANT_EXPRESSIONS, SIMPLE_CONSTANTS
from trodden.native.ir.syntax.types import first_type, type_end

_LEADING_TYPE = frozenset({"load", "getelementptr", "alloca"})
"""Opcodes whose first element is a type alone."""


class Operand(NamedTuple):
    """A value as it is printed, with its type and, of an argument, its attributes."""

    type: str
    value: str
    attributes: str = ""

    @property
    def local(self) -> str | None:
        """The name of a local value (without its prefix); None for a constant or a global."""
        return self.value[1:] if self.value.startswith("%") else None


def read_operands(opcode: str, rest: str) -> tuple[Operand, ...]:
    """The operands of an instruction that is no call; ``rest`` follows its opcode, without attachments."""
    reader = _READERS.get(opcode)
    return tuple(_typed_elements(opcode, rest) if reader is None else reader(rest))


def is_integer(value: str) -> bool:
    """Whether a value is an integer constant, and no Boolean one."""
    return value.removeprefix("-").isdecimal()


def typed_value(text: str) -> Operand | None:
    """A type, attributes and a value: an argument of a call, or an element of most other lists."""
    simple = TYPED_VALUE.match(text)
    if simple is not None:
        return Operand(*simple.groups())
    end = type_end(text)
    if end is None:
        return None
    type_ = text[:end]
    if type_ == "metadata":
        return Operand(type_, text[end + 1 :])
    start = position = end + 1
    while (word := VALUE.match(text, position)) is not None and not _begins_value(word.group()):
        position = word.end()
        if word.group() in ("align", "alignstack") and text.startswith(" ", position):
            number = WORD.match(text, position + 1)
            position = position if number is None else number.end()
        elif text.startswith("(", position):
            position = closing(text, position) or len(text)
        while text.startswith(" ", position):
            position += 1
    stop = value_end(text, position)
    return Operand(type_, text[position:stop], text[start:position].rstrip())


def value_end(text: str, start: int) -> int:
    """The end of the value at ``start``."""
    first = VALUE.match(text, start)
    if first is None:
        # An aggregate, or a vector.
        return closing(text, start) or len(text)
    end = first.end()
    if first.group() in ("dso_local_equivalent", "no_cfi"):
        return value_end(text, end + 1)
    if first.group() in CONSTANT_EXPRESSIONS:
        return _expression_end(text, end)
    return end


def _expression_end(text: str, position: int) -> int:
    """The end of a constant expression, whose opcode ends at ``position``: flags and a list in brackets."""
    if text.startswith("(", position):
        return closing(text, position) or len(text)
    while not text.startswith(" (", position):
        flag = WORD.match(text, position + 1)
        if flag is None:
            return position
        position = flag.end()
        if text.startswith("(", position):
            position = closing(text, position) or len(text)
    return closing(text, position + 1) or len(text)


def _begins_value(word: str) -> bool:
    if word[0] in "%@!-0123456789":
        return True
    if word in SIMPLE_CONSTANTS or word in CONSTANT_EXPRESSIONS:
        return True
    return word.startswith(('c"', "f0x", "s0x", "u0x"))


def phi_incoming(rest: str) -> tuple[str, tuple[tuple[str, str], ...], int]:
    """Of a phi: its type with the flags before it, its pairs of value and label, and where they end."""
    start = position = rest.index(" [ ") + 3
    head = rest[: position - 3]
    # The type may be an array.
    while head.count("[") != head.count("]"):
        start = position = rest.index(" [ ", position) + 3
        head = rest[: position - 3]
    pairs: list[tuple[str, str]] = []
    while (match := PHI_INCOMING_END.search(rest, position)) is not None:
        position = match.end()
        if match.group(1) is not None:
            pairs.append((rest[start : match.start()], match.group(1)))
            if not rest.startswith(", [ ", position):
                break
            start = position = position + len(", [ ")
    return head, tuple(pairs), position


def _typed_elements(opcode: str, rest: str) -> Iterator[Operand]:
    start = first_type(rest)
    if start is None:
        return
    shared = opcode in BINARY or opcode in COMPARISONS
    elements = split_list(rest[start:])
    if opcode in _LEADING_TYPE:
        elements = elements[1:]
    first = typed_value(elements[0]) if elements else None
    if shared:
        if first is not None:
            yield first
            for element in elements[1:]:
                yield Operand(first.type, element)
        return
    most = 2 if opcode == "shufflevector" else 1 if opcode == "va_arg" else len(elements)
    for element in elements[:most]:
        operand = typed_value(element)
        if operand is not None and operand.type != "void":
            yield operand


def _phi(rest: str) -> Iterator[Operand]:
    head, pairs, _ = phi_incoming(rest)
    start = first_type(head)
    type_ = "" if start is None else head[start:]
    for value, _ in pairs:
        yield Operand(type_, value)


def _with_labels(rest: str) -> Iterator[Operand]:
    """``switch`` and ``indirectbr``: a value, and labels; the constants of cases are no operands."""
    operand = typed_value(rest)
    if operand is not None:
        yield operand
        for label in SUCCESSOR.findall(rest, len(operand.type) + 1 + len(operand.value)):
            yield Operand("label", f"%{label}")


def _landingpad(rest: str) -> Iterator[Operand]:
    for _, clause in LANDINGPAD_CLAUSE.findall(rest):
        operand = typed_value(clause)
        if operand is not None:
            yield operand


def _pad(rest: str) -> Iterator[Operand]:
    """``catchpad`` and ``cleanuppad``: ``within`` a parent, with arguments in brackets."""
    bracket = rest.index("[")
    yield Operand("token", rest[:bracket].split()[1])
    for element in split_list(rest[bracket + 1 : rest.rindex("]")]):
        operand = typed_value(element)
        if operand is not None:
            yield operand


def _funclet_terminator(rest: str) -> Iterator[Operand]:
    """``catchswitch``, ``catchret`` and ``cleanupret``: a pad, and labels."""
    yield Operand("token", rest.split()[1])
    for label in SUCCESSOR.findall(rest):
        yield Operand("label", f"%{label}")


_READERS: dict[str, Callable[[str], Iterator[Operand]]] = {
    "phi": _phi,
    "switch": _with_labels,
    "indirectbr": _with_labels,
    "landingpad": _landingpad,
    "catchpad": _pad,
    "cleanuppad": _pad,
    "catchswitch": _funclet_terminator,
    "catchret": _funclet_terminator,
    "cleanupret": _funclet_terminator,
    "fence": lambda _: iter(()),
}
