"""Lengths, control flow and stores of x86-64 instructions."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.native.building import environment
from trodden.collect.binary.elf import SHF_EXECINSTR, SHT_NOBITS, SYMBOL_TABLES, ElfFile
from trodden.collect.binary.x86 import Flow, decode

INSTRUCTIONS = {
    "push rbp": ("55", Flow.NEXT, False),
    "mov rbp, rsp": ("4889e5", Flow.NEXT, False),
    "inc qword fs:[disp32]": ("6448ff0425a0ffffff", Flow.NEXT, True),
    "inc qword fs:[rdx * 8 + disp32]": ("6448ff04d530fcffff", Flow.NEXT, True),
    "add qword [rax], imm8": ("48830001", Flow.NEXT, True),
    "cmp qword [rax], imm8": ("48833801", Flow.NEXT, False),
    "add [rip + disp32], eax": ("010500000000", Flow.NEXT, True),
    "mov eax, imm32": ("b801000000", Flow.NEXT, False),
    "mov rax, imm64": ("48b80100000000000000", Flow.NEXT, False),
    "test byte [rax], imm8": ("f60001", Flow.NEXT, False),
    "test dword [rax], imm32": ("f70001000000", Flow.NEXT, False),
    "mov ax, imm16": ("66b80100", Flow.NEXT, False),
    "movzx edi, byte [rcx + rsi * 2 - 2]": ("0fb67c71fe", Flow.NEXT, False),
    "pshufd xmm0, xmm1, imm8": ("660f70c11b", Flow.NEXT, False),
    "vaddps ymm0, ymm1, [rax]": ("c5f45800", Flow.NEXT, False),
    "vpermq ymm0, ymm1, imm8": ("c4e3fd00c14e", Flow.NEXT, False),
    "vzeroupper": ("c5f877", Flow.NEXT, False),
    "vmovdqu64 zmm0, [rax + disp8 * 64]": ("62f1fe486f4001", Flow.NEXT, False),
    "call": ("e800000000", Flow.NEXT, True),
    "jmp rsi": ("ffe6", Flow.LEAVE, False),
    "ret": ("c3", Flow.LEAVE, False),
    "ud2": ("0f0b", Flow.TRAP, False),
    "ud1 eax, [rax]": ("0fb900", Flow.TRAP, False),
    "int3": ("cc", Flow.TRAP, False),
    "hlt": ("f4", Flow.TRAP, False),
    "syscall": ("0f05", Flow.NEXT, False),
    "push qword [rax]": ("ff30", Flow.NEXT, False),
    "pop qword [rax]": ("8f00", Flow.NEXT, True),
    "movq xmm1, qword [rcx + disp8]": ("f30f7e4910", Flow.NEXT, False),
    "vmovq xmm0, qword [rdi]": ("c5fa7e07", Flow.NEXT, False),
    "movd dword [rcx + disp8], xmm1": ("660f7e4910", Flow.NEXT, True),
    "movq qword [rcx + disp8], xmm1": ("660fd64910", Flow.NEXT, True),
    "movups [rax + disp8], xmm1": ("0f114820", Flow.NEXT, True),
    "sete byte [rsp + disp8]": ("0f9444240f", Flow.NEXT, True),
    "bts qword [r12], imm8": ("490fba2c243e", Flow.NEXT, True),
    "rep stosq": ("f348ab", Flow.NEXT, True),
    "vextracti128 [rbx + disp8], ymm0, imm8": ("c4e37d39432001", Flow.NEXT, True),
    "fstp tbyte [rsp + disp8]": ("db7c2420", Flow.NEXT, True),
    "or bh, dh after a useless rex prefix": ("4b670afe", Flow.NEXT, False),
    "vaddph zmm3, zmm2, zmm1": ("62f56c4858d9", Flow.NEXT, False),
    "vpdpbusd ymm3, ymm2, ymm1": ("c4e26d50d9", Flow.NEXT, False),
    "tileloadd tmm1, [rax + rbx]": ("c4e27b4b0c18", Flow.NEXT, False),
    "bextr ebx, eax, imm32": ("8fea7810d801000000", Flow.NEXT, False),
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_one_instruction(name: str) -> None:
    code, flow, writes = INSTRUCTIONS[name]
    found = decode(bytes.fromhex(code), 0x1000)
    assert found is not None
    assert [(each.length, each.flow, each.writes) for each in found] == [(len(code) // 2, flow, writes)]


def test_targets_are_relative_to_the_end() -> None:
    found = decode(bytes.fromhex("7502ebfc0f84faffffffe9f5ffffff660f8400000000e3fec7f800000000"), 0x1000)
    assert found is not None
    assert [(each.flow, each.target) for each in found] == [
        (Flow.BRANCH, 0x1004),
        (Flow.JUMP, 0x1000),
        (Flow.BRANCH, 0x1004),
        (Flow.JUMP, 0x1004),
        (Flow.BRANCH, 0x1016),
        (Flow.BRANCH, 0x1016),
        (Flow.BRANCH, 0x101E),
    ]


@pytest.mark.parametrize(
    ("code", "spills", "with_frame_pointer"),
    [
        ("4889442408", True, True),  # mov [rsp + 8], rax
        ("48894508", False, True),  # mov [rbp + 8], rax
        ("4989442408", False, False),  # mov [r12 + 8], rax
        ("49894508", False, False),  # mov [r13 + 8], rax
        ("4a89442408", False, False),  # mov [rsp + r12 + 8], rax
        ("48c744240801000000", False, False),  # mov qword [rsp + 8], 1
        ("488b442408", False, False),  # mov rax, [rsp + 8]
    ],
)
def test_spills_are_stores_of_registers_in_the_frame(
    code: str, spills: bool, with_frame_pointer: bool
) -> None:
    for frame_pointer, expected in ((False, spills), (True, with_frame_pointer)):
        found = decode(bytes.fromhex(code), 0, frame_pointer)
        assert found is not None
        assert [each.spills for each in found] == [expected]


@pytest.mark.parametrize("code", ["48", "48ff04", "06", "c4e2", "e80000"])
def test_bytes_that_are_no_code_are_rejected(code: str) -> None:
    assert decode(bytes.fromhex(code), 0) is None


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the C library is for another machine")
def test_jumps_of_the_c_library_lead_to_instructions() -> None:
    """Every function decodes, and no jump inside one leads between two boundaries."""
    mapped = {line.split(maxsplit=5)[-1] for line in Path("/proc/self/maps").read_text().splitlines()}
    path = next(Path(name) for name in sorted(mapped) if Path(name).name.startswith(("libc.", "libc-")))
    with path.open("rb") as stream:
        file = ElfFile(stream, str(path))
        sections = [each for each in file.sections if each.flags & SHF_EXECINSTR and each.kind != SHT_NOBITS]
        code = [(each.address, file.content(each)) for each in sections]
        tables = [each for each in file.sections if each.kind in SYMBOL_TABLES]
        functions = {function for each in tables for function in file.functions(each)}
    decoded = 0
    for low, high in functions:
        base, content = next(each for each in code if each[0] <= low < each[0] + len(each[1]))
        found = decode(content[low - base : high - base], low)
        assert found is not None, hex(low)
        decoded += len(found)
        starts = {each.address for each in found}
        assert {each.target for each in found if low <= each.target < high} <= starts, hex(low)
    assert decoded > 50_000


def test_the_decoder_is_loaded_when_it_is_needed() -> None:
    """Reports and raw files of processes that ended by themselves do not pay for it."""
    program = "import sys, trodden.collect.gather; sys.exit('iced_x86' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True)
