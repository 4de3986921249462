"""The first line of a function, ``define`` or ``declare``: linkage, type, name, parameters, attributes."""

from __future__ import annotations

from functools import cached_property

from trodden.native.ir.syntax.grammar import (
    COMDAT,
    DBG_ATTACHMENT,
    FUNCTION_ATTACHMENTS,
    FUNCTION_ATTRIBUTES,
    FUNCTION_NAME,
    PERSONALITY,
    SUBPROGRAM_ATTACHMENT,
    UNNAMED_PARAMETER,
)
from trodden.native.ir.syntax.names import unquote
from trodden.native.ir.syntax.nesting import closing, split_list

_LOCAL_LINKAGE = frozenset({"internal", "private"})


class FunctionHeader:
    """A view of such a line."""

    def __init__(self, text: str) -> None:
        name = FUNCTION_NAME.search(text)
        assert name is not None, text
        self.text = text
        self.name = name.group(1)
        """As it is printed, without its prefix."""
        self._name_at = name.start()
        self._parameters_at = name.end() - 1

    @property
    def symbol(self) -> str:
        """The function's name as the linker knows it."""
        return unquote(self.name)

    @property
    def before_name(self) -> str:
        """Linkage, calling convention, and attributes and type of the result."""
        return self.text[: self._name_at]

    @cached_property
    def _parameters_end(self) -> int:
        return closing(self.text, self._parameters_at) or len(self.text)

    @property
    def parameter_list(self) -> str:
        """The text between the brackets."""
        return self.text[self._parameters_at + 1 : self._parameters_end - 1]

    @property
    def unnamed_parameters(self) -> int:
        """How many parameters have a number instead of a name."""
        return sum(UNNAMED_PARAMETER.search(each) is not None for each in split_list(self.parameter_list))

    @property
    def is_local(self) -> bool:
        """Whether other units cannot name the function."""
        return not _LOCAL_LINKAGE.isdisjoint(self.before_name.split())

    @property
    def is_available_externally(self) -> bool:
        """Whether this is only a body to inline, of a function that another unit defines."""
        return " available_externally " in self.before_name

    @property
    def attribute_group(self) -> str | None:
        """The number of the attribute group."""
        match = FUNCTION_ATTRIBUTES.match(self.text, self._parameters_end)
        return None if match is None else match.group(1)

    @property
    def comdat(self) -> str | None:
        """The COMDAT group that the function lies in."""
        match = COMDAT.search(self.text, self._parameters_end)
        return None if match is None else unquote(match.group(1)) if match.group(1) else self.symbol

    @property
    def personality(self) -> str | None:
        """The name of the personality function (as printed, without its prefix)."""
        match = PERSONALITY.search(self.text, self._parameters_end)
        return None if match is None else match.group(1)

    @property
    def subprogram(self) -> str | None:
        """The number of the metadata node that describes the function for a debugger."""
        match = DBG_ATTACHMENT.search(self.text)
        return None if match is None else match.group(1)

    def replace_personality(self, name: str) -> str:
        """The line with another personality function, or with one; ``name`` is printed with its prefix."""
        own = PERSONALITY.search(self.text, self._parameters_end)
        if own is not None:
            return f"{self.text[: own.start()]} personality ptr {name}{self.text[own.end() :]}"
        attachments = FUNCTION_ATTACHMENTS.search(self.text, self._parameters_end)
        assert attachments is not None, self.text
        at = attachments.start()
        return f"{self.text[:at]} personality ptr {name}{self.text[at:]}"

    def replace_subprogram(self, node: str | None) -> str:
        """The line with another subprogram, or with one; without any if ``node`` is None."""
        attachment = "" if node is None else f" !dbg !{node}"
        own = SUBPROGRAM_ATTACHMENT.search(self.text, self._parameters_end)
        if own is not None:
            return f"{self.text[: own.start()]}{attachment}{self.text[own.end() :]}"
        at = self.text.rindex(" {")
        return f"{self.text[:at]}{attachment}{self.text[at:]}"
