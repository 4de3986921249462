"""Views of instructions say what LLVM itself says of them: opcodes, operands, types, successors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from tests.native.building import PROGRAMS
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.build import Builder
from trodden.native.driver.command_line import parse
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import cut_function
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.llvm import check
from trodden.native.ir.module import cut_module
from trodden.native.ir.syntax.opcodes import TERMINATORS
from trodden.native.options.declarations import Options

ALL_INSTRUCTIONS = Path(__file__).parent / "all_instructions.ll"
OPCODES = frozenset(
    """ret br switch indirectbr invoke callbr resume catchswitch catchret cleanupret unreachable fneg
    add fadd sub fsub mul fmul udiv sdiv fdiv urem srem frem shl lshr ashr and or xor
    extractelement insertelement shufflevector extractvalue insertvalue
    alloca load store fence cmpxchg atomicrmw getelementptr
    trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp
    ptrtoint ptrtoaddr inttoptr bitcast addrspacecast
    icmp fcmp phi select freeze call va_arg landingpad catchpad cleanuppad""".split()  # noqa: SIM905 - sixty words read better than sixty literals
)


def pairs(text: str) -> Iterator[tuple[IRBlock, Instruction, llvm.ValueRef]]:
    """Every instruction of a module: its block, its view, and LLVM's own."""
    module = llvm.parse_assembly(text)
    functions = {
        function.symbol: function for function in map(cut_function, cut_module(str(module)).definitions)
    }
    for function in module.functions:
        if function.is_declaration:
            continue
        for theirs, ours in zip(function.blocks, functions[function.name].blocks, strict=True):
            for own, view in zip(theirs.instructions, ours.instructions, strict=True):
                yield ours, view, own


def check_view(block: IRBlock, view: Instruction, own: llvm.ValueRef) -> None:
    assert view.opcode == own.opcode
    assert (view.type or "void") == str(own.type).split(" = type ")[0].replace("token", "void"), view
    operands = list(own.operands)
    printed = len(view.operands)
    if view.opcode == "alloca" and printed == 0:
        printed = 1
    assert printed == len(operands), (view, view.operands)
    if view.opcode in TERMINATORS:
        assert view.successors == block.successors
        labels = [operand for operand in operands if str(operand.type) == "label"]
        assert len(labels) == len(view.successors)
    if view.is_phi:
        assert [value for value, _ in view.incoming] == [operand.value for operand in view.operands]


def reassembled(block: IRBlock) -> str:
    """A block's text, put together from its views and what lies between."""
    pieces: list[str] = []
    position = 0
    for view in block.instructions:
        between = block.text[position : view.start]
        assert all(
            not line or line.startswith("    #dbg_") or line.partition(":")[0] == block.label
            for line in between.split("\n")
        ), between
        pieces += [between, view.text]
        position = view.end
    return "".join(pieces) + block.text[position:]


def check_module(text: str) -> set[str]:
    """Check all views of a module; the opcodes that it has."""
    found: set[str] = set()
    for block, view, own in pairs(text):
        check_view(block, view, own)
        found.add(view.opcode)
        if view.opcode in TERMINATORS:
            assert reassembled(block) == block.text
            assert block.terminator.text == view.text
            phis = [each.text for each in block.instructions if each.is_phi]
            assert [phi.text for phi in block.phis] == phis
            calls = [each.text for each in block.instructions if each.opcode == "call"]
            assert [call.text for call in block.calls] == calls
    return found


def test_all_instructions() -> None:
    text = ALL_INSTRUCTIONS.read_text()
    check(text, ALL_INSTRUCTIONS.name)
    assert check_module(text) == OPCODES


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    "name",
    [
        "calculator.c",
        "exact_flow.c",
        "unusual_jumps.c",
        "goto_tail.c",
        "exact_throws.cpp",
        "exceptions_through_c.cpp",
    ],
)
def test_real_modules(name: str, level: str) -> None:
    line = parse(["-S", "-emit-llvm", level, "-g", str(PROGRAMS / name)], cxx=name.endswith(".cpp"))
    source = line.sources[0]
    with scratch() as directory:
        text = Builder(find_toolchain(None), Options(), line, source.cxx).ir(source, directory)
    assert {"call", "load", "icmp", "br", "ret"} <= check_module(text)
    module = cut_module(text)
    module.definitions = [cut_function(definition).render() for definition in module.definitions]
    assert module.render() == text
