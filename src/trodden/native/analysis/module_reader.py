"""Read a whole module: its functions, their blocks, lines and features, without changing anything in it.

Instrumenting starts with this; describing a program that is not run needs nothing else.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from trodden.native.analysis.block_facts import block_facts
from trodden.native.analysis.features import function_features, read_module_features
from trodden.native.analysis.function_cfg import FunctionCfg, fingerprint, read_function
from trodden.native.analysis.recording_calls import split_at_recording_calls
from trodden.native.analysis.returns_twice import split_at_returns_twice
from trodden.native.analysis.stored_constants import stored_constants
from trodden.native.analysis.truth_phis import truth_phis
from trodden.native.demangle.names import demangle
from trodden.native.ir.attributes import read_attributes
from trodden.native.ir.debug_info import FunctionLines, read_debug_info
from trodden.native.ir.function import IRFunction
from trodden.native.ir.module import IRModule
from trodden.native.ir.module_properties import is_optimised
from trodden.native.ir.symbols import Aliases, ifunc_resolvers, machine_of, type_names
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.options.declarations import Options
from trodden.plan.probes import Plan
from trodden.program.facts import FunctionFacts, Skipped, Subprogram, UnitFacts
from trodden.weigh.features.block_features import FunctionFeatures


def tag_of_text(text: str) -> int:
    """The number by which call sites refer to their module."""
    return zlib.crc32(text.encode(errors="surrogateescape")) & 0xFFFFFFFF


@dataclass(frozen=True)
class ModuleFunction:
    """A function of a module: its readable name, source location, graph and features."""

    name: str
    file: int
    line: int
    read: FunctionCfg
    features: FunctionFeatures
    optnone: bool


class ModuleReader:
    """The functions of one module, one after the other; those that are not instrumented are ``skipped``."""

    def __init__(
        self,
        module: IRModule,
        source: str,
        options: Options,
        inlined_calls: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        self.module, self.source, self.options = module, source, options
        self._inlined_calls = inlined_calls or {}
        self.debug = read_debug_info(module.epilogue)
        self.attributes = read_attributes(module)
        self.debug.file_index(source)
        self.machine = machine_of(module)
        self.types = type_names(module)
        self.skipped: list[Skipped] = []
        self._features = read_module_features(module, self.attributes)
        self._subprograms: dict[str, Subprogram] = {}
        self._resolvers = ifunc_resolvers(module)
        self._optimised = options.stage != "early" and is_optimised(module.epilogue)
        always = any("alwaysinline" in group for group in self.attributes.groups.values())
        self._may_keep_calls = options.stage == "early" and not always

    def function(self, ir: IRFunction) -> ModuleFunction | None:
        """Read one function; None if it is not to be instrumented."""
        described = self.debug.subprogram(ir.header)
        name = demangle(ir.symbol, described[0] if described else "")
        file, line = (described[1], described[2]) if described else (0, 0)
        path = self.debug.files[file].path if 0 <= file < len(self.debug.files) else ""
        reason = self._reason_to_skip(ir, name, path)
        if reason is not None:
            if reason:
                self.skipped.append(Skipped(name, reason))
            return None
        traced = self.options.traces
        divided = traced or self.options.over_calls
        if divided:
            ir = split_at_recording_calls(ir, self.attributes, sites=not traced)
        else:
            ir = split_at_returns_twice(ir, self.attributes)
        optnone = "optnone" in self.attributes.of_header(ir.header)
        read = read_function(ir, self.attributes, self.options.stage != "early" or optnone, divided, traced)
        return ModuleFunction(
            name, max(file, 0), line, read, function_features(read, self._features), optnone
        )

    def facts(
        self,
        function: ModuleFunction,
        plan: Plan,
        first_slot: int,
        registers: Mapping[int, tuple[int, int]] | None = None,
        clones: tuple[tuple[int, int], ...] = (),
    ) -> FunctionFacts:
        """The facts of a function with its plan."""
        read, lines = function.read, FunctionLines(self.debug)
        optimised = self._optimised and not function.optnone
        truths = truth_phis(read) if optimised else {**stored_constants(read), **truth_phis(read)}
        blocks = block_facts(read, lines, optimised)
        return FunctionFacts(
            name=function.name,
            linkage_name=read.ir.symbol,
            file=function.file,
            line=function.line,
            graph=read.graph,
            blocks=blocks,
            plan=plan,
            first_slot=first_slot,
            shared=FunctionHeader(read.ir.header).comdat is not None,
            fingerprint=fingerprint(read.graph, blocks),
            inlined=tuple(lines.calls),
            callees=tuple(map(self._subprogram, lines.callees)),
            inlined_symbols=self._inlined_calls.get(read.ir.symbol, {}),
            registers=registers or {},
            clones=clones,
            truths=truths,
            features=function.features,
            optimised=optimised,
            keeps_calls=self._may_keep_calls and function.optnone,
        )

    def _subprogram(self, node: str) -> Subprogram:
        """The function that a node of the debug information describes."""
        if node not in self._subprograms:
            name, file, line = self.debug.described(node)
            symbol = self.debug.symbol(node)
            readable = demangle(symbol or name, name)
            differs = symbol if symbol != readable else ""
            self._subprograms[node] = Subprogram(readable, max(file, 0), line, differs)
        return self._subprograms[node]

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
            taken=self._features.taken,
            aliases=self._features.aliases.public,
            started=self._features.started,
        )

    @property
    def aliases(self) -> Aliases:
        """The aliases of functions."""
        return self._features.aliases

    @property
    def taken(self) -> tuple[str, ...]:
        """The functions whose address is taken in the module."""
        return self._features.taken

    def is_resolver(self, definition: str) -> bool:
        """Whether a function chooses the implementation of another, by the attribute ``ifunc``."""
        return FunctionHeader(definition[: definition.index("\n")]).symbol in self._resolvers

    def _reason_to_skip(self, ir: IRFunction, name: str, path: str) -> str | None:
        header = ir.header
        attributes = self.attributes.of_header(header)
        if FunctionHeader(header).is_available_externally:
            return ""
        if ir.symbol in self._resolvers:
            return "an ifunc resolver starts before there are counters"
        if "naked" in attributes:
            return "a naked function has no room for probes"
        if "presplitcoroutine" in attributes:
            return "a coroutine that is still to be split (build it with --stage late)"
        if "noprofile" in attributes:
            return "marked no_profile_instrument_function in the source"
        if any(block.opcode in ("catchswitch", "cleanupret", "catchret") for block in ir.blocks):
            return "exception handling by funclets (Windows) cannot carry probes"
        if not self.options.wants(ir.symbol, name, path):
            return "left out by request"
        return None
