"""Features of the branches of a function in LLVM IR (WL94 §3.1), for the heuristics that predict them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.native.analysis.comparisons import Condition, Values
from trodden.native.analysis.constant_returns import returned_constants
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.trip_counts import constant_trip_counts
from trodden.native.ir.attributes import Attributes, read_attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.metadata import branch_weights
from trodden.native.ir.module import IRModule
from trodden.native.ir.signatures import call_signature, function_signature
from trodden.native.ir.symbols import (
    Aliases,
    function_symbols,
    read_aliases,
    started_functions,
    taken_functions,
)
from trodden.native.ir.syntax.header import FunctionHeader
from trodden.native.ir.syntax.names import unquote
from trodden.native.ir.syntax.nesting import split_list
from trodden.native.ir.uses import first_is_load, global_names, mentions_value
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    FunctionFeatures,
    ReturnedConstant,
)

_STANDARD_ERROR = frozenset(
    {"stderr", "__stderrp", "_ZSt4cerr", "_ZSt4clog", "_ZNSt3__14cerrE", "_ZNSt3__14clogE"}
)
_TRUTH = {"true": 1, "false": 0}
_ENDINGS = {
    "ret": BlockEnding.RETURNS,
    "unreachable": BlockEnding.NEVER_RETURNS,
    "resume": BlockEnding.UNWINDS,
    "cleanupret": BlockEnding.UNWINDS,
}


@dataclass(frozen=True)
class ModuleFeatures:
    """What the functions of a module share: its functions, those whose address is taken, branch weights.

    ``functions`` are all names of functions, among them those in ``aliases``, which are other names of the
    same functions; ``started`` are constructors and destructors.  ``writes_errors``: the module refers to the
    standard error stream at all.
    """

    attributes: Attributes
    functions: frozenset[str]
    aliases: Aliases
    taken: tuple[str, ...]
    started: tuple[str, ...]
    weights: dict[str, tuple[bool, tuple[int, ...]]]
    writes_errors: bool = False


def read_module_features(module: IRModule, attributes: Attributes | None = None) -> ModuleFeatures:
    """Read what concerns a module as a whole."""
    defined = function_symbols(module)
    aliases = read_aliases(module, defined)
    functions = defined.union(name for name, _ in aliases.public)
    outside = [module.prologue, *module.between]
    return ModuleFeatures(
        attributes or read_attributes(module),
        functions,
        aliases,
        taken_functions(module, functions, aliases),
        started_functions(module, aliases),
        branch_weights(module.epilogue),
        any(f"@{name}" in text for text in outside for name in _STANDARD_ERROR),
    )


def function_features(read: FunctionCfg, module: ModuleFeatures) -> FunctionFeatures:
    """The features of one function."""
    ir = read.ir
    values = Values(ir)
    trip_counts = constant_trip_counts(read.graph, ir, read.loops, values)
    by_label = {block.label: block for block in ir.blocks}
    returned = returned_constants(ir)
    return FunctionFeatures(
        blocks=tuple(
            _block(
                block,
                values,
                by_label,
                module,
                trip_counts.get(vertex, 0),
                returned.get(block.label, ReturnedConstant.NOTHING),
            )
            for vertex, block in enumerate(ir.blocks)
        ),
        signature=function_signature(ir.header),
        local=FunctionHeader(ir.header).is_local,
        cold="cold" in module.attributes.of_header(ir.header),
    )


def _block(
    block: IRBlock,
    values: Values,
    by_label: dict[str, IRBlock],
    module: ModuleFeatures,
    trip_count: int,
    returned: ReturnedConstant,
) -> BlockFeatures:
    condition = values.condition(block.terminator) if len(block.successors) == 2 else None
    stated, guessed = _weights(block, module)
    return BlockFeatures(
        ending=_ENDINGS.get(block.opcode, BlockEnding.CONTINUES),
        test=condition.test if condition is not None else None,
        guarded=_guarded(condition, [by_label[label] for label in block.successors]) if condition else (),
        stores=block.count("store"),
        calls=tuple(_calls(block, values, module)),
        source_weights=condition.stated if condition is not None and condition.stated is not None else stated,
        compiler_weights=guessed,
        cases=_cases(block),
        may_throw=block.opcode == "invoke",
        trip_count=trip_count,
        returned=returned,
    )


def _cases(block: IRBlock) -> tuple[int | None, ...]:
    """The constants of a switch, the default first."""
    if block.opcode != "switch":
        return ()
    words = [constant for constant, _ in block.terminator.cases]
    found = (None, *(_TRUTH[word] if word in _TRUTH else int(word) for word in words))
    return found if len(found) == len(block.successors) else ()


def _weights(block: IRBlock, module: ModuleFeatures) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The branch weights of a terminator: those of the source, and those of the compiler."""
    node = block.terminator.attachment("prof") if block.opcode in ("br", "switch") else None
    expected, weights = module.weights.get(node, (False, ())) if node is not None else (False, ())
    if len(weights) != len(block.successors) or not any(weights):
        return (), ()
    return (weights, ()) if expected else ((), weights)


def _guarded(condition: Condition, successors: Sequence[IRBlock]) -> tuple[int, ...]:
    """The positions of the successors that use a compared value before they change it."""
    return tuple(position for position, block in enumerate(successors) if _uses(block, condition))


def _uses(block: IRBlock, condition: Condition) -> bool:
    body = block.text[block.insertion_point() :]
    return any(
        mentions_value(body, f"%{name}") and block.definition(name) is None for name in condition.values
    ) or any(first_is_load(body, variable) for variable in condition.variables)


def _calls(block: IRBlock, values: Values, module: ModuleFeatures) -> list[CallFeatures]:
    """The calls of a block, intrinsics and inline assembly left out."""
    found: list[CallFeatures] = []
    for call in (*block.calls, block.terminator) if block.opcode == "invoke" else block.calls:
        callee = call.callee
        if callee is None and (call.call is None or not (call.call.callee or "").startswith("%")):
            continue
        symbol = "" if callee is None else module.aliases.resolve(unquote(callee))
        if symbol.startswith("llvm."):
            continue
        known = module.attributes.of_call_to(symbol, call)
        arguments = call.argument_list
        found.append(
            CallFeatures(
                symbol,
                "" if symbol else call_signature(call),
                _passed(arguments, module),
                cold="cold" in known,
                reports_error=module.writes_errors and _writes_errors(call, values),
                ends="noreturn" in known,
            )
        )
    return found


def _passed(arguments: str, module: ModuleFeatures) -> tuple[tuple[int, str], ...]:
    """The functions whose addresses are passed, each with the position of the argument."""
    if "@" not in arguments:
        return ()
    return tuple(
        (position, name)
        for position, argument in enumerate(split_list(arguments))
        for name in map(module.aliases.resolve, global_names(argument))
        if name in module.functions
    )


def _writes_errors(call: Instruction, values: Values) -> bool:
    """Whether an argument is the standard error stream, or was loaded from there."""
    if not _STANDARD_ERROR.isdisjoint(global_names(call.argument_list)):
        return True
    definitions = (values.definition(argument.local) for argument in call.arguments)
    return any(
        not _STANDARD_ERROR.isdisjoint(global_names(definition.text))
        for definition in definitions
        if definition is not None
    )
