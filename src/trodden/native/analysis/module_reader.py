"""Read a whole module: its functions, their blocks, lines and clues, without changing anything in it.

Instrumenting starts from this, and a program that is only looked at ends with it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from trodden.native.analysis.call_effects import read_attributes
from trodden.native.analysis.features import function_clues, read_module_clues
from trodden.native.analysis.function_cfg import FunctionRead, block_facts, fingerprint, read_function
from trodden.native.analysis.returns_twice import cut_where_calls_return_twice
from trodden.native.demangle.names import demangle
from trodden.native.ir.debug_info import FunctionLines, read_debug_info
from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.native.ir.module import IRModule
from trodden.native.ir.names import unescape, unquote
from trodden.native.options import Options
from trodden.plan.probes import Plan
from trodden.program.facts import FunctionFacts, Skipped, UnitFacts
from trodden.weigh.features.clues import FunctionClues

_TRIPLE = re.compile(r'^target triple = "([^-"]+)', re.MULTILINE)
_TYPE = re.compile(rf"^%({NAME}) = type ", re.MULTILINE)
_RESOLVER = re.compile(rf"^@.* ifunc .*, ptr @({NAME})", re.MULTILINE)


def machine_of(module: IRModule) -> str:
    """The processor that a module is for, as its triple says."""
    triple = _TRIPLE.search(module.prologue)
    return "aarch64" if triple is not None and triple.group(1) in ("aarch64", "arm64") else "x86_64"


def tag_of_text(text: str) -> int:
    """The number by which the call sites of a module name it."""
    return zlib.crc32(text.encode(errors="surrogateescape")) & 0xFFFFFFFF


@dataclass(frozen=True)
class ReadFunction:
    """A function of a module: what people call it, where it stands, its graph and its clues."""

    shown: str
    file: int
    line: int
    read: FunctionRead
    clues: FunctionClues
    optnone: bool


class ModuleReader:
    """The functions of one module, one after the other; those that were left out are ``skipped``."""

    def __init__(self, module: IRModule, source: str, options: Options) -> None:
        self.module, self.source, self.options = module, source, options
        self.debug = read_debug_info(module.epilogue)
        self.attributes = read_attributes(module)
        self.debug.file_index(source)
        self.machine = machine_of(module)
        self.types = frozenset(_TYPE.findall(module.prologue))
        self.skipped: list[Skipped] = []
        self._clues = read_module_clues(module, self.attributes)
        self._resolvers = {unquote(name) for name in _RESOLVER.findall(module.prologue)}

    def function(self, ir: IRFunction) -> ReadFunction | None:
        """Read one function; None when it is left as it is."""
        described = self.debug.subprogram(ir.header)
        shown = demangle(ir.symbol, unescape(described[0]) if described else "")
        file, line = (described[1], described[2]) if described else (0, 0)
        path = self.debug.files[file].path if 0 <= file < len(self.debug.files) else ""
        reason = self._reason_to_skip(ir, shown, path)
        if reason is not None:
            if reason:
                self.skipped.append(Skipped(shown, reason))
            return None
        ir = cut_where_calls_return_twice(ir, self.attributes)
        optnone = "optnone" in self.attributes.of_header(ir.header)
        read = read_function(ir, self.attributes, self.options.stage != "early" or optnone)
        return ReadFunction(shown, max(file, 0), line, read, function_clues(read, self._clues), optnone)

    def facts(
        self,
        function: ReadFunction,
        plan: Plan,
        first_slot: int,
        registers: Mapping[int, tuple[bool, int]] | None = None,
        copies: tuple[tuple[int, int], ...] = (),
    ) -> FunctionFacts:
        """What there is to say of a function with its plan."""
        read, lines = function.read, FunctionLines(self.debug)
        blocks = block_facts(read, lines)
        return FunctionFacts(
            name=function.shown,
            linkage_name=read.ir.symbol,
            file=function.file,
            line=function.line,
            graph=read.graph,
            blocks=blocks,
            plan=plan,
            first_slot=first_slot,
            shared=" comdat" in read.ir.header,
            fingerprint=fingerprint(read.graph, blocks),
            inlined=tuple(lines.calls),
            registers=registers or {},
            copies=copies,
            clues=function.clues,
        )

    def unit(
        self, functions: tuple[FunctionFacts, ...], slots: int, sites: tuple[tuple[int, int], ...] = ()
    ) -> UnitFacts:
        """The facts of the unit, which has no name yet."""
        return UnitFacts(
            id="",
            source=self.source,
            stage=self.options.stage,
            files=tuple(self.debug.files),
            functions=functions,
            skipped=tuple(self.skipped),
            slots=slots,
            sites=sites,
            taken=self._clues.taken,
            aliases=self._clues.aliases.public,
            started=self._clues.started,
        )

    def _reason_to_skip(self, ir: IRFunction, shown: str, path: str) -> str | None:
        header = ir.header
        attributes = self.attributes.of_header(header)
        if " available_externally " in header:
            return ""
        if ir.symbol in self._resolvers:
            return "an ifunc resolver runs before there are threads, and so before there are counters"
        if "naked" in attributes:
            return "a naked function has no room for probes"
        if "presplitcoroutine" in attributes:
            return "a coroutine that is still to be split (build it with --stage late)"
        if "noprofile" in attributes:
            return "marked no_profile_instrument_function in the source"
        if any(block.opcode in ("catchswitch", "cleanupret", "catchret") for block in ir.blocks):
            return "exception handling by funclets (Windows) cannot carry probes"
        if not self.options.wants(ir.symbol, shown, path):
            return "left out by request"
        return None
