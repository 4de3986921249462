"""Debug values that tell, for any instruction, in which block it is and what the path register holds.

A process that is killed leaves frames that stand anywhere, not behind a call.  Every function gets an
artificial variable that each block sets to its own number (see :mod:`trodden.plan.paths.locations`), and one
for each value that the path register, or the trips of a loop, are told from.  LLVM carries them through code
generation and writes them as DWARF location lists; no instruction comes of it.  Instructions of probes carry
a location of their own: a line that is the number of the probe's mark or, where the user's own line tables
are kept, a discriminator.

Debug information that nobody asked for is taken out of the module after the probes are in, so what is written
here stands under names of its own until that is done (:func:`revealed`).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.analysis.induction import Induction
from trodden.native.ir.debug_info import DebugInfo
from trodden.native.ir.grammar import NAME
from trodden.plan.paths.locations import Locations, Mark
from trodden.plan.paths.path_register import STACK_SLOT
from trodden.program.debug_variables import AT, BY_DISCRIMINATOR, BY_LINE, KEPT, PLAIN, TRIPS, VALUE

_ONE_MORE = "DW_OP_plus_uconst, 1, DW_OP_stack_value"

_DBG = re.compile(r" !dbg !(\d+)")
# Patterns that begin with plain text are found many times faster.
_CALL_LOCATION = re.compile(r"call ([^\n]*), !dbg !\d+")
_INVOKE_LOCATION = re.compile(r"to label ([^\n]*), !dbg !\d+")
_CALL = re.compile(
    rf"^(?:  (?:%{NAME} = )?(?:(?:must|no)?tail )?call |          to label )[^\n]*", re.MULTILINE
)
_VERSION = '!"Debug Info Version"'
_DWARF = re.compile(r'(?<=!"Dwarf Version", i32 )\d+')
_LINES_ONLY = re.compile(r"(?<=emissionKind: )LineTablesOnly")


@dataclass
class UnitMarks:
    """The debug nodes of one module; ``keep``: they join the user's own."""

    tag: int
    debug: DebugInfo
    keep: bool
    nodes: list[str] = field(default_factory=list)
    _made: dict[str, str] = field(default_factory=dict)

    def of(self, read: FunctionRead, function: int, line: int, plain: bool) -> FunctionMarks | None:
        """What marks one function; None where the user's debug information leaves it out.

        ``plain``: it is not to be optimised.
        """
        match = _DBG.search(read.ir.header)
        if self.keep:
            return None if match is None else FunctionMarks(self, read, function, match.group(1), line, plain)
        scope = self.node(
            f"distinct !DISubprogram(scope: {self._file}, file: {self._file}, type: {self._signature}, "
            f"spFlags: DISPFlagDefinition, unit: {self._unit})"
        )
        return FunctionMarks(self, read, function, scope, line, plain)

    def node(self, text: str) -> str:
        """A new node's number."""
        number = str(self.debug.fresh())
        self.nodes.append(f"!{number} = {text}\n")
        return number

    def close(self, epilogue: str) -> str:
        """The module's metadata with these nodes in it."""
        if not self.nodes:
            return epilogue
        unit = "" if self.keep else f"!llvm.dbg.cu = !{{{self._unit}}}\n"
        if _VERSION not in epilogue:
            # Only a module that has some debug information, or comes from clang, says which kind.
            unit += f"!llvm.module.flags = !{{!{self.node(f'!{{i32 2, {_VERSION}, i32 3}}')}}}\n"
        if not self.keep:
            # Nobody has asked for these sections, so they must not be in anybody's way: tools of yesterday
            # too can read what DWARF 4 says.
            epilogue = _DWARF.sub("4", epilogue)
            if _DWARF.search(epilogue) is None:
                flag = self.node("""!{i32 7, !"Dwarf Version", i32 4}""")
                unit += f"!llvm.module.flags = !{{!{flag}}}\n"
        return _LINES_ONLY.sub("FullDebug", epilogue) + unit + "".join(self.nodes)

    def type(self, bits: int) -> str:
        """The type of a whole number."""
        return self._once(f'!DIBasicType(name: "trodden{bits}", size: {bits}, encoding: DW_ATE_unsigned)')

    def _once(self, text: str) -> str:
        if text not in self._made:
            self._made[text] = f"!{self.node(text)}"
        return self._made[text]

    @property
    def _file(self) -> str:
        return self._once('!DIFile(filename: "<trodden>", directory: "")')

    @property
    def _signature(self) -> str:
        return self._once("!DISubroutineType(types: !{})")

    @property
    def _unit(self) -> str:
        return self._once(
            f"distinct !DICompileUnit(language: DW_LANG_C11, file: {self._file}, emissionKind: FullDebug, "
            "splitDebugInlining: false, nameTableKind: None)"
        )


