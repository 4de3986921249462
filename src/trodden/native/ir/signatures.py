"""The types of functions and of calls, in a short form that is the same for both."""

from __future__ import annotations

from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.nesting import enclosed, split_list
from trodden.native.ir.syntax.types import first_type, type_at


def function_signature(header: str) -> str:
    """The type of the function with this ``define`` line."""
    view = FunctionHeader(header)
    return _signature(view.before_name, view.parameter_list)


def call_signature(call: Instruction) -> str:
    """The type of what is called, which is written out for a callee with variable arguments."""
    parts = call.call
    assert parts is not None, call
    if parts.function_type is not None:
        return _signature(parts.type, enclosed(parts.function_type, len(parts.type) + 1))
    return _signature(parts.type, call.argument_list)


def _signature(returned: str, arguments: str) -> str:
    start = first_type(returned)
    result = "" if start is None else _short(type_at(returned, start) or "")
    return f"{result}({','.join(_short(type_at(each) or each) for each in split_list(arguments))})"


def _short(type_: str) -> str:
    """A type without spaces; of one with several words the first."""
    return type_.replace(" ", "") if type_[:1] in ("{", "[", "<") else type_.split(" ", 1)[0]
