"""Which blocks of a function in LLVM IR make it return a constant, and of what kind.

A function that returns -1 or a null pointer mostly reports an error.  The constant reaches the ``ret``
directly, through a phi where control flow joins or, before optimisation, through a local variable.
"""

from __future__ import annotations

from collections.abc import Mapping

from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction
from trodden.weigh.features.block_features import ReturnedConstant

_MOST_PHIS = 8
"""How many phis a constant is followed through towards the ``ret``."""


def returned_constants(ir: IRFunction) -> Mapping[str, ReturnedConstant]:
    """The blocks (their labels) after which the function returns a constant, and its kind.

    Only of scalars: aggregates and vectors are left out.
    """
    phis: dict[str, Instruction] | None = None
    found: dict[str, ReturnedConstant] = {}
    variables: set[str] = set()
    for block in ir.blocks:
        if block.opcode != "ret" or not block.terminator.operands:
            continue
        (returned,) = block.terminator.operands
        if returned.type[0] in "{[<":
            continue
        if returned.local is None:
            found[block.label] = _kind(returned.value)
            continue
        variable = _loaded_variable(ir, block, returned.local)
        if variable is not None and variable not in variables:
            variables.add(variable)
            found.update(_stored(ir, variable))
        if phis is None:
            phis = {phi.result: phi for each in ir.blocks for phi in each.phis if phi.result is not None}
        _follow(returned.local, phis, found)
    return found


def _follow(name: str, phis: Mapping[str, Instruction], found: dict[str, ReturnedConstant]) -> None:
    """Follow a value backwards through phis to the predecessors that contribute constants."""
    work, seen = [name], set[str]()
    while work and len(seen) < _MOST_PHIS:
        name = work.pop()
        if name in seen or name not in phis or not _is_scalar(phis[name]):
            continue
        seen.add(name)
        for value, label in phis[name].incoming:
            if value.startswith("%"):
                work.append(value[1:])
            elif _is_simple(value):
                found[label] = _kind(value)


def _is_scalar(phi: Instruction) -> bool:
    """Whether a phi is of a type of one word, without flags."""
    return not phi.flags and " " not in (phi.type or " ")


def _is_simple(value: str) -> bool:
    """Whether a constant is no expression: those are addresses."""
    return " " not in value and "," not in value


def _loaded_variable(ir: IRFunction, block: IRBlock, name: str) -> str | None:
    """The local variable that a value is loaded from in a block, if it is."""
    load = block.definition(name)
    if load is None or load.opcode != "load" or load.operands[0].type != "ptr":
        return None
    variable = load.operands[0].local
    # All variables are allocated in the first block.
    allocation = ir.blocks[0].definition(variable) if variable is not None else None
    return variable if allocation is not None and allocation.opcode == "alloca" else None


def _stored(ir: IRFunction, variable: str) -> dict[str, ReturnedConstant]:
    """The blocks whose last store to the variable that is returned is of a constant."""
    found: dict[str, ReturnedConstant] = {}
    for block in ir.blocks:
        if f", ptr %{variable}" not in block.text:
            continue
        values = [
            instruction.operands[0].value
            for instruction in block.instructions
            if instruction.opcode == "store" and _is_store_to(instruction, variable)
        ]
        if values and not values[-1].startswith("%"):
            found[block.label] = _kind(values[-1])
    return found


def _is_store_to(store: Instruction, variable: str) -> bool:
    """Whether a store is a plain one of a scalar to a variable."""
    value, pointer = store.operands
    if pointer.local != variable or pointer.type != "ptr" or store.flags:
        return False
    return " " not in value.type and _is_simple(value.value)


def _kind(value: str) -> ReturnedConstant:
    if value in ("poison", "undef"):
        return ReturnedConstant.NOTHING
    if value == "null":
        return ReturnedConstant.NULL
    if value in ("0", "false", "zeroinitializer"):
        return ReturnedConstant.ZERO
    return ReturnedConstant.NEGATIVE if value.startswith("-") else ReturnedConstant.CONSTANT
