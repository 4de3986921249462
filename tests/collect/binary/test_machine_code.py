"""Lengths, jumps and stores of x86-64 code; DWARF expressions; the numbers of places."""

from __future__ import annotations

import pytest

from trodden.collect.binary.dwarf_expressions import Frame, evaluate
from trodden.collect.binary.x86 import Way, decode
from trodden.graph.cfg import build
from trodden.plan.paths.locations import Holder, Locations, Mark

INSTRUCTIONS = {
    "push rbp": ("55", Way.ON, False),
    "mov rbp, rsp": ("4889e5", Way.ON, False),
    "inc qword fs:[disp32]": ("6448ff0425a0ffffff", Way.ON, True),
    "inc qword fs:[rdx * 8 + disp32]": ("6448ff04d530fcffff", Way.ON, True),
    "add qword [rax], imm8": ("48830001", Way.ON, True),
    "cmp qword [rax], imm8": ("48833801", Way.ON, False),
    "add [rip + disp32], eax": ("010500000000", Way.ON, True),
    "mov eax, imm32": ("b801000000", Way.ON, False),
    "mov rax, imm64": ("48b80100000000000000", Way.ON, False),
    "test byte [rax], imm8": ("f60001", Way.ON, False),
    "test dword [rax], imm32": ("f70001000000", Way.ON, False),
    "mov ax, imm16": ("66b80100", Way.ON, False),
    "movzx edi, byte [rcx + rsi * 2 - 2]": ("0fb67c71fe", Way.ON, False),
    "pshufd xmm0, xmm1, imm8": ("660f70c11b", Way.ON, False),
    "vaddps ymm0, ymm1, [rax]": ("c5f45800", Way.ON, False),
    "vpermq ymm0, ymm1, imm8": ("c4e3fd00c14e", Way.ON, False),
    "vzeroupper": ("c5f877", Way.ON, False),
    "vmovdqu64 zmm0, [rax + disp8 * 64]": ("62f1fe486f4001", Way.ON, False),
    "call": ("e800000000", Way.ON, True),
    "jmp rsi": ("ffe6", Way.AWAY, False),
    "ret": ("c3", Way.AWAY, False),
    "ud2": ("0f0b", Way.TRAP, False),
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_one_instruction(name: str) -> None:
    code, way, writes = INSTRUCTIONS[name]
    found = decode(bytes.fromhex(code), 0x1000)
    assert found is not None
    assert [(each.length, each.way, each.writes) for each in found] == [(len(code) // 2, way, writes)]


def test_jumps_lead_from_their_end() -> None:
    found = decode(bytes.fromhex("7502ebfc0f84faffffffe9f5ffffff"), 0x1000)
    assert found is not None
    assert [(each.way, each.target) for each in found] == [
        (Way.BRANCH, 0x1004),
        (Way.JUMP, 0x1000),
        (Way.BRANCH, 0x1004),
        (Way.JUMP, 0x1004),
    ]


@pytest.mark.parametrize("code", ["48", "48ff04", "06", "c4e2", "e80000"])
def test_what_is_no_code_is_not_guessed(code: str) -> None:
    assert decode(bytes.fromhex(code), 0) is None


def memory(address: int, size: int) -> bytes | None:
    return bytes(range(address, address + size)) if address < 0x80 else None


@pytest.mark.parametrize(
    ("expression", "size", "value"),
    [
        ("359f", 8, 5),
        ("10a2019f", 8, 0xA2),
        ("117f9f", 8, (1 << 64) - 1),
        ("53", 8, 0x33),
        ("7308", 2, 0x3C3B),
        ("9178", 1, 0x68),
        ("730023049f", 8, 0x37),
        ("7300069f", 8, 0x3A39383736353433),
        ("7300302294109f", 8, None),
        ("5d", 8, None),
        ("738001", 8, None),
        ("9c9f", 8, 0x99),
        ("a301539f", 8, None),
    ],
)
def test_expressions(expression: str, size: int, value: int | None) -> None:
    frame = Frame({3: 0x33, 6: 0x70}, memory, 0x99)
    assert evaluate(bytes.fromhex(expression), frame, b"\x56", size) == value


def test_places_and_marks_have_numbers_of_their_own() -> None:
    graph = build("f", ["a", "b", "c", "EXIT"], [(0, 1), (0, 2), (1, 2), (2, 3)])
    numbers = Locations.of(graph)
    on_edges = [numbers.on_edge(edge) for edge in range(len(graph.edges))]
    places = [*range(graph.exit), *on_edges]
    assert len({*places}) == graph.exit + len(on_edges)
    assert [place for place in range(-1, max(places) + 2) if numbers.has(place)] == sorted(places)
    assert [numbers.edge_of(place) for place in on_edges] == list(range(len(graph.edges)))
    assert [numbers.edge_of(place) for place in (0, graph.exit - 1, max(places) + 1)] == [None] * 3
    marks = [
        Mark(holder, index, number)
        for holder in Holder
        for index in range(len(graph.edges) if holder is Holder.EDGE else graph.exit)
        for number in (0, 1, 15)
    ]
    codes = [numbers.mark(mark) for mark in marks]
    assert len(set(codes)) == len(marks)
    assert [numbers.mark_of(code) for code in codes if code is not None] == marks
    assert numbers.mark(Mark(Holder.EDGE, 0, 16)) is None
    assert numbers.mark_of(0) is None
