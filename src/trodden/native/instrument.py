"""Instrument a whole module: read, weigh and plan, clone, lower, and describe what was done.

The input is the IR that the compiler generated; the output is that IR with probes and counters, and the
unit's facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trodden.native.analysis.known_calls import TracedCalls, traced_calls
from trodden.native.analysis.module_reader import ModuleFunction, ModuleReader, tag_of_text
from trodden.native.clone.clone_blocks import ClonedFunction, clone_hot_blocks
from trodden.native.ir.function import cut_function
from trodden.native.ir.module import cut_module
from trodden.native.ir.strip_debug import strip_declarations, strip_definition
from trodden.native.lower.early_labels import label_calls
from trodden.native.lower.ifunc_resolvers import with_runtime_calls
from trodden.native.lower.inlined_unwinding import mark_unwinding
from trodden.native.lower.lower import FunctionInUnit, lower
from trodden.native.lower.module_globals import finish_module
from trodden.native.lower.unit import UnitLowering
from trodden.native.options.declarations import Options
from trodden.native.planning.plan_function import plan_for
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
    unit = UnitLowering.of(reader, tag, keep_debug)
    definitions: list[str] = []
    functions: list[FunctionFacts] = []
    slots, called = 0, frozenset[str]()
    for definition, function, calls in _read_functions(reader):
        if function is None:
            resolves = reader.is_resolver(definition)
            definitions.append(unit.untouched(with_runtime_calls(definition) if resolves else definition))
            continue
        planned = plan_for(function.read, options, reader.machine, slots, function.features, calls)
        cloned = ClonedFunction(function.read, planned)
        if options.clone_blocks and not function.optnone:
            cloned = clone_hot_blocks(function.read, planned, reader.attributes, reader.types)
        in_unit = FunctionInUnit(len(functions), slots, function.line, function.optnone)
        lowered = lower(cloned.read, cloned.planned, unit, in_unit)
        definitions.append(lowered.text)
        functions.append(reader.facts(function, planned.plan, slots, lowered.registers, cloned.clones))
        slots += lowered.slots
        called |= lowered.called
    if options.stage == "early" and options.call_sites:
        definitions = [mark_unwinding(definition) for definition in definitions]
    module.definitions = definitions
    sites = unit.call_sites if functions else ()
    facts, record = identified(reader.unit(tuple(functions), slots, sites), tag)
    finish_module(module, unit, facts, called, filled)
    return Instrumented(module.render(), facts, record)


def _read_functions(
    reader: ModuleReader,
) -> Iterator[tuple[str, ModuleFunction | None, TracedCalls | None]]:
    """The functions of a module, each with its text; None if it is not to be instrumented.

    Which calls a trace need not record follows from all functions that are traced.
    """
    module = reader.module
    each = ((definition, reader.function(cut_function(definition))) for definition in module.definitions)
    if not reader.options.traces:
        yield from ((definition, function, None) for definition, function in each)
        return
    found = list(each)
    read = [function.read for _, function in found if function is not None]
    calls = iter(traced_calls(module, read))
    for definition, function in found:
        yield definition, function, None if function is None else next(calls)


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
    for _, function, calls in _read_functions(reader):
        if function is not None:
            planned = plan_for(function.read, options, reader.machine, slots, function.features, calls)
            functions.append(reader.facts(function, planned.plan, slots))
            slots += planned.plan.slots
    return identified(reader.unit(tuple(functions), slots), tag_of_text(text))[0]
