"""The type of an instruction's result, derived from its text.

Most instructions name the type of an operand, which is theirs too; calls name it after calling convention and
attributes.  Members of a named type are unknown, as the text of an instruction does not determine them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trodden.native.ir.syntax.nesting import find_to, split_list
from trodden.native.ir.syntax.opcodes import BINARY, CASTS
from trodden.native.ir.syntax.operands import Operand, phi_incoming
from trodden.native.ir.syntax.types import element_type, first_type, member_type, type_at, vector_like

_OF_FIRST_OPERAND = BINARY | {"fneg", "freeze", "insertelement", "insertvalue"}
_POINTER = "ptr"


def result_type(opcode: str, rest: str, operands: Callable[[], Sequence[Operand]]) -> str | None:
    """The type of the result of an instruction that is no call; None where it has none, or one unknown.

    ``rest`` follows the opcode, without attachments.
    """
    if opcode in _OF_FIRST_OPERAND:
        return operands()[0].type
    if opcode in CASTS:
        end = find_to(rest)
        return None if end is None else type_at(rest, end)
    reader = _READERS.get(opcode)
    return None if reader is None else reader(rest, operands)


_Operands = Callable[[], Sequence[Operand]]


def _first(rest: str, operands: _Operands) -> str | None:
    """``load`` and ``landingpad``: the first type that is named."""
    start = first_type(rest)
    return None if start is None else type_at(rest, start)


def _phi(rest: str, operands: _Operands) -> str | None:
    return _first(phi_incoming(rest)[0], operands)


def _comparison(rest: str, operands: _Operands) -> str | None:
    return vector_like(operands()[0].type, "i1")


def _address(rest: str, operands: _Operands) -> str | None:
    """``getelementptr``: as many pointers as its base has, or else as one of its indices has elements."""
    base, *indices = (operand.type for operand in operands())
    if element_type(base) is not None:
        return base
    return next((vector_like(index, base) for index in indices if element_type(index)), base)


def _second(rest: str, operands: _Operands) -> str | None:
    return operands()[1].type


def _exchange(rest: str, operands: _Operands) -> str | None:
    return f"{{ {operands()[1].type}, i1 }}"


def _element(rest: str, operands: _Operands) -> str | None:
    return element_type(operands()[0].type)


def _shuffle(rest: str, operands: _Operands) -> str | None:
    start = first_type(rest)
    mask = None if start is None else type_at(split_list(rest[start:])[2])
    element = _element(rest, operands)
    return None if mask is None or element is None else vector_like(mask, element)


def _member(rest: str, operands: _Operands) -> str | None:
    """``extractvalue``: the member that its indices lead to."""
    found: str | None = operands()[0].type
    start = first_type(rest) or 0
    for index in split_list(rest[start:])[1:]:
        if found is None or not index.isdecimal():
            break
        found = member_type(found, int(index))
    return found


def _allocation(rest: str, operands: _Operands) -> str | None:
    space = next((element for element in split_list(rest) if element.startswith("addrspace(")), "")
    return f"{_POINTER} {space}" if space else _POINTER


def _token(rest: str, operands: _Operands) -> str | None:
    return "token"


def _variable_argument(rest: str, operands: _Operands) -> str | None:
    return type_at(split_list(rest)[1])


_READERS: dict[str, Callable[[str, _Operands], str | None]] = {
    "icmp": _comparison,
    "fcmp": _comparison,
    "phi": _phi,
    "load": _first,
    "landingpad": _first,
    "alloca": _allocation,
    "getelementptr": _address,
    "select": _second,
    "va_arg": _variable_argument,
    "atomicrmw": _second,
    "cmpxchg": _exchange,
    "extractelement": _element,
    "shufflevector": _shuffle,
    "extractvalue": _member,
    "catchpad": _token,
    "cleanuppad": _token,
    "catchswitch": _token,
}
