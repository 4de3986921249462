"""The type of what an instruction of LLVM IR gives, told from its text.

Most instructions name the type of an operand, which is theirs too; calls name it behind words that say how
to call.  Members of a named type cannot be told, as the text of an instruction does not say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_STRING = r'"(?:[^"\\]|\\.)*"'
_NAMED = rf"%(?:{_STRING}|[-\w$.]+)"
_FLAGS = re.compile(
    r"(?:(?:nuw|nsw|nusw|exact|disjoint|nneg|samesign|inbounds|inrange\([^)]*\)|nnan|ninf|nsz|arcp|contract"
    r"|afn|reassoc|fast|atomic|volatile|weak) )*"
)
_SIMPLE = re.compile(
    r"(?:ptr(?: addrspace\([^)]*\))?|i\d+|half|bfloat|float|double|x86_fp80|fp128|ppc_fp128|x86_amx"
    rf"|{_NAMED})(?![-\w$.])"
)
_BRACKET = re.compile(rf"{_STRING}|[(\[{{<]|[)\]}}>]")
_COMMA = re.compile(rf"{_STRING}|[(\[{{<]|[)\]}}>]|, ")
_TO = re.compile(rf"{_STRING}|[(\[{{<]|[)\]}}>]| to ")
_WORD = re.compile(rf'(?:{_STRING}|[^\s("])+')
_VECTOR = re.compile(r"<((?:vscale x )?\d+) x (.*)>", re.DOTALL)
_ARRAY = re.compile(r"\[\d+ x (.*)\]", re.DOTALL)
_LEADING = re.compile(r"(?:(?:tail|musttail|notail) )?(\w+) ")

_OF_FIRST = re.compile(
    r"add|sub|mul|[us]div|[us]rem|shl|[la]shr|and|or|xor|fneg|fadd|fsub|fmul|fdiv|frem|freeze|phi|load"
    r"|insertelement|insertvalue"
)
_CAST = re.compile(
    r"trunc|zext|sext|fptrunc|fpext|fpto[us]i|[us]itofp|ptrtoint|ptrtoaddr|inttoptr|bitcast|addrspacecast"
)


def result_type(instruction: str) -> str | None:
    """The type of what an instruction gives; ``instruction`` is its text behind ``%name = ``."""
    leading = _LEADING.match(instruction)
    if leading is None:
        return None
    opcode, rest = leading.group(1), instruction[leading.end() :]
    if opcode in ("call", "invoke"):
        return _called(rest)
    flags = _FLAGS.match(rest)
    assert flags is not None
    rest = rest[flags.end() :]
    if _OF_FIRST.fullmatch(opcode):
        return _type_at(rest)
    if _CAST.fullmatch(opcode):
        return _after_to(rest)
    teller = _TELLERS.get(opcode)
    return None if teller is None else teller(rest)


def _called(text: str) -> str | None:
    """Of a call: the first type that follows the words on how it is called and what it gives."""
    position = 0
    while position < len(text):
        found = _type_at(text, position)
        if found is not None:
            return found
        word = _WORD.match(text, position)
        if word is None or word.group() in ("void", "token", "metadata"):
            return None
        position = word.end()
        if text.startswith("(", position):
            end = _closing(text, position)
            if end is None:
                return None
            position = end
        while text.startswith(" ", position):
            position += 1
    return None


def _compared(text: str) -> str | None:
    """Of a comparison, whose first word says of what kind it is: a bit, or as many as there are elements."""
    of = _type_at(text, text.find(" ") + 1)
    if of is None:
        return None
    vector = _VECTOR.fullmatch(of)
    return "i1" if vector is None else f"<{vector.group(1)} x i1>"


def _address(text: str) -> str | None:
    """Of getelementptr: as many pointers as its base has, or else as one of its indices has elements."""
    operands = [_type_at(operand) for operand in _operands(text)[1:] if not operand.startswith("!")]
    if not operands or operands[0] is None or _VECTOR.fullmatch(operands[0]):
        return operands[0] if operands else None
    for index in operands[1:]:
        vector = _VECTOR.fullmatch(index or "")
        if vector is not None:
            return f"<{vector.group(1)} x {operands[0]}>"
    return operands[0]


def _of_second(text: str) -> str | None:
    operands = _operands(text)
    return _type_at(operands[1]) if len(operands) > 1 else None


def _exchanged(text: str) -> str | None:
    of = _of_second(text)
    return None if of is None else f"{{ {of}, i1 }}"


def _element(text: str) -> str | None:
    vector = _VECTOR.fullmatch(_type_at(text) or "")
    return None if vector is None else vector.group(2)


def _shuffled(text: str) -> str | None:
    element, operands = _element(text), _operands(text)
    mask = _VECTOR.fullmatch(_type_at(operands[2]) or "") if len(operands) > 2 else None
    return None if mask is None or element is None else f"<{mask.group(1)} x {element}>"


def _member(text: str) -> str | None:
    """Of extractvalue: the member that its numbers lead to."""
    operands = _operands(text)
    of = _type_at(text)
    for number in operands[1:]:
        if of is None or not number.isdecimal():
            break
        array = _ARRAY.fullmatch(of)
        if array is not None:
            of = array.group(1)
            continue
        inner = of[1:-1] if of.startswith("<{") else of
        if not inner.startswith("{"):
            return None
        members = _operands(inner[1:-1].strip())
        of = members[int(number)].strip() if int(number) < len(members) else None
    return of


_TELLERS: dict[str, Callable[[str], str | None]] = {
    "icmp": _compared,
    "fcmp": _compared,
    "getelementptr": _address,
    "select": _of_second,
    "va_arg": _of_second,
    "atomicrmw": _of_second,
    "cmpxchg": _exchanged,
    "extractelement": _element,
    "shufflevector": _shuffled,
    "extractvalue": _member,
}


def _type_at(text: str, position: int = 0) -> str | None:
    """The type that stands at a position."""
    simple = _SIMPLE.match(text, position)
    if simple is not None:
        return simple.group()
    if text.startswith("target(", position):
        end = _closing(text, position + len("target"))
    elif text[position : position + 1] in ("{", "[", "<"):
        end = _closing(text, position)
    else:
        return None
    return None if end is None else text[position:end]


def _closing(text: str, position: int) -> int | None:
    """Where a bracket's inside and its closing one end."""
    depth = 0
    for match in _BRACKET.finditer(text, position):
        if match.group() in "([{<":
            depth += 1
        elif match.group() in ")]}>":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _operands(text: str) -> list[str]:
    """What the commas outside all brackets divide."""
    pieces: list[str] = []
    start = depth = 0
    for match in _COMMA.finditer(text):
        found = match.group()
        if found == ", ":
            if depth == 0:
                pieces.append(text[start : match.start()])
                start = match.end()
        elif found in "([{<":
            depth += 1
        elif found in ")]}>":
            depth -= 1
    return [*pieces, text[start:]]


def _after_to(text: str) -> str | None:
    """The type behind a cast's own ``to``; its operand may be a cast of a constant, in brackets."""
    depth = 0
    for match in _TO.finditer(text):
        found = match.group()
        if found == " to ":
            if depth == 0:
                return _type_at(text, match.end())
        elif found in "([{<":
            depth += 1
        elif found in ")]}>":
            depth -= 1
    return None
