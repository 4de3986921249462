"""Values of DWARF expressions."""

from __future__ import annotations

import pytest

from trodden.collect.binary.dwarf_expressions import Frame, evaluate


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
