"""Emit instructions, in the manner of LLVM's IRBuilder: each gets the current debug location."""

from __future__ import annotations

from collections.abc import Callable

from trodden.native.lower.insertions import Point

NEW = "trodden."
"""What the names of new values and blocks begin with."""


class ProbeNames:
    """Names that nothing else in a function has.

    The addresses of counters have a series of their own, so that the names of all other values are the same
    however counters are addressed.
    """

    def __init__(self) -> None:
        self._values = self._addresses = 0

    def value(self) -> str:
        """The name of a value or a block, without its prefix."""
        self._values += 1
        return f"{NEW}{self._values}"

    def address(self) -> str:
        """The name of an address, without its prefix."""
        self._addresses += 1
        return f"{NEW}at.{self._addresses}"


class Builder:
    """Appends instructions to ``lines``.

    ``location`` is the number of the debug location that instructions get; where it is None they get
    what ``default_location`` returns: in a function with a subprogram LLVM wants every call to have one.
    ``point`` is where the instructions will be, if that matters to them.
    """

    __slots__ = ("_default_location", "_names", "lines", "location", "point")

    def __init__(
        self,
        names: ProbeNames,
        default_location: Callable[[], str | None] = lambda: None,
        point: Point | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.location: str | None = None
        self.point = point
        self._names = names
        self._default_location = default_location

    def emit(self, instruction: str) -> None:
        """Append an instruction that defines no value."""
        self.lines.append(f"  {instruction}{self._attachment()}")

    def value(self, operation: str) -> str:
        """Append an instruction; returns the value that it defines, with its prefix."""
        return self.define(self._names.value(), operation)

    def define(self, name: str, operation: str) -> str:
        """Append an instruction that defines the value of that name (without its prefix)."""
        self.lines.append(f"  %{name} = {operation}{self._attachment()}")
        return f"%{name}"

    def address(self, operation: str) -> str:
        """Append an instruction that computes the address of a counter; it has no debug location.

        A code generator folds it into the access, which alone counts as the instruction of a probe.
        """
        name = self._names.address()
        self.lines.append(f"  %{name} = {operation}")
        return f"%{name}"

    def reserve(self) -> str:
        """A name (without its prefix) for a value that is defined later."""
        return self._names.value()

    def label(self, name: str) -> None:
        """Begin a new block; the instruction before ends the last one."""
        self.lines.append(f"{name}:")

    def records(self, records: list[str]) -> None:
        """Append debug records."""
        self.lines += records

    def _attachment(self) -> str:
        location = self._default_location() if self.location is None else self.location
        return "" if location is None else f", !dbg !{location}"
