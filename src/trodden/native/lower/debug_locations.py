"""Debug information from which follow, at any instruction, its block and what the path register holds.

A process that dies by a signal leaves frames at any instruction, not only after calls.  Every function gets
an artificial variable that each block sets to its own number (see :mod:`trodden.plan.paths.locations`), and
one for each value from which the path register, or the trip count of a loop, follows.  LLVM carries them
through code generation and writes DWARF location lists; no instruction results from them.  Instructions of
probes have a location of their own: its line is the number of the probe or, where the user's own line tables
are kept, its discriminator is.  All other instructions that are added to the program have one such number, so
that the program's own instructions can be told from them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from trodden.graph.cfg import Graph
from trodden.native.analysis.induction import Induction
from trodden.native.ir.block import IRBlock, instruction_start
from trodden.native.ir.debug_info import DebugInfo, FunctionLines
from trodden.native.ir.module_properties import enable_full_debug_info, has_flag, set_flag_value
from trodden.native.ir.strip_debug import strip_code, strip_code_but_calls
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.lower.runtime_symbols import OWN_FILE
from trodden.plan.paths.locations import Holder, Locations, Mark
from trodden.plan.paths.path_register import Base
from trodden.program.debug_variables import (
    AT,
    BY_DISCRIMINATOR,
    BY_LINE,
    KEPT,
    LINE,
    PLAIN,
    REGISTER_SLOT,
    TRIPS,
    base_name,
    base_variable,
    line_value,
)

_DWARF_VERSION = 4
"""Nobody has asked for these sections where the user has no debug information, so old tools must cope."""

_ONE_MORE = "DW_OP_plus_uconst, 1, DW_OP_stack_value"


class LineRecord(NamedTuple):
    """A record, and the position in the text of its block in front of which it is to be."""

    position: int
    record: str


class FunctionDebug(Protocol):
    """The debug information of one function: what is added, and what becomes of the program's own.

    Locations are numbers of metadata nodes; None where an instruction gets none.
    """

    @property
    def own_location(self) -> str | None:
        """The location of records, and of calls of the program whose own location is taken out."""

    @property
    def call_location(self) -> str | None:
        """The location of labels, which are calls of inline assembly."""

    @property
    def upkeep_location(self) -> str | None:
        """The location of instructions that are added to the program but belong to no probe."""

    @property
    def repeats_values(self) -> bool:
        """Whether the record of a value has to be repeated in every block where it is valid."""

    def probe_location(self, mark: Mark) -> str | None:
        """The location of the instructions of a probe."""

    def block_record(self, block: int) -> list[str]:
        """The record of the block in which control is."""

    def edge_record(self, edge: int) -> list[str]:
        """The record of the new block on an edge."""

    def value_record(self, base: Base) -> list[str]:
        """The record of a value from which the path register follows."""

    def slot_record(self, kept: Collection[int]) -> list[str]:
        """The record of the stack slot; ``kept`` are the blocks after whose calls it holds the register."""

    def trip_count_record(
        self, back_edge: int, induction: Induction, value: str, one_more: bool = False
    ) -> list[str]:
        """The record of a value from which a trip count follows; ``one_more``: from one more than it."""

    def header(self, header: str) -> str:
        """The ``define`` line with the function's subprogram."""

    def line_records(self, number: int, block: IRBlock) -> list[LineRecord]:
        """The records of the lines that a block reaches one after the other, if there are several."""

    def text(self, text: str) -> str:
        """Instructions of the program (whole lines) with the debug information that they are to have."""


@dataclass(frozen=True)
class NoDebug:
    """No debug information is added; that of the program is taken out, or ``kept``."""

    kept: bool
    own_location: str | None = None
    call_location: str | None = None
    upkeep_location: str | None = None
    repeats_values: bool = False

    def probe_location(self, mark: Mark) -> str | None:
        """Probes have no location of their own."""
        return None

    def block_record(self, block: int) -> list[str]:
        """No record."""
        return []

    def edge_record(self, edge: int) -> list[str]:
        """No record."""
        return []

    def value_record(self, base: Base) -> list[str]:
        """No record."""
        return []

    def slot_record(self, kept: Collection[int]) -> list[str]:
        """No record."""
        return []

    def trip_count_record(
        self, back_edge: int, induction: Induction, value: str, one_more: bool = False
    ) -> list[str]:
        """No record."""
        return []

    def header(self, header: str) -> str:
        """The line with its own subprogram, or without."""
        return header if self.kept else FunctionHeader(header).replace_subprogram(None)

    def line_records(self, number: int, block: IRBlock) -> list[LineRecord]:
        """No record."""
        return []

    def text(self, text: str) -> str:
        """The lines as they are, or without debug information."""
        return text if self.kept else strip_code(text)


