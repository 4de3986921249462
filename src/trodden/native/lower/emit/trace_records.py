"""Emit the code that appends a record to the trace of a thread.

A record is stored where the thread's cursor points to, then the cursor is advanced, then it is compared with
the end of the room that there is: six instructions, or five where the cursor is known.  A signal may come in
between, so a record has to become complete all at once: the store of its first byte is the last one, and none
of the stores may be moved.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.native.lower.builder import Builder
from trodden.native.lower.emit.trace_cursor import PointCursor
from trodden.native.lower.runtime_symbols import CURSOR, TOKENS, TRACE_FULL, UNIT
from trodden.plan.trace.records import (
    BASE,
    BITS,
    DIGITS,
    ENTER,
    LARGEST_SHORT_TRIPS,
    SYMBOLS,
    TRIPS,
    TRIPS_LONG,
    WIDE,
)

FIND_CURSOR = "@__trodden_find_trace"
UNLIKELY = 1 << 20
"""Room has to be made once in so many records, as far as the code generator is told."""

_NO_TRACE = "@trodden_no_trace"
_END = f"getelementptr (i8, ptr {CURSOR}, i64 8)"


@dataclass(frozen=True)
class RecordWriter:
    """Writes the records of one function, by its number in the unit.

    ``unlikely`` is the metadata node of the weights of a branch that is hardly ever taken.  A ``location``
    tells the runtime where control is after the record: see :func:`starts_at` and :func:`before_call`.
    """

    function: int
    unlikely: int

    def symbol(self, builder: Builder, cursor: PointCursor, number: str, wide: bool, location: int) -> None:
        """A symbol, an i64 or a constant; ``wide``: it may be too large for a single byte."""
        if number.isdecimal():
            wide = int(number) >= SYMBOLS
        record = _wide_symbol(builder, number) if wide else _byte(builder, _plus_one(builder, number))
        self._append(builder, cursor, record, "4" if wide else "1", location)

    def symbol_if(
        self, builder: Builder, cursor: PointCursor, number: str, ended: str, wide: bool, location: int
    ) -> None:
        """A symbol if ``ended`` is 1; nothing if it is 0, and then the number is 0 too."""
        if not wide:
            value = builder.value(f"add i64 {number}, {ended}")
            self._append(builder, cursor, _byte(builder, value), ended, location)
            return
        word = _wide_symbol(builder, number).removeprefix("i32 ")
        has_ended = builder.value(f"icmp ne i64 {ended}, 0")
        record = builder.value(f"select i1 {has_ended}, i32 {word}, i32 0")
        self._append(builder, cursor, f"i32 {record}", builder.value(f"shl i64 {ended}, 2"), location)

    def entry(self, builder: Builder, cursor: PointCursor, location: int) -> None:
        """The function was entered: the runtime has put its number into the record."""
        at = TOKENS if not self.function else f"getelementptr (i8, ptr {TOKENS}, i64 {8 * self.function})"
        token = builder.value(f"load i64, ptr {at}, align 8")
        record = builder.value(f"trunc i64 {token} to i32")
        size = builder.value(f"lshr i64 {token}, 32")
        self._append(builder, cursor, f"i32 {record}", size, location)

    def block(self, builder: Builder, cursor: PointCursor, kind: int, block: int, location: int) -> None:
        """A record of a kind with the number of a block."""
        self._append(builder, cursor, f"i32 {_word(kind, block)}", str(1 + DIGITS), location)

    def trips(self, builder: Builder, cursor: PointCursor, count: str) -> None:
        """A trip count; another record follows before anything is called, and has room."""
        following = cursor.load(builder)
        few = builder.value(f"icmp ule i64 {count}, {LARGEST_SHORT_TRIPS}")
        short, long, done = builder.reserve(), builder.reserve(), builder.reserve()
        builder.emit(f"br i1 {few}, label %{short}, label %{long}")
        builder.label(short)
        digit = builder.value(f"shl i64 {count}, 8")
        digit = builder.value(f"add i64 {digit}, {(1 << 8) + TRIPS}")
        record = builder.value(f"trunc i64 {digit} to i16")
        builder.emit(f"store volatile i16 {record}, ptr {following}, align 1")
        builder.emit(f"br label %{done}")
        builder.label(long)
        rest = builder.value(f"getelementptr i8, ptr {following}, i64 1")
        builder.emit(f"store volatile i64 {count}, ptr {rest}, align 1")
        builder.emit(f"store volatile i8 {_signed(TRIPS_LONG, 8)}, ptr {following}, align 1")
        builder.emit(f"br label %{done}")
        builder.label(done)
        size = builder.value(f"phi i64 [ 2, %{short} ], [ 9, %{long} ]")
        self._store(builder, cursor, size)

    def bits(self, builder: Builder, cursor: PointCursor, value: str, most: int, location: int) -> None:
        """The bits that wait, ``most`` of them at most, below a leading 1."""
        if value.isdecimal():
            most = int(value).bit_length() - 1
        if most <= 7:
            shifted = _shifted(builder, value, BITS + 1)
            self._append(builder, cursor, shifted, "2", location)
            return
        following = cursor.load(builder)
        rest = builder.value(f"getelementptr i8, ptr {following}, i64 1")
        builder.emit(f"store volatile i64 {value}, ptr {rest}, align 1")
        zeros = builder.value(f"call i64 @llvm.ctlz.i64(i64 {value}, i1 true)")
        used = builder.value(f"sub i64 71, {zeros}")
        size = builder.value(f"lshr i64 {used}, 3")
        first = builder.value(f"add i64 {size}, {BITS}")
        byte = builder.value(f"trunc i64 {first} to i8")
        builder.emit(f"store volatile i8 {byte}, ptr {following}, align 1")
        self._advance(builder, cursor, builder.value(f"add i64 {size}, 1"), location)

    def _append(self, builder: Builder, cursor: PointCursor, record: str, size: str, location: int) -> None:
        builder.emit(f"store volatile {record}, ptr {cursor.load(builder)}, align 1")
        self._advance(builder, cursor, size, location)

    def _advance(self, builder: Builder, cursor: PointCursor, size: str, location: int) -> None:
        before, makes_room, done = builder.reserve(), builder.reserve(), builder.reserve()
        if cursor.kept:
            builder.emit(f"br label %{before}")
            builder.label(before)
        after = self._store(builder, cursor, size)
        end = builder.value(f"load ptr, ptr {_END}, align 8")
        full = builder.value(f"icmp uge ptr {after}, {end}")
        builder.emit(f"br i1 {full}, label %{makes_room}, label %{done}, !prof !{self.unlikely}")
        builder.label(makes_room)
        arguments = f"ptr {UNIT}, i64 {self.function}, i64 {location}"
        builder.emit(f"call preserve_mostcc void {TRACE_FULL}({arguments})")
        cursor.operand = None
        moved = cursor.load(builder) if cursor.kept else None
        builder.emit(f"br label %{done}")
        builder.label(done)
        if cursor.kept:
            cursor.operand = builder.value(f"phi ptr [ {after}, %{before} ], [ {moved}, %{makes_room} ]")

    def _store(self, builder: Builder, cursor: PointCursor, size: str) -> str:
        """Advance the cursor; where to."""
        after = builder.value(f"getelementptr i8, ptr {cursor.load(builder)}, i64 {size}")
        builder.emit(f"store volatile ptr {after}, ptr {CURSOR}, align 8")
        cursor.operand = after if cursor.kept else None
        return after


def declare_trace(functions: int, shared: bool) -> list[str]:
    """The cursor, one for the whole process, what finds it, and the records of entering each function."""
    model = "initialexec" if shared else "localexec"
    unknown = (1 + DIGITS) << 32 | _word(ENTER, BASE**DIGITS - 1) & 0xFFFFFFFF
    tokens = ", ".join([f"i64 {unknown}"] * functions)
    cursor = f"{{ ptr, ptr }} {{ ptr {_NO_TRACE}, ptr {_NO_TRACE} }}"
    return [
        f"{CURSOR} = weak thread_local({model}) global {cursor}, align 8",
        f"{_NO_TRACE} = external hidden global i8",
        f"{TOKENS} = internal global [{functions} x i64] [{tokens}], align 8",
        f"declare hidden preserve_mostcc void {TRACE_FULL}(ptr, i64, i64) nounwind willreturn",
        f"define internal ptr {FIND_CURSOR}() nounwind uwtable {{",
        f"  %address = call ptr @llvm.threadlocal.address.p0(ptr {CURSOR})",
        "  ret ptr %address",
        "}",
        "",
    ]


def starts_at(block: int) -> int:
    """The location after a record with which a region ends, if the next one starts at a block."""
    return 2 * block


def before_call(block: int) -> int:
    """The location after a record in front of the call that ends a block, or of the return in EXIT."""
    return 2 * block + 1


def _byte(builder: Builder, value: str) -> str:
    if value.lstrip("-").isdecimal():
        return f"i8 {_signed(int(value), 8)}"
    return f"i8 {builder.value(f'trunc i64 {value} to i8')}"


def _plus_one(builder: Builder, number: str) -> str:
    return str(int(number) + 1) if number.isdecimal() else builder.value(f"add i64 {number}, 1")


def _wide_symbol(builder: Builder, number: str) -> str:
    """The four bytes of a wide symbol."""
    if number.isdecimal():
        return f"i32 {_word(WIDE, int(number))}"
    total, rest = str(WIDE), number
    for digit in range(1, DIGITS + 1):
        low = builder.value(f"urem i64 {rest}, {BASE}")
        low = builder.value(f"add i64 {low}, 1")
        low = builder.value(f"shl i64 {low}, {8 * digit}")
        total = builder.value(f"or i64 {low}, {total}")
        if digit < DIGITS:
            rest = builder.value(f"udiv i64 {rest}, {BASE}")
    return f"i32 {builder.value(f'trunc i64 {total} to i32')}"


def _shifted(builder: Builder, value: str, first: int) -> str:
    """Two bytes: the first one, and a value."""
    if value.isdecimal():
        return f"i16 {_signed(int(value) << 8 | first, 16)}"
    high = builder.value(f"shl i64 {value}, 8")
    both = builder.value(f"or i64 {high}, {first}")
    return f"i16 {builder.value(f'trunc i64 {both} to i16')}"


def _word(first: int, number: int) -> int:
    """Four bytes as a number with a sign: the first one, and digits."""
    word = first
    for digit in range(1, DIGITS + 1):
        word |= (number % BASE + 1) << 8 * digit
        number //= BASE
    return _signed(word, 32)


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) & 1 else number
