"""Instrument a whole module: read, weigh, plan, lower, and describe what was done.

In goes the IR that the compiler made, out come IR with probes and counters, and the unit's facts.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.analysis.module_reader import ModuleReader, tag_of_text
from trodden.native.clone.clone_blocks import ClonedFunction, clone_hot_blocks
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.module import cut_module
from trodden.native.lower.branch_weights import Odds
from trodden.native.lower.call_site_labels import Sites, TaggedSites
from trodden.native.lower.debug_locations import UnitMarks, revealed
from trodden.native.lower.early_labels import label_calls
from trodden.native.lower.emit_paths import in_one_step
from trodden.native.lower.lower import Place, lower
from trodden.native.lower.module_globals import declare, strip_debug
from trodden.native.lower.personalities import Personalities
from trodden.native.options import Options
from trodden.native.planning.plan_function import plan_for
from trodden.program.call_site_tags import tag_of
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.unit_codec import identified


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
    reader = ModuleReader(module, source, options)
    debug, machine, tag = reader.debug, reader.machine, tag_of_text(text)
    sites: Sites | None = None
    if options.sites:
        sites = TaggedSites(tag, debug=debug) if options.stage == "early" else Sites(tag)
    wanted = options.positions and options.sites and options.stage != "early" and machine == "x86_64"
    marks = UnitMarks(tag, debug, keep_debug) if wanted else None
    last = options.paths.last if options.paths is not None else 0
    worker = _Unit(reader, sites, marks, tag if last else None)
    module.definitions = [worker.function(cut_function(old)) or old for old in module.definitions]
    known = tuple(sites.known) if sites is not None else ()
    facts, record = identified(reader.unit(tuple(worker.facts), worker.slots, known), tag)
    declare(module, facts, worker.personalities, machine if options.calls else None, filled, last)
    if isinstance(sites, TaggedSites):
        module.epilogue += "".join(node + "\n" for node in sites.nodes)
    elif not keep_debug:
        strip_debug(module)
    if marks is not None:
        module.definitions = [revealed(text) for text in module.definitions]
        module.epilogue = marks.close(module.epilogue)
    module.epilogue += "".join(node + "\n" for node in worker.odds.nodes)
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
        self, reader: ModuleReader, sites: Sites | None, marks: UnitMarks | None, tag: int | None
    ) -> None:
        self.reader, self.options, self.machine = reader, reader.options, reader.machine
        self.sites, self.marks, self.tag = sites, marks, tag
        self.slots = 0
        self.facts: list[FunctionFacts] = []
        self.personalities = Personalities(reader.attributes)
        self.odds = Odds(reader.debug.fresh)

    def function(self, ir: IRFunction) -> str | None:
        """Instrument one function; None when it is left as it is."""
        function = self.reader.function(ir)
        if function is None:
            return None
        read, optnone = function.read, function.optnone
        planned = plan_for(read, self.options, self.machine, self.slots, function.features)
        place = Place(self.slots, len(self.facts), self.machine, self.options.calls, self.tag)
        if self.sites is not None and self.options.stage != "early":
            read.ir.header = self.personalities.give(read.ir.header)
        shaped = ClonedFunction(read, planned)
        if self.options.copies and not optnone:
            shaped = clone_hot_blocks(read, planned, self.reader.attributes, self.reader.types)
        read = shaped.read
        marks = self.marks.of(read, place.number, function.line, optnone) if self.marks is not None else None
        odds = self.odds if self.options.odds and planned.measured else None
        lowered = lower(read, shaped.planned, place, self.sites, marks, odds)
        self.facts.append(
            self.reader.facts(function, planned.plan, self.slots, lowered.registers, shaped.clones)
        )
        self.slots += lowered.slots
        if optnone or (self.options.durable and self.options.stage == "early"):
            return in_one_step(lowered.text, self.machine)
        return lowered.text


def read_module(text: str, source: str, options: Options) -> UnitFacts:
    """The facts of a module given as text, with the plans that it would get; nothing is made of it."""
    reader = ModuleReader(cut_module(text), source, options)
    found: list[FunctionFacts] = []
    slots = 0
    for definition in reader.module.definitions:
        function = reader.function(cut_function(definition))
        if function is not None:
            planned = plan_for(function.read, options, reader.machine, slots, function.features)
            found.append(reader.facts(function, planned.plan, slots))
            slots += planned.plan.slots
    return identified(reader.unit(tuple(found), slots), tag_of_text(text))[0]