@dataclass
class UnitDebug:
    """The debug metadata that is added to one module; ``kept``: that of the program stays.

    Otherwise it is taken out, and a compile unit and subprograms of our own take its place.
    """

    tag: int
    debug: DebugInfo
    kept: bool
    nodes: list[str] = field(default_factory=list)
    _shared: dict[str, str] = field(default_factory=dict)

    def function(self, header: str, graph: Graph, number: int, line: int, optnone: bool) -> FunctionDebug:
        """The debug information of function ``number`` of the unit, which starts at a ``line``.

        A function without a subprogram gets none if the program's own debug information is kept.
        """
        subprogram = FunctionHeader(header).subprogram
        if self.kept:
            if subprogram is None:
                return NoDebug(kept=True)
            return _AddedDebug(self, graph, subprogram, number, line, optnone, False)
        scope = self.node(
            f"distinct !DISubprogram(scope: {self._file}, file: {self._file}, type: {self._signature}, "
            f"spFlags: DISPFlagDefinition, unit: {self._unit})"
        )
        return _AddedDebug(self, graph, scope, number, line, optnone, subprogram is None)

    def node(self, text: str) -> str:
        """Add a node; its number."""
        number = str(self.debug.fresh())
        self.nodes.append(f"!{number} = {text}\n")
        return number

    def add_to(self, epilogue: str) -> str:
        """The module's metadata with these nodes."""
        if not self.nodes:
            return epilogue
        added = "" if self.kept else f"!llvm.dbg.cu = !{{{self._unit}}}\n"
        # Only a module that has some debug information, or comes from clang, has these flags.
        if not has_flag(epilogue, "Debug Info Version"):
            added += self._flag('i32 2, !"Debug Info Version", i32 3')
        if not self.kept:
            epilogue = set_flag_value(epilogue, "Dwarf Version", _DWARF_VERSION)
            if not has_flag(epilogue, "Dwarf Version"):
                added += self._flag(f'i32 7, !"Dwarf Version", i32 {_DWARF_VERSION}')
        return enable_full_debug_info(epilogue) + added + "".join(self.nodes)

    def integer_type(self, bits: int) -> str:
        """A type of unsigned integers."""
        return self._once(f'!DIBasicType(name: "trodden{bits}", size: {bits}, encoding: DW_ATE_unsigned)')

    def _flag(self, flag: str) -> str:
        return f"!llvm.module.flags = !{{!{self.node(f'!{{{flag}}}')}}}\n"

    def _once(self, text: str) -> str:
        if text not in self._shared:
            self._shared[text] = f"!{self.node(text)}"
        return self._shared[text]

    @property
    def _file(self) -> str:
        return self._once(f'!DIFile(filename: "{OWN_FILE}", directory: "")')

    @property
    def _signature(self) -> str:
        return self._once("!DISubroutineType(types: !{})")

    @property
    def _unit(self) -> str:
        return self._once(
            f"distinct !DICompileUnit(language: DW_LANG_C11, file: {self._file}, emissionKind: FullDebug, "
            "splitDebugInlining: false, nameTableKind: None)"
        )


