"""Instrument a whole module: read, weigh, plan, lower, and describe what was done.

In goes the IR that the compiler made, out come IR with probes and counters, and the unit's facts.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from trodden.native.again import cut_where_calls_return_twice
from trodden.native.calls import Attributes, read_attributes
from trodden.native.debuginfo import DebugInfo, FunctionLines, read_debug_info
from trodden.native.declare import declare, strip_debug
from trodden.native.demangle import demangle
from trodden.native.irtext import LABEL, IRFunction, IRModule, cut_function, cut_module, unescape, unquote
from trodden.native.lower import Place, lower
from trodden.native.options import Options
from trodden.native.pathcode import in_one_step
from trodden.native.personalities import Personalities
from trodden.native.planning import plan_for
from trodden.native.positions import UnitMarks, revealed
from trodden.native.read import block_facts, fingerprint, read_function
from trodden.native.relabel import label_calls
from trodden.native.sites import Sites, TaggedSites
from trodden.profile.facts import identified
from trodden.profile.model import FunctionFacts, Skipped, UnitFacts
from trodden.profile.sites import tag_of

_TRIPLE = re.compile(r'^target triple = "([^-"]+)', re.MULTILINE)
_RESOLVER = re.compile(rf"^@.* ifunc .*, ptr @({LABEL})", re.MULTILINE)


def _machine_of(module: IRModule) -> str:
    """The processor that a module is for, as its triple says."""
    triple = _TRIPLE.search(module.prologue)
    return "aarch64" if triple is not None and triple.group(1) in ("aarch64", "arm64") else "x86_64"


@dataclass
class Instrumented:
    """The result: new IR text, its facts, and the record that goes into section ``.trodden``."""

    text: str
    facts: UnitFacts
    record: bytes


def instrument(
    text: str, source: str, options: Options, keep_debug: bool, filled: bool = False
) -> Instrumented:
    """Instrument every function of a module given as text."""
    module = cut_module(text)
    debug = read_debug_info(module.epilogue)
    attributes = read_attributes(module)
    debug.file_index(source)
    tag = zlib.crc32(text.encode()) & 0xFFFFFFFF
    sites: Sites | None = None
    if options.sites:
        sites = TaggedSites(tag, debug=debug) if options.stage == "early" else Sites(tag)
    resolvers = {unquote(name) for name in _RESOLVER.findall(module.prologue)}
    machine = _machine_of(module)
    wanted = options.positions and options.sites and options.stage != "early" and machine == "x86_64"
    marks = UnitMarks(tag, debug, keep_debug) if wanted else None
    last = options.paths.last if options.paths is not None else 0
    worker = _Unit(options, debug, attributes, sites, resolvers, machine, marks, tag if last else None)
    module.definitions = [worker.function(cut_function(old)) or old for old in module.definitions]
    facts = UnitFacts(
        id="",
        source=source,
        stage=options.stage,
        files=tuple(debug.files),
        functions=tuple(worker.facts),
        skipped=tuple(worker.skipped),
        slots=worker.slots,
        sites=tuple(worker.sites.known) if worker.sites else (),
    )
    facts, record = identified(facts, tag)
    declare(module, facts, worker.personalities, machine if options.calls else None, filled, last)
    if isinstance(sites, TaggedSites):
        module.epilogue += "".join(node + "\n" for node in sites.nodes)
    elif not keep_debug:
        strip_debug(module)
    if marks is not None:
        module.definitions = [revealed(text) for text in module.definitions]
        module.epilogue = marks.close(module.epilogue)
    return Instrumented(module.render(), facts, record)


def finish_early(text: str, facts: UnitFacts, keep_debug: bool) -> str:
    """What is left to do for a module that was instrumented early, once it is optimised."""
    module = label_calls(text, tag_of(facts.id))
    if not keep_debug:
        strip_debug(module)
    return module.render()


class _Unit:
    """The functions of one module, one after the other."""

    def __init__(
        self,
        options: Options,
        debug: DebugInfo,
        attributes: Attributes,
        sites: Sites | None,
        resolvers: set[str],
        machine: str,
        marks: UnitMarks | None,
        tag: int | None,
    ) -> None:
        self.tag = tag
        self.marks = marks
        self.resolvers = resolvers
        self.machine = machine
        self.options = options
        self.debug = debug
        self.attributes = attributes
        self.sites = sites
        self.slots = 0
        self.facts: list[FunctionFacts] = []
        self.skipped: list[Skipped] = []
        self.personalities = Personalities(attributes)

    def function(self, ir: IRFunction) -> str | None:
        """Instrument one function; None when it is left as it is."""
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
        planned = plan_for(read, self.options, self.machine, self.slots)
        place = Place(self.slots, len(self.facts), self.machine, self.options.calls, self.tag)
        marks = self.marks.of(read, place.number, line, optnone) if self.marks is not None else None
        if self.sites is not None and self.options.stage != "early":
            ir.header = self.personalities.give(ir.header)
        lowered = lower(read, planned, place, self.sites, marks)
        lines = FunctionLines(self.debug)
        blocks = block_facts(read, lines)
        self.facts.append(
            FunctionFacts(
                name=shown,
                linkage_name=ir.symbol,
                file=max(file, 0),
                line=line,
                graph=read.graph,
                blocks=blocks,
                plan=planned.plan,
                first_slot=self.slots,
                shared=" comdat" in ir.header,
                fingerprint=fingerprint(read.graph, blocks),
                inlined=tuple(lines.calls),
                registers=lowered.registers,
            )
        )
        self.slots += lowered.slots
        if optnone or (self.options.durable and self.options.stage == "early"):
            return in_one_step(lowered.text, self.machine)
        return lowered.text

    def _reason_to_skip(self, ir: IRFunction, shown: str, path: str) -> str | None:
        header = ir.header
        attributes = self.attributes.of_header(header)
        if " available_externally " in header:
            return ""
        if ir.symbol in self.resolvers:
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