class FunctionMarks:
    """Makes the records and locations of one function, whose subprogram is node ``scope``."""

    def __init__(
        self, unit: UnitMarks, read: FunctionRead, function: int, scope: str, line: int, plain: bool
    ) -> None:
        self.places = Locations.of(read.graph)
        self.plain = plain
        self._unit = unit
        self._read = read
        self._scope = scope
        self._line = max(line, 1)
        self._location = unit.node(f"!DILocation(line: 0, scope: !{scope})")
        told = (BY_DISCRIMINATOR if unit.keep else BY_LINE) + (PLAIN if plain else "")
        self._at = self._variable(f"{AT}.{unit.tag:08x}.{told}", 64, function + 1)
        self._marked: dict[int, str] = {}
        self._values: dict[str, str] = {}

    def at(self, place: int) -> str:
        """The record that says where control is."""
        return self._record("value", f"i64 {place}", self._at)

    def value(self, base: str) -> str:
        """The record for what the path register is told from, behind the phi that makes it."""
        return self._record("value", f"i64 %{base}", self._known(f"{VALUE}.{base}", 64))

    def cell(self, kept: Collection[int]) -> str:
        """The record for the frame's cell; ``kept`` are the blocks behind whose calls it is the register."""
        name = ".".join([KEPT, *(f"{block:x}" for block in sorted(kept))])
        return self._record("declare", f"ptr %{STACK_SLOT}", self._variable(name, 64))

    def trips(self, back_edge: int, induction: Induction, value: str, begins: bool = False) -> str:
        """The record that the trips of a loop are told from ``value``; ``begins``: from one more than it."""
        bits = int(induction.type[1:])
        name = f"{TRIPS}.{back_edge}.{induction.start}.{induction.step}.{bits}"
        expression = f"!DIExpression({_ONE_MORE})" if begins else "!DIExpression()"
        return self._record("value", f"{induction.type} %{value}", self._known(name, bits), expression)

    def on(self, lines: list[str], start: int, mark: Mark) -> None:
        """Let the instructions from ``start`` on be those of a probe."""
        code = self.places.mark(mark)
        if code is None:
            return
        if code not in self._marked:
            self._marked[code] = self._unit.node(self._location_of(code))
        for index in range(start, len(lines)):
            lines[index] += f", !trodden !{self._marked[code]}"

    def beside(self, lines: list[str], start: int) -> None:
        """Let the instructions from ``start`` on be those of no probe, though they are not the program's."""
        for index in range(start, len(lines)):
            lines[index] += f", !trodden !{self._location}"

    def closed(self, text: str) -> str:
        """The function's text, with the subprogram that the records need."""
        if self._unit.keep:
            return text
        text = _CALL_LOCATION.sub(rf"call \1, !trodden !{self._location}", text)
        text = _INVOKE_LOCATION.sub(rf"to label \1, !trodden !{self._location}", text)
        newline = text.index("\n")
        header = text[:newline]
        debug = _DBG.search(header)
        at = debug.start() if debug is not None else header.rindex(" {")
        body = text[newline:] if debug is not None else _CALL.sub(self._located, text[newline:])
        return f"{header[:at]} !trodden !{self._scope}{header[at:]}{body}"

    def _located(self, call: re.Match[str]) -> str:
        """A call of a function that came without debug information: LLVM wants it to be somewhere."""
        return call[0] if ", !trodden !" in call[0] else f"{call[0]}, !trodden !{self._location}"

    def _location_of(self, code: int) -> str:
        if not self._unit.keep:
            return f"!DILocation(line: {code}, scope: !{self._scope})"
        file = self._unit.debug.file_node(self._scope)
        scope = self._unit.node(
            f"!DILexicalBlockFile(scope: !{self._scope}, file: {file}, discriminator: {code})"
        )
        return f"!DILocation(line: {self._line}, scope: !{scope})"

    def _known(self, name: str, bits: int) -> str:
        """A variable that several records may be about."""
        if name not in self._values:
            self._values[name] = self._variable(name, bits)
        return self._values[name]

    def _variable(self, name: str, bits: int, line: int = 0) -> str:
        told = f"line: {line}, " if line else ""
        return self._unit.node(
            f'!DILocalVariable(name: "{name}", scope: !{self._scope}, {told}'
            f"type: {self._unit.type(bits)}, flags: DIFlagArtificial)"
        )

    def _record(
        self, kind: str, operand: str, variable: str, expression: str = "!DIExpression()"
    ) -> str:
        return f"    #trodden_{kind}({operand}, !{variable}, {expression}, !{self._location})"


def revealed(text: str) -> str:
    """A function's text with its records under their real names."""
    return (
        text.replace(", !trodden !", ", !dbg !")
        .replace(" !trodden !", " !dbg !", 1)
        .replace("    #trodden_", "    #dbg_")
    )
