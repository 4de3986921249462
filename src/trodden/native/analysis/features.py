"""Clues about where control goes (WL94 §3.1), read off a function in LLVM IR."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.native.analysis.call_effects import Attributes, read_attributes
from trodden.native.analysis.comparisons import Condition, Values
from trodden.native.analysis.constant_returns import returned_constants
from trodden.native.analysis.function_cfg import FunctionRead
from trodden.native.analysis.trip_counts import certain_trips
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME
from trodden.native.ir.module import IRModule
from trodden.native.ir.names import unquote
from trodden.native.ir.signatures import call_signature, enclosed, signature, split_arguments
from trodden.native.ir.symbols import (
    Aliases,
    function_symbols,
    read_aliases,
    started_functions,
    taken_functions,
)
from trodden.weigh.features.clues import BlockClues, CallClue, Ending, FunctionClues, Given

_CALL = re.compile(rf"^  (?:%{NAME} = )?(?:(?:tail |musttail |notail )?call|invoke) (.*)$", re.MULTILINE)
_CALLEE = re.compile(rf"([@%])({NAME})\(")
_PASSED = re.compile(rf"@({NAME})")
_ERRORS_GO = re.compile(r"@(?:stderr|__stderrp|_ZSt4cerr|_ZNSt3__14cerrE|_ZNSt3__14clogE|_ZSt4clog)\b")
_VALUE = re.compile(rf"%({NAME})")
_SITE_GROUP = re.compile(r"\) #(\d+)")
_STORE = re.compile(r"^  (?:store|atomicrmw|cmpxchg) ", re.MULTILINE)
_HEADER = re.compile(rf"@{NAME}\(")
_WEIGHTS = re.compile(r'^!(\d+) = !\{!"branch_weights", (!"expected", )?(i32 .*)\}$', re.MULTILINE)
_UNSIGNED = (1 << 32) - 1
_CASE = re.compile(r"^    i\d+ (-?\d+|true|false), label", re.MULTILINE)
_TRUTH = {"true": 1, "false": 0}
_PROFILE = re.compile(r"!prof !(\d+)")
_LOCAL = re.compile(r"define (?:\w+ )*?(?:internal|private) ")
_ENDINGS = {
    "ret": Ending.RETURNS,
    "unreachable": Ending.NEVER_RETURNS,
    "resume": Ending.UNWINDS,
    "cleanupret": Ending.UNWINDS,
}


@dataclass(frozen=True)
class ModuleClues:
    """What the functions of a module share: its functions, those whose address is taken, branch weights.

    ``functions`` are all names of functions, ``aliases`` says which of them are others for the same one, and
    ``started`` are constructors and destructors.  ``complains`` says that the module knows where errors are
    written to at all.
    """

    attributes: Attributes
    functions: frozenset[str]
    aliases: Aliases
    taken: tuple[str, ...]
    started: tuple[str, ...]
    weights: dict[str, tuple[bool, tuple[int, ...]]]
    complains: bool = False


def read_module_clues(module: IRModule, attributes: Attributes | None = None) -> ModuleClues:
    """Read what concerns a module as a whole."""
    defined = function_symbols(module)
    aliases = read_aliases(module, defined)
    functions = defined.union(name for name, _ in aliases.public)
    weights = {
        number: (bool(expected), tuple(int(word.split()[-1]) & _UNSIGNED for word in numbers.split(", ")))
        for number, expected, numbers in _WEIGHTS.findall(module.epilogue)
    }
    return ModuleClues(
        attributes or read_attributes(module),
        functions,
        aliases,
        taken_functions(module, functions, aliases),
        started_functions(module, aliases),
        weights,
        _ERRORS_GO.search(module.prologue + "".join(module.between)) is not None,
    )


def function_clues(read: FunctionRead, module: ModuleClues) -> FunctionClues:
    """The clues of one function."""
    ir = read.ir
    values = Values(ir)
    trips = certain_trips(read.graph, ir, read.loops, values)
    by_label = {block.label: block for block in ir.blocks}
    given = returned_constants(ir)
    return FunctionClues(
        blocks=tuple(
            replace(
                _block(block, values, by_label, module),
                trips=trips.get(vertex, 0),
                gives=given.get(block.label, Given.NOTHING),
            )
            for vertex, block in enumerate(ir.blocks)
        ),
        signature=_own_signature(ir),
        local=_LOCAL.match(ir.header) is not None,
        cold="cold" in module.attributes.of_header(ir.header),
    )


def _own_signature(ir: IRFunction) -> str:
    at = _HEADER.search(ir.header)
    assert at is not None, ir.header
    return signature(ir.header[: at.start()], enclosed(ir.header, at.end() - 1))


def _block(block: IRBlock, values: Values, by_label: dict[str, IRBlock], module: ModuleClues) -> BlockClues:
    terminator = block.text[block.terminator_start :]
    condition = values.condition(terminator) if len(block.successors) == 2 else None
    said, guessed = _weights(block, terminator, module)
    return BlockClues(
        ending=_ENDINGS.get(block.opcode, Ending.GOES_ON),
        test=condition.test if condition is not None else None,
        guarded=_guarded(condition, [by_label[label] for label in block.successors]) if condition else (),
        stores=len(_STORE.findall(block.text)),
        calls=tuple(_calls(block, values, module)),
        said=condition.said if condition is not None and condition.said is not None else said,
        guessed=guessed,
        cases=_cases(block, terminator),
        may_throw=block.opcode == "invoke",
    )


def _cases(block: IRBlock, terminator: str) -> tuple[int | None, ...]:
    """The constants of a switch, the default first."""
    if block.opcode != "switch":
        return ()
    words = _CASE.findall(terminator)
    found = (None, *(_TRUTH[word] if word in _TRUTH else int(word) for word in words))
    return found if len(found) == len(block.successors) else ()


def _weights(block: IRBlock, terminator: str, module: ModuleClues) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The branch weights of a terminator: those of the source, and those of the compiler."""
    match = _PROFILE.search(terminator) if block.opcode in ("br", "switch") else None
    expected, weights = module.weights.get(match.group(1), (False, ())) if match is not None else (False, ())
    if len(weights) != len(block.successors) or not any(weights):
        return (), ()
    return (weights, ()) if expected else ((), weights)


