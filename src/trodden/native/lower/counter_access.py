"""How code addresses a counter and adds to it, decided before any code is emitted.

Two questions are independent of each other: where the counters of a thread are (:class:`Addressing`) and by
which instructions a counter is incremented (:class:`Update`).  :class:`CounterAccess` combines the answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from trodden.native.lower.builder import Builder
from trodden.native.lower.runtime_symbols import COUNTERS, TABLE, UNIT

_INDEX_OFFSET = 40
"""Where in the unit's entry its index into the tables of threads is."""

_COMMON_TABLE = "@trodden_common"
"""The table of a thread that the runtime has not seen yet."""


class Addressing(Protocol):
    """Where the counters of the calling thread are."""

    @property
    def shared(self) -> bool:
        """Whether the code may be part of a shared library."""

    @property
    def variable(self) -> str:
        """The thread-local variable from which the runtime finds the counters."""

    @property
    def lookup(self) -> tuple[tuple[str, str], ...]:
        """The values at the entry of a function that uses counters, each with the instruction for it."""

    def address(self, builder: Builder, slot: int) -> str:
        """The address of a counter for one instruction."""

    def declarations(self, slots: int, filled: bool) -> list[str]:
        """What a unit with so many counters declares.

        ``filled``: counters that the unit defines take space in its object file.
        """


@dataclass(frozen=True)
class ThreadLocalCounters:
    """Counters of a unit that is part of a program: at a constant distance from the thread pointer."""

    shared = False
    variable = COUNTERS
    lookup: tuple[tuple[str, str], ...] = ()

    def address(self, builder: Builder, slot: int) -> str:
        """A constant expression."""
        return COUNTERS if slot == 0 else f"getelementptr (i8, ptr {COUNTERS}, i64 {slot * 8})"

    def declarations(self, slots: int, filled: bool) -> list[str]:
        """The counters themselves.

        The assembler defines them, since LLVM would always fill a section of that name with zeros in the
        file.  They have to be ``filled`` for GNU's linker, which knows only one thread-local section that
        takes no space in the file.
        """
        kind = "progbits" if filled else "nobits"
        slots = max(slots, 1)
        name = COUNTERS[1:]
        return [
            f'module asm ".pushsection .trodden_counts,\\22awT\\22,@{kind}"',
            f'module asm ".p2align 6\\0A.type {name},@object\\0A.size {name}, {slots * 8}"',
            f'module asm "{name}:\\0A.zero {slots * 8}"',
            'module asm ".popsection"',
            f"{COUNTERS} = external dso_local thread_local(localexec) global [{slots} x i64], align 64",
        ]


@dataclass(frozen=True)
class PerThreadTable:
    """Counters of a unit that may be part of a shared library: found by a table of the calling thread.

    The library may be loaded when threads already run, and unloaded before they end, so there is no constant
    distance.  The runtime has a table for every thread, with one entry for each unit
    (``runtime/counters/shards.c``); a function looks its counters up when it is entered.
    """

    shared = True
    variable = TABLE
    lookup: tuple[tuple[str, str], ...] = (
        ("trodden.table", f"load ptr, ptr {TABLE}, align 8"),
        ("trodden.index", f"load i64, ptr getelementptr (i8, ptr {UNIT}, i64 {_INDEX_OFFSET}), align 8"),
        ("trodden.entry", "getelementptr ptr, ptr %trodden.table, i64 %trodden.index"),
        ("trodden.counts", "load ptr, ptr %trodden.entry, align 8"),
    )

    def address(self, builder: Builder, slot: int) -> str:
        """The value of an instruction in front of the one that needs it."""
        return builder.address(f"getelementptr i8, ptr %trodden.counts, i64 {slot * 8}")

    def declarations(self, slots: int, filled: bool) -> list[str]:
        """The variable that holds the table, one for the whole process; the runtime allocates counters."""
        return [
            f"{TABLE} = weak thread_local(initialexec) global ptr {_COMMON_TABLE}, align 8",
            f"{_COMMON_TABLE} = external hidden global i8",
        ]


class Update(Protocol):
    """By which instructions a counter is incremented."""

    def add(self, builder: Builder, address: Callable[[], str], amount: str) -> None:
        """Add to the counter; ``address`` is called for each instruction that needs the address."""


@dataclass(frozen=True)
class LoadAddStore:
    """Three instructions, of which a code generator that optimises makes one."""

    def add(self, builder: Builder, address: Callable[[], str], amount: str) -> None:
        """Load, add and store."""
        old = builder.value(f"load i64, ptr {address()}, align 8")
        new = builder.value(f"add i64 {old}, {amount}")
        builder.emit(f"store i64 {new}, ptr {address()}, align 8")


_ADD_TO_MEMORY = {
    "x86_64": '"addq $1, $0", "=*m,er,*m,~{flags}"',
    "aarch64": (
        '"0:\\0Aldxr x16, $0\\0Aadd x16, x16, $1\\0Astxr w17, x16, $0\\0Acbnz w17, 0b", '
        '"=*Q,r,*Q,~{x16},~{x17}"'
    ),
}


@dataclass(frozen=True)
class SingleInstruction:
    """One instruction in inline assembly (on AArch64 an exclusive pair), which no signal can divide.

    Optimised code has one anyway.  Nor can an optimiser keep in a register what it does not understand.
    """

    machine: str

    def add(self, builder: Builder, address: Callable[[], str], amount: str) -> None:
        """Add in memory."""
        # Two names stay unused, so that all others are the same as with three instructions.
        builder.reserve()
        builder.reserve()
        written, read = address(), address()
        builder.emit(
            f"call void asm sideeffect {_ADD_TO_MEMORY[self.machine]}"
            f"(ptr elementtype(i64) {written}, i64 {amount}, ptr elementtype(i64) {read})"
        )


@dataclass(frozen=True)
class CounterAccess:
    """How the counters of one function are used."""

    addressing: Addressing
    update: Update = LoadAddStore()

    def increment(self, builder: Builder, slot: int, amount: str) -> None:
        """Add to the counter of a slot."""
        self.update.add(builder, lambda: self.addressing.address(builder, slot), amount)

    def increment_at(self, builder: Builder, pointer: str, amount: str) -> None:
        """Add to the counter at an address."""
        self.update.add(builder, lambda: pointer, amount)

    def element(self, builder: Builder, slot: int, index: str) -> str:
        """The address of the counter that is ``index`` slots after ``slot``."""
        base = self.addressing.address(builder, slot)
        return builder.value(f"getelementptr i64, ptr {base}, i64 {index}")

    def in_landing_pad(self) -> CounterAccess:
        """The access in the block of a landing pad.

        In front of inline assembly LLVM, without optimisation, would clobber the registers in which the
        exception is passed.
        """
        return replace(self, update=LoadAddStore())
