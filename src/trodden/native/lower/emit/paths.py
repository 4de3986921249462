"""Emit the code of path probes: count a path, and its time (BL96 §3.4, §1.2).

Setting the path register and adding to it is no code: its value is known but for a phi, and what is added is
folded into the address of the counter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trodden.native.lower.builder import Builder
from trodden.native.lower.counter_access import CounterAccess
from trodden.native.lower.emit.crossings import CrossingEmitter, is_of_calls, reads_register
from trodden.native.lower.emit.last_paths import LastPaths
from trodden.native.lower.emit.overlaps import LoopOverlaps, emit_condition
from trodden.native.lower.emit.register_phis import PathRegister
from trodden.native.lower.emit.tuples import PathTuples
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.probe_locations import PlacedProbe, edges_of, ended_path
from trodden.native.lower.runtime_symbols import COUNT_SPARSE, UNIT
from trodden.plan.overlapping.before import Followed
from trodden.plan.overlapping.registers import Counted
from trodden.plan.overlapping.tuples import FLAG
from trodden.plan.paths.path_register import STACK_SLOT, Base, Value
from trodden.plan.probes import Bump, BumpAt, Paths, Plan, StartClock
from trodden.program.debug_variables import REGISTER_SLOT, base_name
from trodden.program.sparse_path_key import cycles_key

CLOCK = "%trodden.clock"
"""The stack slot with the time at which the current path started."""

_READ_CLOCK = {
    "x86_64": "call i64 @llvm.readcyclecounter()",
    "aarch64": 'call i64 asm sideeffect "mrs $0, cntvct_el0", "=r"()',
}


class _ChosenPath(NamedTuple):
    """The number of a path that has been chosen: by a phi, among those of merged edges, or by a condition."""

    name: str


@dataclass(frozen=True)
class PathEmitter:
    """Emits the code of path probes in one function; ``table`` is the slot of its path 0."""

    paths: Paths
    numbers: int
    register: PathRegister
    table: int
    function: int
    machine: str
    last_paths: LastPaths | None
    overlaps: LoopOverlaps | None
    crossings: CrossingEmitter | None
    tuples: PathTuples | None
    first_tuple: int
    records: Callable[[Base], list[str]]

    @staticmethod
    def of(
        lowering: FunctionLowering,
        plan: Plan,
        register: PathRegister | None,
        last_paths_tag: int | None,
        overlaps: LoopOverlaps | None,
        crossings: CrossingEmitter | None,
        tuples: PathTuples | None,
    ) -> PathEmitter | None:
        """The emitter for a plan that has paths; the tag is that of a unit which keeps last paths."""
        if plan.paths is None or register is None:
            return None
        table = lowering.first_slot + len(plan.measures)
        last_paths = None if last_paths_tag is None else LastPaths(last_paths_tag, lowering.number)
        return PathEmitter(
            plan.paths,
            plan.numbers,
            register,
            table,
            lowering.number,
            lowering.machine,
            last_paths,
            overlaps,
            crossings,
            tuples,
            lowering.first_slot + plan.first_tuple,
            lowering.debug.value_record,
        )

    @property
    def halves(self) -> bool:
        """Whether the stack slot has two registers, each in half of it."""
        return self.overlaps is not None or self.tuples is not None

    def emit(
        self,
        builder: Builder,
        access: CounterAccess,
        probes: Sequence[PlacedProbe],
        locations: Sequence[str | None],
        value: Value | None,
    ) -> None:
        """What probes do, one after the other; ``value`` is the path register before them."""
        now = ""
        for edge in edges_of(probes):
            self.choose(builder, edge)
        for placed, location in zip(probes, locations, strict=True):
            probe, mark = placed
            builder.location = location
            if self.crossings is not None and is_of_calls(probe):
                told = reads_register(probe, value)
                number = "" if told is None else self.operand(builder, told)
                self.crossings.emit(builder, access, probe, mark, number)
            elif isinstance(probe, Bump | BumpAt):
                path = ended_path(probe, value)
                now = self._read_clock(builder) if self.paths.timed else ""
                self._count(builder, access, path.base, path.add, "1", now)
                if self.last_paths is not None:
                    builder.location = None
                    self.last_paths.enter(builder, self.operand(builder, path))
            elif isinstance(probe, StartClock):
                now = now or self._read_clock(builder)
                builder.emit(f"store i64 {now}, ptr {CLOCK}, align 8")
            elif (counted := self.counted(placed)) is not None:
                self._count_overlap(builder, access, counted)
            elif (followed := self.followed(placed)) is not None:
                self._count_tuple(builder, access, followed)
            value = self.register.values.after(value, (probe,))

    def counted(self, placed: PlacedProbe) -> Counted | None:
        """The overlap that a probe counts."""
        return None if self.overlaps is None else self.overlaps.counted(placed)

    def choose(self, builder: Builder, edge: int) -> None:
        """Choose the values of the registers of overlaps that depend on questions of an edge."""
        builder.location = None
        for chosen, choice in self.overlaps.choices(edge) if self.overlaps is not None else ():
            condition = emit_condition(builder, choice.condition)
            yes, no = self.operand(builder, choice.yes), self.operand(builder, choice.no)
            builder.define(base_name(chosen), f"select i1 {condition}, i64 {yes}, i64 {no}")
            builder.records(self.records(chosen))

        for chosen, joined in self.tuples.joined(edge) if self.tuples is not None else ():
            assert self.tuples is not None
            base, add = self._joined(builder, joined)
            number = base if add == 0 else builder.value(f"add i64 {base}, {add}")
            builder.define(base_name(chosen), f"urem i64 {number}, {self.tuples.most}")
            builder.records(self.records(chosen))

    def followed(self, placed: PlacedProbe) -> Followed | None:
        """The tuple that a probe counts."""
        return None if self.tuples is None else self.tuples.counted(placed)

    def _joined(self, builder: Builder, followed: Followed) -> tuple[str, int]:
        """The number of a tuple: an operand and what is to be added to it."""
        assert self.tuples is not None
        before, path = followed
        add = before.add * self.tuples.radix + path.add + 1
        operand = "0"
        if before.base is not None:
            operand = builder.value(f"mul i64 {self._base(builder, before.base)}, {self.tuples.radix}")
        if path.base is not None:
            last = self._base(builder, path.base)
            operand = last if operand == "0" else builder.value(f"add i64 {operand}, {last}")
        return operand, add

    def tuple_number(self, builder: Builder, followed: Followed) -> tuple[str, str]:
        """The number of a tuple as an operand, and how often it is counted: not if nothing was before."""
        operand, add = self._joined(builder, followed)
        number = builder.value(f"add i64 {operand}, {add}")
        if followed.before.base is None:
            return number, "1"
        before = self.operand(builder, followed.before)
        some = builder.value(f"icmp ne i64 {before}, 0")
        return number, builder.value(f"zext i1 {some} to i64")

    def count_tuple_if(self, builder: Builder, access: CounterAccess, number: str, amount: str) -> None:
        """Count the tuple with a number, an operand, if the amount is 1 and not 0."""
        assert self.tuples is not None
        if self.tuples.dense:
            access.increment_at(builder, access.element(builder, self.first_tuple, number), amount)
            return
        location, builder.location = builder.location, None
        flagged = builder.value(f"or i64 {number}, {_signed(FLAG)}")
        builder.location = location
        self._count_sparse(builder, self.function, flagged, amount)

    def _count_tuple(self, builder: Builder, access: CounterAccess, followed: Followed) -> None:
        assert self.tuples is not None
        location, builder.location = builder.location, None
        if self.tuples.dense:
            # What nothing was before is counted too, and nobody reads it.
            operand, add = self._joined(builder, followed)
            builder.location = location
            if operand == "0":
                access.increment(builder, self.first_tuple + add, "1")
            else:
                element = access.element(builder, self.first_tuple + add, operand)
                access.increment_at(builder, element, "1")
            return
        number, amount = self.tuple_number(builder, followed)
        builder.location = location
        self.count_tuple_if(builder, access, number, amount)

    def _count_overlap(self, builder: Builder, access: CounterAccess, counted: Counted) -> None:
        if self.paths.dense and counted.condition is None:
            self._count(builder, access, counted.number.base, counted.number.add, "1", "")
            return
        location, builder.location = builder.location, None
        number, ended = self.ended(builder, counted)
        builder.location = location
        self._count(builder, access, _ChosenPath(number.removeprefix("%")), 0, ended, "")

    def ended(self, builder: Builder, ended: Value | Counted) -> tuple[str, str]:
        """The number of a path or an overlap as an operand, and how often it has ended: 1, or perhaps 0.

        With a counter for each path, those behind the others count what is fictitious or has not ended.
        """
        if isinstance(ended, Value):
            return self.operand(builder, ended), "1"
        number = self.operand(builder, ended.number)
        condition = None if ended.condition is None else emit_condition(builder, ended.condition)
        if self.paths.dense:
            if condition is not None:
                number = builder.value(f"select i1 {condition}, i64 {number}, i64 {self.numbers}")
            return number, "1"
        real = builder.value(f"icmp ult i64 {number}, {self.numbers}")
        if condition is not None:
            real = builder.value(f"and i1 {real}, {condition}")
        return number, builder.value(f"zext i1 {real} to i64")

    def count_if(self, builder: Builder, access: CounterAccess, target: int, path: str, ended: str) -> None:
        """Count a path whose number is a phi, and restart its clock, if ``ended`` is 1 and not 0."""
        now = self._read_clock(builder) if self.paths.timed else ""
        self._count(builder, access, _ChosenPath(path), 0, ended, now)
        if now:
            has_ended = builder.value(f"icmp ne i64 {ended}, 0")
            old = builder.value(f"load i64, ptr {CLOCK}, align 8")
            new = builder.value(f"select i1 {has_ended}, i64 {now}, i64 {old}")
            builder.emit(f"store i64 {new}, ptr {CLOCK}, align 8")

    def enter_if(self, builder: Builder, path: str, ended: str) -> None:
        """Enter such a path into the ring of last paths, if there is one."""
        if self.last_paths is not None:
            builder.location = None
            self.last_paths.enter(builder, f"%{path}", ended)

    def operand(self, builder: Builder, value: Value) -> str:
        """A value of the register as an operand; adding its constant is an instruction."""
        return self._number(builder, value.base, value.add)

    def _number(self, builder: Builder, base: Base | _ChosenPath | None, add: int) -> str:
        if base is None:
            return str(_signed(add))
        operand = self._base(builder, base)
        return operand if add == 0 else builder.value(f"add i64 {operand}, {_signed(add)}")

    def _count(
        self,
        builder: Builder,
        access: CounterAccess,
        base: Base | _ChosenPath | None,
        add: int,
        amount: str,
        now: str,
    ) -> None:
        """Count path ``base + add`` and, if there is a time ``now``, the time since the path started."""
        elapsed = self._elapsed(builder, amount, now) if now else ""
        if not self.paths.dense:
            number = self._number(builder, base, add)
            self._count_sparse(builder, self.function, number, amount)
            if elapsed:
                self._count_sparse(builder, cycles_key(self.function), number, elapsed)
            return
        self._increment(builder, access, base, self.table + add, amount)
        if elapsed:
            self._increment(builder, access, base, self.table + self.paths.number + add, elapsed)

    def _increment(
        self, builder: Builder, access: CounterAccess, base: Base | _ChosenPath | None, slot: int, amount: str
    ) -> None:
        if base is None:
            access.increment(builder, slot, amount)
        else:
            index = self._base(builder, base)
            access.increment_at(builder, access.element(builder, slot, index), amount)

    def _base(self, builder: Builder, base: Base | _ChosenPath) -> str:
        if isinstance(base, _ChosenPath):
            return base.name if base.name[0] in "-0123456789" else f"%{base.name}"
        if base == STACK_SLOT and self.halves:
            half = builder.value(f"load volatile i32, ptr %{REGISTER_SLOT}, align 8")
            return builder.value(f"sext i32 {half} to i64")
        if base == STACK_SLOT:
            return builder.value(f"load volatile i64, ptr %{REGISTER_SLOT}, align 8")
        return f"%{base_name(base)}"

    def _read_clock(self, builder: Builder) -> str:
        return builder.value(_READ_CLOCK[self.machine])

    def _elapsed(self, builder: Builder, amount: str, now: str) -> str:
        before = builder.value(f"load i64, ptr {CLOCK}, align 8")
        elapsed = builder.value(f"sub i64 {now}, {before}")
        return elapsed if amount == "1" else builder.value(f"mul i64 {elapsed}, {amount}")

    def _count_sparse(self, builder: Builder, key: int, path: str, amount: str) -> None:
        arguments = f"ptr {UNIT}, i64 {_signed(key)}, i64 {path}, i64 {amount}"
        builder.emit(f"call preserve_mostcc void {COUNT_SPARSE}({arguments})")


def _signed(number: int) -> int:
    """A number of 64 bits as IR writes it."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number
