"""Calls whose callee is certain, so that nothing has to be recorded when it is entered.

A function is called by such calls only if no other unit can call it and each of its uses here is a call that
comes back to a function with probes.  One that may call itself is none of them: whoever reads a trace follows
known calls without looking at records, and would not come to an end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trodden.graph.components import strong_components
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.module import IRModule
from trodden.native.ir.symbols import read_aliases, started_functions, taken_functions
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.names import unquote
from trodden.native.ir.uses import global_names


@dataclass(frozen=True)
class TracedCalls:
    """What a trace has to know of the calls of one function.

    ``callees`` are its recording calls by their blocks, each with the index of the function that it certainly
    calls.  ``entered``: calls of the function itself are not all known.
    """

    callees: Mapping[int, int | None] = field(default_factory=dict)
    entered: bool = True


def traced_calls(module: IRModule, functions: Sequence[FunctionCfg]) -> list[TracedCalls]:
    """The calls of all functions of a module that are traced, in the order of their indices."""
    numbers = {function.ir.symbol: number for number, function in enumerate(functions)}
    callees = [_callees(function, numbers) for function in functions]
    known = _without_cycles(callees, set(numbers.values()) - _others(module, functions, numbers, callees))
    return [
        TracedCalls(
            {
                block: callee if callee in known else None
                for block in function.recording_calls
                for callee in (called.get(block),)
            },
            entered=number not in known,
        )
        for number, (function, called) in enumerate(zip(functions, callees, strict=True))
    ]


def _callees(function: FunctionCfg, numbers: Mapping[str, int]) -> dict[int, int]:
    """The traced functions that blocks call directly."""
    found: dict[int, int] = {}
    for block, call in function.recording_calls.items():
        callee = function.ir.blocks[block].terminator.callee if call is None else call.callee
        number = None if callee is None else numbers.get(unquote(callee))
        if number is not None:
            found[block] = number
    return found


def _others(
    module: IRModule,
    functions: Sequence[FunctionCfg],
    numbers: Mapping[str, int],
    callees: Sequence[Mapping[int, int]],
) -> set[int]:
    """The functions that may be called in another way, or never are."""
    aliases = read_aliases(module, numbers)
    names = {*taken_functions(module, numbers, aliases), *started_functions(module, aliases)}
    names.update(aliases.certain.values(), (function for _, function in aliases.public))
    for definition in module.definitions:
        symbol = FunctionHeader(definition[: definition.index("\n")]).symbol
        if symbol not in numbers:
            names.update(global_names(definition))
    found = {numbers[name] for name in names if name in numbers}
    called: set[int] = set()
    for number, function in enumerate(functions):
        if not FunctionHeader(function.ir.header).is_local:
            found.add(number)
        # A call of it may lead to any function, which returns in its place.
        if any(function.leaves(block) for block in function.recording_calls):
            found.add(number)
        for block, callee in callees[number].items():
            called.add(callee)
            # A call that returns twice is recorded each time it does, in whatever function it is.
            if function.leaves(block) or block in function.returns_twice:
                found.add(callee)
    return found | (set(numbers.values()) - called)


def _without_cycles(callees: Sequence[Mapping[int, int]], candidates: set[int]) -> set[int]:
    """The candidates that do not call themselves, directly or through others."""
    successors = [sorted(set(called.values()) & candidates) for called in callees]
    return {
        number
        for component in strong_components(successors, sorted(candidates))
        for number in component
        if len(component) == 1 and number not in successors[number]
    }
