"""How a counter is addressed and incremented, without a function around it."""

from __future__ import annotations

import pytest

from trodden.native.lower.builder import Builder, ProbeNames
from trodden.native.lower.counter_access import (
    CounterAccess,
    LoadAddStore,
    PerThreadTable,
    SingleInstruction,
    ThreadLocalCounters,
)

THREAD_LOCAL = CounterAccess(ThreadLocalCounters())
TABLE = CounterAccess(PerThreadTable())


def builder(location: str | None = None, default_location: str | None = None) -> Builder:
    made = Builder(ProbeNames(), lambda: default_location)
    made.location = location
    return made


def test_a_counter_at_a_constant_distance() -> None:
    code = builder()
    THREAD_LOCAL.increment(code, 3, "1")
    assert code.lines == [
        "  %trodden.1 = load i64, ptr getelementptr (i8, ptr @__trodden_counts, i64 24), align 8",
        "  %trodden.2 = add i64 %trodden.1, 1",
        "  store i64 %trodden.2, ptr getelementptr (i8, ptr @__trodden_counts, i64 24), align 8",
    ]


def test_a_counter_in_the_table_of_the_thread() -> None:
    """The address is computed for each instruction, and is no instruction of the probe."""
    code = builder(location="7")
    TABLE.increment(code, 3, "%x")
    assert code.lines == [
        "  %trodden.at.1 = getelementptr i8, ptr %trodden.counts, i64 24",
        "  %trodden.1 = load i64, ptr %trodden.at.1, align 8, !dbg !7",
        "  %trodden.2 = add i64 %trodden.1, %x, !dbg !7",
        "  %trodden.at.2 = getelementptr i8, ptr %trodden.counts, i64 24",
        "  store i64 %trodden.2, ptr %trodden.at.2, align 8, !dbg !7",
    ]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("addressing", [ThreadLocalCounters(), PerThreadTable()], ids=["thread", "table"])
def test_one_instruction(machine: str, addressing: ThreadLocalCounters | PerThreadTable) -> None:
    code = builder()
    CounterAccess(addressing, SingleInstruction(machine)).increment(code, 1, "1")
    *addresses, add = code.lines
    assert len(addresses) == (2 if addressing.shared else 0)
    assert add.startswith("  call void asm sideeffect ")


def test_other_values_have_the_same_names_however_counters_are_used() -> None:
    names = set()
    for addressing in (ThreadLocalCounters(), PerThreadTable()):
        for update in (LoadAddStore(), SingleInstruction("x86_64")):
            code = builder()
            access = CounterAccess(addressing, update)
            access.increment(code, 0, "1")
            access.increment_at(code, access.element(code, 4, "%i"), "1")
            names.add(code.value("add i64 1, 2"))
    assert len(names) == 1


def test_an_element_is_addressed_once() -> None:
    code = builder()
    TABLE.increment_at(code, TABLE.element(code, 5, "%i"), "1")
    assert code.lines[:2] == [
        "  %trodden.at.1 = getelementptr i8, ptr %trodden.counts, i64 40",
        "  %trodden.1 = getelementptr i64, ptr %trodden.at.1, i64 %i",
    ]
    assert sum("%trodden.counts" in line for line in code.lines) == 1


def test_a_landing_pad_has_three_instructions() -> None:
    access = CounterAccess(ThreadLocalCounters(), SingleInstruction("x86_64"))
    assert access.in_landing_pad() == THREAD_LOCAL


def test_what_belongs_to_no_probe_has_the_default_location() -> None:
    code = builder(default_location="5")
    code.emit("store i64 0, ptr %p, align 8")
    code.emit("call void @f()")
    code.location = "6"
    code.emit("call void @f()")
    assert code.lines == [
        "  store i64 0, ptr %p, align 8, !dbg !5",
        "  call void @f(), !dbg !5",
        "  call void @f(), !dbg !6",
    ]