class _AddedDebug:
    """Debug information of a function whose subprogram is node ``scope``.

    ``bare``: the function came without a subprogram, so none of its calls has a location.
    """

    def __init__(
        self, unit: UnitDebug, graph: Graph, scope: str, number: int, line: int, optnone: bool, bare: bool
    ) -> None:
        self._unit = unit
        self._locations = Locations.of(graph)
        self._scope = scope
        self._line = max(line, 1)
        self._bare = bare
        self.repeats_values = optnone
        self.own_location = unit.node(f"!DILocation(line: 0, scope: !{scope})")
        self.call_location = self.own_location if bare else None
        kind = (BY_DISCRIMINATOR if unit.kept else BY_LINE) + (PLAIN if optnone else "")
        self._block = self._variable(f"{AT}.{unit.tag:08x}.{kind}", 64, number + 1)
        self._probes: dict[int, str] = {}
        self._values: dict[str, str] = {}

    def probe_location(self, mark: Mark) -> str | None:
        """A location with the number of the probe; None if it has none."""
        code = self._locations.mark(mark)
        if code is None:
            return None
        if code not in self._probes:
            self._probes[code] = self._unit.node(self._numbered_location(code))
        return self._probes[code]

    @property
    def upkeep_location(self) -> str | None:
        """The location with the mark of upkeep."""
        return self.probe_location(Mark(Holder.UPKEEP, 0))

    def block_record(self, block: int) -> list[str]:
        """The number of the block."""
        return [self._record("value", f"i64 {block}", self._block)]

    def edge_record(self, edge: int) -> list[str]:
        """The number of the block on the edge."""
        return self.block_record(self._locations.on_edge(edge))

    def value_record(self, base: Base) -> list[str]:
        """The record of the phi."""
        variable = self._shared_variable(base_variable(base), 64)
        return [self._record("value", f"i64 %{base_name(base)}", variable)]

    def slot_record(self, kept: Collection[int]) -> list[str]:
        """The record of the slot's address, the blocks in the variable's name."""
        name = ".".join([KEPT, *(f"{block:x}" for block in sorted(kept))])
        return [self._record("declare", f"ptr %{REGISTER_SLOT}", self._variable(name, 64))]

    def trip_count_record(
        self, back_edge: int, induction: Induction, value: str, one_more: bool = False
    ) -> list[str]:
        """The record of the value, its start and step in the variable's name."""
        bits = int(induction.type[1:])
        name = f"{TRIPS}.{back_edge}.{induction.start}.{induction.step}.{bits}"
        expression = f"!DIExpression({_ONE_MORE})" if one_more else "!DIExpression()"
        variable = self._shared_variable(name, bits)
        return [self._record("value", f"{induction.type} %{value}", variable, expression)]

    def header(self, header: str) -> str:
        """The line with the subprogram of the records."""
        return FunctionHeader(header).replace_subprogram(self._scope)

    def line_records(self, number: int, block: IRBlock) -> list[LineRecord]:
        """One for each line, where instructions stay in the order of the source: without optimisation."""
        mentions = FunctionLines(self._unit.debug).mentions_in(block.text) if self.repeats_values else []
        if len(mentions) < 2:
            return []
        first = block.insertion_point()
        return [
            LineRecord(
                max(instruction_start(block.text, mention.position), first),
                self._record("value", f"i64 {line_value(number, index)}", self._line_variable),
            )
            for index, mention in enumerate(mentions)
        ]

    @cached_property
    def _line_variable(self) -> str:
        return self._variable(LINE, 64)

    def text(self, text: str) -> str:
        """The lines as they are, or with our own location at calls and nothing else."""
        if self._unit.kept:
            return text
        return strip_code_but_calls(text, self.own_location, all_calls=self._bare)

    def _numbered_location(self, code: int) -> str:
        if not self._unit.kept:
            return f"!DILocation(line: {code}, scope: !{self._scope})"
        file = self._unit.debug.file_node(self._scope)
        scope = self._unit.node(
            f"!DILexicalBlockFile(scope: !{self._scope}, file: {file}, discriminator: {code})"
        )
        return f"!DILocation(line: {self._line}, scope: !{scope})"

    def _shared_variable(self, name: str, bits: int) -> str:
        """A variable that several records may set."""
        if name not in self._values:
            self._values[name] = self._variable(name, bits)
        return self._values[name]

    def _variable(self, name: str, bits: int, line: int = 0) -> str:
        at_line = f"line: {line}, " if line else ""
        return self._unit.node(
            f'!DILocalVariable(name: "{name}", scope: !{self._scope}, {at_line}'
            f"type: {self._unit.integer_type(bits)}, flags: DIFlagArtificial)"
        )

    def _record(self, kind: str, operand: str, variable: str, expression: str = "!DIExpression()") -> str:
        return f"    #dbg_{kind}({operand}, !{variable}, {expression}, !{self.own_location})"