def _guarded(condition: Condition, targets: Sequence[IRBlock]) -> tuple[int, ...]:
    """The successors that look at a compared value before they change it."""
    return tuple(place for place, block in enumerate(targets) if _uses(block, condition))


def _uses(block: IRBlock, condition: Condition) -> bool:
    body = block.text[block.insertion_point() :]
    if any(
        _mentioned(body, f"%{name}") >= 0 and f"  %{name} = " not in block.text for name in condition.values
    ):
        return True
    for cell in condition.cells:
        at = _mentioned(body, f"ptr {cell}")
        if at >= 0 and "= load " in body[body.rfind("\n", 0, at) + 1 : at]:
            return True
    return False


def _mentioned(text: str, name: str) -> int:
    """Where a name stands in a text, not as the start of a longer one; -1 if nowhere."""
    at = text.find(name)
    while at >= 0:
        after = text[at + len(name) : at + len(name) + 1]
        if not (after.isalnum() or after in "._$-") or not after:
            return at
        at = text.find(name, at + 1)
    return -1


def _calls(block: IRBlock, values: Values, module: ModuleClues) -> list[CallClue]:
    """The calls of a block, intrinsics and inline assembly left out."""
    found: list[CallClue] = []
    for match in _CALL.finditer(block.text):
        line = match.group(1)
        callee = _CALLEE.search(line)
        if callee is None or " asm " in line[: callee.start()]:
            continue
        symbol = module.aliases.meant(unquote(callee.group(2))) if callee.group(1) == "@" else ""
        if symbol.startswith("llvm."):
            continue
        arguments = enclosed(line, callee.end() - 1)
        kind = "" if symbol else call_signature(line[: callee.start()], arguments)
        known = _attributes(symbol, line, module)
        found.append(
            CallClue(
                symbol,
                kind,
                _passed(arguments, module),
                cold="cold" in known,
                complains=module.complains and _complains(arguments, values),
                ends="noreturn" in known,
            )
        )
    return found


def _passed(arguments: str, module: ModuleClues) -> tuple[tuple[int, str], ...]:
    if "@" not in arguments:
        return ()
    return tuple(
        (place, name)
        for place, argument in enumerate(split_arguments(arguments))
        for name in map(module.aliases.meant, map(unquote, _PASSED.findall(argument)))
        if name in module.functions
    )


def _complains(arguments: str, values: Values) -> bool:
    """Whether an argument is where errors are written to, or was loaded from there."""
    if _ERRORS_GO.search(arguments):
        return True
    return any(_ERRORS_GO.search(values.made(name)) for name in _VALUE.findall(arguments))


def _attributes(symbol: str, line: str, module: ModuleClues) -> frozenset[str]:
    """What is known of a call by its callee and by the place where it stands."""
    site = _SITE_GROUP.search(line)
    known = module.attributes.functions.get(symbol, frozenset())
    return known if site is None else known | module.attributes.groups.get(site.group(1), frozenset())
