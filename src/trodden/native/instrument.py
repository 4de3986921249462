"""Instrument a whole module: read, weigh and plan, clone, lower, and describe what was done.

The input is the IR that the compiler generated; the output is that IR with probes and counters, and the
unit's facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trodden.native.analysis.known_calls import TracedCalls, traced_calls
from trodden.native.analysis.module_reader import ModuleFunction, ModuleReader, tag_of_text
from trodden.native.clone.clone_blocks import ClonedFunction, clone_hot_blocks
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.ir.strip_debug import strip_declarations, strip_definition
from trodden.native.lower.call_layout import CallLayout
from trodden.native.lower.call_names import CallNames
from trodden.native.lower.early_labels import label_calls
from trodden.native.lower.ifunc_resolvers import with_runtime_calls
from trodden.native.lower.inlined_unwinding import mark_unwinding
from trodden.native.lower.lower import FunctionInUnit, lower
from trodden.native.lower.module_globals import finish_module
from trodden.native.lower.unit import UnitLowering
from trodden.native.options.declarations import Options
from trodden.native.planning.plan_calls import Callees, call_sites
from trodden.native.planning.plan_function import plan_for
from trodden.plan.overlap_probes import CallSite
from trodden.program.call_site_table import tag_of
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.program.unit_codec import identified


@dataclass
class Instrumented:
    """The result: new IR text, its facts, and the record that goes into section ``.trodden``."""

    text: str
    facts: UnitFacts
    record: bytes


def instrument(
    text: str,
    source: str,
    options: Options,
    keep_debug: bool,
    filled: bool = False,
    inlined_calls: Mapping[str, Mapping[str, int]] | None = None,
) -> Instrumented:
    """Instrument every function of a module given as text.

    ``keep_debug``: the module's debug information is for the user; ``filled``: counters take space in the
    object file.  ``inlined_calls`` is how often the optimiser says to have inlined which functions where.
    """
    module, tag = cut_module(text), tag_of_text(text)
    reader = ModuleReader(module, source, options, inlined_calls or {})
    found = list(_read_functions(reader))
    over_calls = _layout(reader, tag, found) if options.over_calls else None
    unit = UnitLowering.of(reader, tag, keep_debug, over_calls)
    definitions: list[str] = []
    functions: list[FunctionFacts] = []
    slots, called = 0 if over_calls is None else over_calls.slots, frozenset[str]()
    for definition, function, calls, sites in found:
        if function is None:
            resolves = reader.is_resolver(definition)
            definitions.append(unit.untouched(with_runtime_calls(definition) if resolves else definition))
            continue
        planned = plan_for(function.read, options, reader.machine, slots, function.features, calls, sites)
        cloned = ClonedFunction(function.read, planned)
        if options.clone_blocks and not function.optnone:
            cloned = clone_hot_blocks(function.read, planned, reader.attributes, reader.types)
        layout = None if over_calls is None else over_calls.add(function.read, planned.plan)
        in_unit = FunctionInUnit(len(functions), slots, function.line, function.optnone, layout)
        lowered = lower(cloned.read, cloned.planned, unit, in_unit)
        definitions.append(lowered.text)
        functions.append(reader.facts(function, planned.plan, slots, lowered.registers, cloned.clones))
        slots += lowered.slots
        called |= lowered.called
    if options.stage == "early" and options.call_sites:
        definitions = [mark_unwinding(definition) for definition in definitions]
    module.definitions = definitions
    labels = unit.call_sites if functions else ()
    facts, record = identified(reader.unit(tuple(functions), slots, labels), tag)
    finish_module(module, unit, facts, called, filled)
    return Instrumented(module.render(), facts, record)


def _layout(reader: ModuleReader, tag: int, found: Sequence[_Read]) -> CallLayout:
    """The layout of what a module counts over calls, of no function yet."""
    return CallLayout(CallNames.of(reader, tag), sum(len(each.sites) for each in found))


class _Read(NamedTuple):
    """A definition; the function, unless it gets no probes; and what its plan needs to know of its calls."""

    definition: str
    function: ModuleFunction | None
    calls: TracedCalls | None = None
    sites: Sequence[CallSite] = ()


def _read_functions(reader: ModuleReader) -> Iterator[_Read]:
    """The functions of a module.

    Which calls a trace need not record, and which may lead to a function with probes,
    follows from all of them.
    """
    module = reader.module
    each = (_Read(text, reader.function(cut_function(text))) for text in module.definitions)
    if reader.options.traces:
        found = list(each)
        traced = iter(traced_calls(module, [one.function.read for one in found if one.function is not None]))
        yield from (one if one.function is None else one._replace(calls=next(traced)) for one in found)
    elif reader.options.over_calls:
        found = list(each)
        known = {one.function.read.ir.symbol for one in found if one.function is not None}
        callees = Callees(frozenset(known), reader.attributes.defined, reader.aliases.certain)
        sites = 0
        for one in found:
            if one.function is None:
                yield one
            else:
                own = call_sites(one.function.read, callees, sites)
                sites += len(own)
                yield one._replace(sites=own)
    else:
        yield from each


def finish_early(text: str, facts: UnitFacts, keep_debug: bool) -> str:
    """What is left to do for a module that was instrumented early, once it is optimised."""
    module = label_calls(text, tag_of(facts.id))
    if not keep_debug:
        module.definitions = [strip_definition(definition) for definition in module.definitions]
        strip_declarations(module)
    return module.render()


def read_module(text: str, source: str, options: Options) -> UnitFacts:
    """The facts of a module given as text, with the plans that it would get; nothing is made of it."""
    reader = ModuleReader(cut_module(text), source, options)
    functions: list[FunctionFacts] = []
    slots = 0
    for _, function, calls, sites in _read_functions(reader):
        if function is not None:
            planned = plan_for(function.read, options, reader.machine, slots, function.features, calls, sites)
            functions.append(reader.facts(function, planned.plan, slots))
            slots += planned.plan.slots
    return identified(reader.unit(tuple(functions), slots), tag_of_text(text))[0]
