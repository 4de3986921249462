"""The source location of an instruction, and the inlined functions around it, as a debugger names them.

Only where a program was built with debug information of its own (``-g``, ``-gline-tables-only``): its line
table has the line of every instruction, and its entries of inlined subroutines the calls that were replaced.
Few instructions are ever asked for, those of frames at a crash, so that a general reader is fast enough.
"""

from __future__ import annotations

import os
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from io import BytesIO
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from trodden.collect.binary.marked_functions import MarkedFunctions
from trodden.collect.endings import MOST_INLINED, SourceFrame
from trodden.program.debug_variables import BY_LINE
from trodden.program.facts import FunctionFacts
from trodden.regular_files import open_regular

MALFORMED_DEBUG = (
    DWARFError,
    ELFError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    NotImplementedError,
    OSError,
    RecursionError,
    zlib.error,
)
"""What reading damaged debug information may raise: then nothing is known of the instruction."""

_ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")


class SourceFrames:
    """Those of one program; its debug information is read when the first one is asked for."""

    def __init__(self, path: str, functions: MarkedFunctions) -> None:
        self._path, self._functions = path, functions
        self._rows: dict[int, tuple[list[int], list[tuple[str, int] | None]]] = {}

    def at(self, pc: int, facts: FunctionFacts) -> tuple[SourceFrame, ...]:
        """The functions that an instruction of ``facts`` lies in, innermost first; none if not known.

        The last one is the function itself.
        """
        function = self._functions.at(pc)
        identity = None if function is None else self._functions.identity(function)
        if identity is not None and BY_LINE in identity[3]:
            return ()  # the program has no line table of its own
        try:
            return self._at(pc, facts)
        except MALFORMED_DEBUG:
            return ()

    def _at(self, pc: int, facts: FunctionFacts) -> tuple[SourceFrame, ...]:
        unit = next((unit for unit in self._units if self._covers(unit.get_top_DIE(), pc)), None)
        if unit is None:
            return ()
        place = self._place(unit, pc)
        if place is None:
            return ()
        found: list[SourceFrame] = []
        for entry in reversed(self._inlined(unit, pc)):
            if place[1] <= 0 or len(found) >= MOST_INLINED:
                return ()
            found.append(SourceFrame(self._name(entry, facts), *place))
            place = self._file(unit, _number(entry, "DW_AT_call_file")), _number(entry, "DW_AT_call_line")
        return (*found, SourceFrame(facts.name, *place)) if place[1] > 0 else ()

    @cached_property
    def _dwarf(self) -> Any:
        with open_regular(self._path) as stream:
            return ELFFile(BytesIO(stream.read())).get_dwarf_info()

    @cached_property
    def _units(self) -> list[Any]:
        return list(self._dwarf.iter_CUs())

    def _inlined(self, unit: Any, pc: int) -> list[Any]:
        """The inlined subroutines around an instruction, outermost first."""
        found: list[Any] = []
        for entry in self._entries(unit, pc):
            if entry.tag == "DW_TAG_inlined_subroutine":
                found.append(entry)
        return found

    def _entries(self, unit: Any, pc: int) -> Iterator[Any]:
        """The entries that cover an instruction, each inside the one before."""
        inside = unit.get_top_DIE()
        while inside is not None:
            yield inside
            inside = next((child for child in self._scopes(inside) if self._covers(child, pc)), None)

    def _scopes(self, entry: Any) -> Iterator[Any]:
        """The scopes directly below an entry; those of namespaces and types are looked through."""
        work = [entry]
        while work:
            for child in work.pop().iter_children():
                if child.tag in ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine", "DW_TAG_lexical_block"):
                    yield child
                elif child.tag in ("DW_TAG_namespace", "DW_TAG_class_type", "DW_TAG_structure_type"):
                    work.append(child)

    def _covers(self, entry: Any, pc: int) -> bool:
        attributes = entry.attributes
        if "DW_AT_ranges" in attributes:
            return any(low <= pc < high for low, high in self._ranges(entry))
        if "DW_AT_low_pc" not in attributes or "DW_AT_high_pc" not in attributes:
            return False
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        end = high.value if high.form == "DW_FORM_addr" else low + high.value
        return bool(low <= pc < end)

    def _ranges(self, entry: Any) -> Iterator[tuple[int, int]]:
        lists = self._dwarf.range_lists()
        top = entry.cu.get_top_DIE().attributes
        base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
        for each in lists.get_range_list_at_offset(entry.attributes["DW_AT_ranges"].value, entry.cu):
            if not hasattr(each, "begin_offset"):
                base = each.base_address
            else:
                start = 0 if getattr(each, "is_absolute", False) else base
                yield start + each.begin_offset, start + each.end_offset

    def _place(self, unit: Any, pc: int) -> tuple[str, int] | None:
        """File and line of an instruction."""
        offset = unit.cu_offset
        if offset not in self._rows:
            self._rows[offset] = self._read_rows(unit)
        starts, places = self._rows[offset]
        index = bisect_right(starts, pc) - 1
        return places[index] if index >= 0 else None

    def _read_rows(self, unit: Any) -> tuple[list[int], list[tuple[str, int] | None]]:
        """Where each row of the line table starts and what it says; None after the end of a sequence."""
        last: dict[int, tuple[str, int] | None] = {}
        program = self._dwarf.line_program_for_CU(unit)
        for entry in () if program is None else program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                last.setdefault(state.address, None)
            else:
                last[state.address] = self._file(unit, state.file), state.line
        starts = sorted(last)
        return starts, [last[start] for start in starts]

    def _file(self, unit: Any, number: int) -> str:
        """The path of a file of the line table, as facts have it."""
        program = self._dwarf.line_program_for_CU(unit)
        header, first = program.header, int(program.header.version < 5)
        entry = header.file_entry[number - first]
        index = entry.dir_index
        folders = [_text(each) for each in header.include_directory]
        known = ["", *folders] if first else folders
        compiled_in = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        start = _text(compiled_in.value) if compiled_in is not None else ""
        return os.path.normpath(os.path.join(start, known[index], _text(entry.name)))

    def _name(self, entry: Any, facts: FunctionFacts) -> str:
        """The name that facts have for an inlined function, or else that of the debug information."""
        name = line = None
        while entry is not None:
            attributes = entry.attributes
            name = _text(attributes["DW_AT_name"].value) if "DW_AT_name" in attributes else name
            line = attributes["DW_AT_decl_line"].value if "DW_AT_decl_line" in attributes else line
            origin = next((each for each in _ORIGINS if each in attributes), None)
            entry = None if origin is None else entry.get_DIE_from_attribute(origin)
        known = {each.name for each in facts.callees if name and _is_named(each.name, name)}
        at_line = {each.name for each in facts.callees if each.name in known and each.line == line}
        fitting = at_line or known
        return fitting.pop() if len(fitting) == 1 else name or "?"


def _is_named(full: str, name: str) -> bool:
    """Whether a demangled name is that of a function with this name."""
    before = full.partition("(")[0].partition("<")[0]
    return full == name or before == name.partition("<")[0] or before.endswith("::" + name.partition("<")[0])


def _number(entry: Any, attribute: str) -> int:
    return int(entry.attributes[attribute].value)


def _text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)
