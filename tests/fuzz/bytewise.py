"""Changes to bytes that know nothing of what the bytes mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

LONGEST = 1 << 20
_LONG_RUN = 1 << 14

_EXTREMES = (0, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)
_WIDE_EXTREMES = (*_EXTREMES, 1 << 32, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)
_NUMBER = re.compile(rb"-?[0-9]+")
_NUMBERS = (
    *(
        b"0",
        b"1",
        b"-1",
        b"255",
        b"4294967295",
        b"4294967296",
        b"9223372036854775807",
        b"18446744073709551616",
    ),
    *(b"-9223372036854775808", b"1e999", b"-1e999", b"NaN", b"0.5", b"9" * 400, b"9" * 4299, b"9" * 5000),
)
_WORDS = (
    *(
        b"\x1b]0;owned\x07",
        b"\x00",
        b"\xff\xfe",
        b"\xc3\x28",
        b"\xed\xa0\x80",
        b"\r",
        b"\x85",
        b"\n\n",
        b"\t",
    ),
    *(
        b'"',
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b'"\\ud800"',
        b"[" * 2000,
        b"{" * 200,
        b" " * 4000,
        b"#",
        b",",
        b"->",
    ),
    *(
        b"EXIT",
        b"root",
        b"graph",
        b"DONE",
        b"TRODRAW1",
        b"TRODUNIT",
        b"TRODDEN\n",
        b"\x7fELF",
        b"null",
        b"true",
    ),
)

_Change = Callable[[Random, bytearray, Sequence[bytes]], None]


def change_bytes(random: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to six changes; ``others`` are inputs to take parts from."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        random.choice(_CHANGES)(random, changed, others)
    return bytes(changed[:LONGEST])


def _span(random: Random, data: bytearray) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 2, 4, 8, 16, 64, 512)))


def _flip(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice(
            (0, 1, 0x20, 0x7F, 0x80, 0xFF, random.randrange(256))
        )


def _extreme(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    """A number of a word's width, mostly where a number may stand."""
    width = random.choice((2, 4, 4, 4, 8, 8))
    if len(data) >= width:
        place = random.randrange(len(data) - width + 1)
        place -= place % width if random.random() < 0.8 else 0
        values = _WIDE_EXTREMES if width == 8 else _EXTREMES
        value = random.choice((*values, len(data), random.getrandbits(8 * width))) % (1 << 8 * width)
        data[place : place + width] = value.to_bytes(width, "little")


def _nudge(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    """A number that is nearly what it was."""
    if len(data) >= 4:
        place = random.randrange(len(data) // 4) * 4
        value = int.from_bytes(data[place : place + 4], "little") + random.choice((-8, -1, 1, 2, 8, 256))
        data[place : place + 4] = (value % (1 << 32)).to_bytes(4, "little")


def _drop(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    del data[start:end]


def _truncate(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[random.randint(0, len(data)) :]


def _repeat(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    times = random.choice((1, 1, 2, 5, 50, 1000))
    data[start:start] = (bytes(data[start:end]) * times)[:_LONG_RUN]


def _move(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    part = bytes(data[start:end])
    place = random.randint(0, len(data))
    data[place : place + len(part)] = part


def _splice(random: Random, data: bytearray, others: Sequence[bytes]) -> None:
    if others:
        other = random.choice(others)
        start = random.randint(0, len(other))
        part = other[start : start + random.choice((8, 64, 1024, len(other)))]
        place = random.randint(0, len(data))
        keep = random.choice((place, place + len(part), len(data)))
        data[place:keep] = part


def _noise(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    start, end = _span(random, data)
    data[start:end] = random.randbytes(end - start)


def _word(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    place = random.randint(0, len(data))
    data[place:place] = random.choice(_WORDS)


def _number(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    """A number in a text becomes another."""
    start = random.randint(0, len(data))
    found = _NUMBER.search(data, start, start + 4096)
    if found is not None:
        data[found.start() : found.end()] = random.choice(_NUMBERS)


def _line(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    """A line of a text goes, comes twice, or changes places."""
    lines = bytes(data).split(b"\n")
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case _:
            lines[place], lines[other] = lines[other], lines[place]
    data[:] = b"\n".join(lines)


_CHANGES: tuple[_Change, ...] = (
    *(_flip, _set, _extreme, _extreme, _nudge, _drop, _truncate, _repeat, _move, _splice, _noise),
    *(_word, _number, _number, _line),
)
