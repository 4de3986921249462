"""The records of a trace, each a few bytes.

A thread's trace is a sequence of records.  The first byte of a record tells its kind, and is never 0: a 0 is
the end of what has been written.  A *digit* is a byte 1..255 that means 0..254, the least significant first;
all integers are little endian.  So where a record is cut off it is seen to be, byte by byte.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

SYMBOLS = 224
"""Symbols below this take one byte."""

WIDE, TRIPS, TRIPS_LONG, ENTER, RESUME, LEFT, SYNC, BITS = range(225, 233)
"""First bytes; that of a BITS record is ``BITS`` and the number of its bytes, 1 to 8."""

EVENT, LAND = 241, 242

ENTER_SHORT = 243
"""The first of the first bytes of an ENTER record with a single digit."""

SHORT_DIGITS = 256 - ENTER_SHORT
"""How many such bytes there are."""

DIGITS = 3
BASE = 255
SHORT_ENTRIES = SHORT_DIGITS * BASE
"""Functions below this have ENTER records of two bytes."""

LARGEST_NUMBER = BASE**DIGITS - 1
"""The largest number that digits can express: of a symbol, a function or a block."""

LARGEST_SHORT_TRIPS = 253
MOST_BITS = 63
"""How many bits a BITS record can hold, since a leading 1 is above them."""

_CUT_OFF = 1 << 31
_FRAME = struct.Struct("<IQ")
_SYNC_HEAD = struct.Struct("<IQQ")
_EVENT = struct.Struct("<BQ")


class EventKind(IntEnum):
    """What an event tells; in brackets what its value is."""

    FORKED = 1  # the child's pid
    EXEC_FAILED = 2
    TIME = 3  # nanoseconds of CLOCK_MONOTONIC
    STOPPED = 4  # why
    LOST = 5


_EVENTS = frozenset(map(int, EventKind))


@dataclass(frozen=True, slots=True)
class Symbol:
    """The number of a region path that has ended, or a witness."""

    number: int


@dataclass(frozen=True, slots=True)
class Trips:
    """A counted loop was left after ``count`` back edges."""

    count: int


@dataclass(frozen=True, slots=True)
class Enter:
    """A function was entered, by its number in the process."""

    function: int


@dataclass(frozen=True, slots=True)
class Resume:
    """The call of ``block``, which can return twice, has returned."""

    block: int


@dataclass(frozen=True, slots=True)
class Land:
    """The innermost frame goes on at the landing pad ``block``."""

    block: int


@dataclass(frozen=True, slots=True)
class CodeAddress:
    """A return address, in a module of the process."""

    module: int
    address: int


@dataclass(frozen=True, slots=True)
class Left:
    """The frame whose call returns to an address was left without returning."""

    site: CodeAddress


@dataclass(frozen=True, slots=True)
class Sync:
    """These are the active frames, innermost first; ``cut_off``: there are more.

    ``left`` and ``stack`` are where the stacks begin that was left and that is active now, 0 if not known.
    """

    frames: tuple[CodeAddress, ...]
    cut_off: bool = False
    left: int = 0
    stack: int = 0


@dataclass(frozen=True, slots=True)
class Bits:
    """The outcomes of branches: ``count`` bits, the oldest one most significant."""

    value: int
    count: int


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to the process or to the trace."""

    kind: EventKind
    value: int = 0


Record = Symbol | Trips | Enter | Resume | Land | Left | Sync | Bits | Event


class BadRecord(ValueError):
    """No record is at ``position``; if what is there has a size nevertheless, the next one is behind it."""

    def __init__(self, position: int, problem: str, size: int | None = None) -> None:
        super().__init__(f"at byte {position}: {problem}")
        self.position = position
        self.size = size


class CutOff(BadRecord):
    """A record at ``position`` begins, and the rest of it is not there."""

    def __init__(self, position: int) -> None:
        super().__init__(position, "the record is cut off")


