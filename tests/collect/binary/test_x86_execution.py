"""What straight-line x86-64 code makes of a frame, forward and back."""

from __future__ import annotations

import pytest

from trodden.collect.binary.dwarf_expressions import Frame
from trodden.collect.binary.x86_execution import StraightCode

RAX, RDX, RCX, RBX, RBP, R8 = 0, 1, 2, 3, 6, 8
STACK = 0x1000
SLOT = STACK - 0x38


def frame(**registers: int) -> Frame:
    """A frame whose frame pointer is known, with 77 in a slot of the stack."""
    numbers = {"rax": RAX, "rdx": RDX, "rcx": RCX, "rbx": RBX, "r8": R8}
    content = (77).to_bytes(8, "little")

    def memory(address: int, size: int) -> bytes | None:
        offset = address - SLOT
        return content[offset : offset + size] if 0 <= offset <= len(content) - size else None

    return Frame({RBP: STACK} | {numbers[name]: value for name, value in registers.items()}, memory)


def code_of(*texts: str) -> tuple[StraightCode, list[int]]:
    """Instructions, and the address of each."""
    code = b"".join(map(bytes.fromhex, texts))
    addresses = [0x400 + sum(len(text) // 2 for text in texts[:number]) for number in range(len(texts))]
    return StraightCode(code, 0x400), addresses


FORWARD = {
    "mov rax, [rbp - 0x38]": (["488b45c8"], {}, RAX, 77),
    "mov rcx, rax": (["4889c1"], {"rax": 5}, RCX, 5),
    "mov ecx, eax": (["89c1"], {"rax": (1 << 40) + 5}, RCX, 5),
    "mov cl, al": (["88c1"], {"rax": 5, "rcx": 0x1234}, RCX, 0x1205),
    "movzx ecx, al": (["0fb6c8"], {"rax": 0x1FF}, RCX, 0xFF),
    "movsxd rcx, eax": (["4863c8"], {"rax": 0xFFFFFFFE}, RCX, (1 << 64) - 2),
    "lea rcx, [rax + rax * 4 - 1]": (["488d4c80ff"], {"rax": 5}, RCX, 24),
    "xor ecx, ecx": (["31c9"], {}, RCX, 0),
    "xor ecx, eax": (["31c1"], {"rcx": 6}, RCX, None),
    "add rdx, -2; shr rdx, 1": (["4883c2fe", "48d1ea"], {"rdx": 8}, RDX, 3),
    "sar edx, 1": (["d1fa"], {"rdx": 0xFFFFFFFC}, RDX, 0xFFFFFFFE),
    "imul rcx, rax, 3": (["486bc803"], {"rax": 5}, RCX, 15),
    "neg rax": (["48f7d8"], {"rax": 1}, RAX, (1 << 64) - 1),
    "mov [rbp - 0x48], rcx; mov rax, [rbp - 0x48]": (["48894db8", "488b45b8"], {"rcx": 9}, RAX, 9),
    "mov [rbp - 0x38], rcx, not known": (["48894dc8", "488b45c8"], {}, RAX, None),
    "cmp rax, rcx": (["4839c8"], {"rax": 5}, RAX, 5),
    "cdqe": (["4898"], {"rax": 5}, RAX, None),
    "cmove rax, rcx": (["480f44c1"], {"rax": 5, "rcx": 6}, RAX, None),
}

BACK = {
    "add rdx, 2": (["4883c202"], {"rdx": 8}, RDX, 6),
    "dec rdx": (["48ffca"], {"rdx": 8}, RDX, 9),
    "lea rdx, [rdx + 5]": (["488d5205"], {"rdx": 8}, RDX, 3),
    "lea rcx, [rdx + 5]": (["488d4a05"], {"rcx": 8}, RDX, 3),
    "sub rdx, rcx": (["4829ca"], {"rdx": 8, "rcx": 2}, RDX, 10),
    "add rdx, rdx": (["4801d2"], {"rdx": 8}, RDX, None),
    "add edx, 2": (["83c202"], {"rdx": 8}, RDX, None),
    "mov rcx, rax; xor eax, eax": (["4889c1", "31c0"], {"rcx": 5, "rax": 0}, RAX, 5),
    "mov [rbp - 0x38], rax; xor eax, eax": (["488945c8", "31c0"], {"rax": 0}, RAX, 77),
    "mov rax, rcx": (["4889c8"], {"rax": 5, "rcx": 5}, RAX, None),
    "shl rdx, 1": (["48d1e2"], {"rdx": 8}, RDX, None),
}


@pytest.mark.parametrize("name", FORWARD)
def test_forward(name: str) -> None:
    texts, registers, register, expected = FORWARD[name]
    code, addresses = code_of(*texts)
    assert code.after(addresses, frame(**registers)).registers.get(register) == expected


@pytest.mark.parametrize("name", BACK)
def test_back(name: str) -> None:
    texts, registers, register, expected = BACK[name]
    code, addresses = code_of(*texts)
    assert code.before(addresses, frame(**registers), 8).registers.get(register) == expected


def test_a_narrow_value_is_right_where_only_that_is_asked_for() -> None:
    code, addresses = code_of("83c202")
    assert code.before(addresses, frame(rdx=8), 4).registers[RDX] == 6


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("64480114258000ffff", 12),
        ("64482914258000ffff", (1 << 64) - 12),
        ("6448ff04258000ffff", 1),
        ("64488304258000ffff07", 7),
        ("011425800000ff", None),
        ("48891425800000ff", None),
        ("4801d1", None),
    ],
)
def test_what_a_probe_adds(text: str, amount: int | None) -> None:
    """By ``add``, ``sub`` and ``inc`` of a word; other instructions add nothing to one."""
    code, (address,) = code_of(text)
    assert code.added(address, frame(rdx=12)) == amount
