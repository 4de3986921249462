"""The attribute groups of a module: the attributes of functions and of call sites."""

from __future__ import annotations

from dataclasses import dataclass, field

from trodden.native.ir.instruction import Instruction
from trodden.native.ir.module import IRModule
from trodden.native.ir.syntax.grammar import ATTRIBUTE_GROUP_DEFINITION, FUNCTION_HEADER, STRING_ATTRIBUTE
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.names import unquote

_NONE: frozenset[str] = frozenset()


@dataclass
class Attributes:
    """The attributes by the number of a group, and by function.

    ``defined`` are the functions that the module defines.
    """

    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    functions: dict[str, frozenset[str]] = field(default_factory=dict)
    defined: frozenset[str] = frozenset()
    _of_calls: dict[tuple[str | None, str | None], frozenset[str]] = field(default_factory=dict, repr=False)

    def of_header(self, header: str) -> frozenset[str]:
        """The attributes of the function with this ``define`` or ``declare`` line."""
        return self.of_group(FunctionHeader(header).attribute_group)

    def of_group(self, group: str | None) -> frozenset[str]:
        """The attributes of a group."""
        return _NONE if group is None else self.groups.get(group, _NONE)

    def of_call(self, call: Instruction) -> frozenset[str]:
        """The attributes of a call: those of its callee and of its call site."""
        callee = call.callee
        return self.of_call_to(None if callee is None else unquote(callee), call)

    def of_call_to(self, symbol: str | None, call: Instruction) -> frozenset[str]:
        """The same where the callee is known."""
        key = (symbol, call.attribute_group)
        found = self._of_calls.get(key)
        if found is None:
            known = _NONE if symbol is None else self.functions.get(symbol, _NONE)
            found = self._of_calls[key] = known | self.of_group(key[1])
        return found

    def mention(self, attribute: str) -> bool:
        """Whether any group has an attribute."""
        return any(attribute in group for group in self.groups.values())


def read_attributes(module: IRModule) -> Attributes:
    """Read the attribute groups of a module and which functions have them; string attributes are left out."""
    heads = (definition[: definition.index("\n")] for definition in module.definitions)
    attributes = Attributes(defined=frozenset(FunctionHeader(head).symbol for head in heads))
    for number, body in ATTRIBUTE_GROUP_DEFINITION.findall(module.epilogue):
        attributes.groups[number] = frozenset(STRING_ATTRIBUTE.sub("", body).split())
    for text in FUNCTION_HEADER.findall(module.signatures()):
        header = FunctionHeader(text)
        if header.attribute_group is not None:
            attributes.functions[header.symbol] = attributes.of_group(header.attribute_group)
    return attributes