def encode(record: Record) -> bytes:
    """The bytes of a record; :class:`ValueError` or :class:`struct.error` if it has none."""
    match record:
        case Symbol(number):
            return bytes([number + 1]) if 0 <= number < SYMBOLS else _with_digits(WIDE, number)
        case Trips(count):
            if 0 <= count <= LARGEST_SHORT_TRIPS:
                return bytes([TRIPS, count + 1])
            return struct.pack("<BQ", TRIPS_LONG, count)
        case Enter(function):
            if 0 <= function < SHORT_ENTRIES:
                return bytes([ENTER_SHORT + function // BASE, function % BASE + 1])
            return _with_digits(ENTER, function)
        case Resume(block):
            return _with_digits(RESUME, block)
        case Land(block):
            return _with_digits(LAND, block)
        case Left(site):
            return bytes([LEFT]) + _FRAME.pack(site.module, site.address)
        case Sync(frames, cut_off, left, stack):
            head = bytes([SYNC]) + _SYNC_HEAD.pack(len(frames) | _CUT_OFF * cut_off, left, stack)
            return head + b"".join(_FRAME.pack(frame.module, frame.address) for frame in frames)
        case Bits(value, count):
            if not (0 <= count <= MOST_BITS and 0 <= value < 1 << count):
                raise ValueError(f"{count} bits cannot hold {value}, or are too many")
            size = count // 8 + 1
            return bytes([BITS + size]) + (1 << count | value).to_bytes(size, "little")
        case Event(kind, value):
            return bytes([EVENT]) + _EVENT.pack(kind, value)


def _with_digits(first: int, number: int) -> bytes:
    if not 0 <= number <= LARGEST_NUMBER:
        raise ValueError(f"{number} is too large for a record")
    low, rest = number % BASE, number // BASE
    return bytes([first, low + 1, rest % BASE + 1, rest // BASE + 1])


def decode(data: bytes, position: int) -> tuple[Record, int]:
    """The record at a position, and the position after it."""
    first = data[position]
    if 1 <= first <= SYMBOLS:
        return Symbol(first - 1), position + 1
    after = position + 1
    match first:
        case n if n == WIDE:
            return Symbol(_digits(data, position)), after + DIGITS
        case n if n == TRIPS:
            (count,) = _bytes(data, position, after, 1)
            if not 1 <= count <= LARGEST_SHORT_TRIPS + 1:
                raise BadRecord(position, f"{count} is no short trip count", 2)
            return Trips(count - 1), after + 1
        case n if n == TRIPS_LONG:
            return Trips(int.from_bytes(_bytes(data, position, after, 8), "little")), after + 8
        case n if n == ENTER:
            return Enter(_digits(data, position)), after + DIGITS
        case n if n >= ENTER_SHORT:
            (digit,) = _bytes(data, position, after, 1)
            if not digit:
                raise BadRecord(position, "a digit is 0", 2)
            return Enter((n - ENTER_SHORT) * BASE + digit - 1), after + 1
        case n if n == RESUME:
            return Resume(_digits(data, position)), after + DIGITS
        case n if n == LAND:
            return Land(_digits(data, position)), after + DIGITS
        case n if n == LEFT:
            site = CodeAddress(*_FRAME.unpack(_bytes(data, position, after, _FRAME.size)))
            return Left(site), after + _FRAME.size
        case n if n == SYNC:
            return _sync(data, position)
        case n if BITS < n <= BITS + 8:
            return _bits(data, position, n - BITS)
        case n if n == EVENT:
            kind, value = _EVENT.unpack(_bytes(data, position, after, _EVENT.size))
            if kind not in _EVENTS:
                raise BadRecord(position, f"{kind} is no kind of event", 1 + _EVENT.size)
            return Event(EventKind(kind), value), after + _EVENT.size
    raise BadRecord(position, f"no record begins with {first}")


def decode_all(data: bytes, start: int = 0) -> Iterator[tuple[int, Record]]:
    """The records from a position on, each with its own, up to a 0 or the end of the data."""
    while start < len(data) and data[start]:
        record, after = decode(data, start)
        yield start, record
        start = after


def _bytes(data: bytes, record: int, position: int, size: int) -> bytes:
    found = data[position : position + size]
    if len(found) < size:
        raise CutOff(record)
    return found


def _digits(data: bytes, record: int) -> int:
    number = 0
    for place, digit in enumerate(_bytes(data, record, record + 1, DIGITS)):
        if digit == 0:
            raise BadRecord(record, "a digit is 0", 1 + DIGITS)
        number += (digit - 1) * BASE**place
    return number


def _sync(data: bytes, position: int) -> tuple[Record, int]:
    start = position + 1 + _SYNC_HEAD.size
    word, left, stack = _SYNC_HEAD.unpack(_bytes(data, position, position + 1, _SYNC_HEAD.size))
    size = (word & ~_CUT_OFF) * _FRAME.size
    if start + size > len(data):
        raise CutOff(position)
    frames = tuple(CodeAddress(*found) for found in _FRAME.iter_unpack(data[start : start + size]))
    return Sync(frames, bool(word & _CUT_OFF), left, stack), start + size


def _bits(data: bytes, position: int, size: int) -> tuple[Record, int]:
    word = int.from_bytes(_bytes(data, position, position + 1, size), "little")
    if word == 0:
        raise BadRecord(position, "bits without a leading 1", 1 + size)
    count = word.bit_length() - 1
    return Bits(word - (1 << count), count), position + 1 + size
