"""The code of path probes: counting a path, keeping time, and the register's phis (BL96 §3.4, §1.2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trodden.native.lower.debug_locations import FunctionMarks
from trodden.native.lower.emit_last_paths import RingCode
from trodden.plan.paths.locations import Mark
from trodden.plan.paths.path_register import STACK_SLOT, Register, Value
from trodden.plan.probes import Bump, BumpAt, Paths, Plan, Probe, StartClock

COUNTERS = "@__trodden_counts"
UNIT = "@__trodden_unit"
NOTE = "@__trodden_note"
CLOCK = "%trodden.clock"
_TIME = 1 << 63
_NOW = {
    "x86_64": "call i64 @llvm.readcyclecounter()",
    "aarch64": 'call i64 asm sideeffect "mrs $0, cntvct_el0", "=r"()',
}


def slot_address(slot: int) -> str:
    """The address of a counter of the calling thread."""
    return COUNTERS if slot == 0 else f"getelementptr (i8, ptr {COUNTERS}, i64 {slot * 8})"


_STEPS = re.compile(
    r"^  (%trodden\.[\w.]+) = load i64, ptr (.*), align 8(?:, ![a-z]+ !\d+)?\n"
    r"  (%trodden\.[\w.]+) = add i64 \1, ([^,\n]+)(?:, ![a-z]+ !\d+)?\n"
    r"  store i64 \3, ptr \2, align 8((?:, ![a-z]+ !\d+)?)$",
    re.MULTILINE,
)
_PAD = re.compile(r"^  %\S+ = landingpad .*\n(?: .*\n|\n)*", re.MULTILINE)
_ONE_STEP = {
    "x86_64": '"addq $1, $0", "=*m,er,*m,~{flags}"',
    "aarch64": (
        '"0:\\0Aldxr x16, $0\\0Aadd x16, x16, $1\\0Astxr w17, x16, $0\\0Acbnz w17, 0b", '
        '"=*Q,r,*Q,~{x16},~{x17}"'
    ),
}


def in_one_step(text: str, machine: str) -> str:
    """A function that adds to its counters by single instructions, which no signal can come between.

    Optimised code does so anyway.  What the optimiser does not see into it cannot keep in a register either.
    """
    code = _ONE_STEP[machine]
    # In a landing pad LLVM, without optimisation, would lose what the exception has left in registers.
    pads = [match.span() for match in _PAD.finditer(text)]

    def joined(match: re.Match[str]) -> str:
        address, amount, location = match.group(2), match.group(4), match.group(5)
        if any(start <= match.start() < end for start, end in pads):
            return match[0]
        place = f"ptr elementtype(i64) {address}"
        return f"  call void asm sideeffect {code}({place}, i64 {amount}, {place}){location}"

    return _STEPS.sub(joined, text)


def increment(name: Callable[[], str], address: str, amount: str) -> list[str]:
    """Add to a counter, or to whatever else lies at an address."""
    old, new = name(), name()
    return [
        f"  %{old} = load i64, ptr {address}, align 8",
        f"  %{new} = add i64 %{old}, {amount}",
        f"  store i64 %{new}, ptr {address}, align 8",
    ]


@dataclass
class PathCode:
    """Makes the code of path probes for one function; ``table`` is the slot of its path 0."""

    name: Callable[[], str]
    paths: Paths
    table: int
    function: int
    machine: str
    register: Register
    marks: FunctionMarks | None = None
    ring: RingCode | None = None
    used: list[Value] = field(default_factory=list)

    @staticmethod
    def of(
        plan: Plan,
        name: Callable[[], str],
        first_slot: int,
        function: int,
        machine: str,
        register: Register,
        marks: FunctionMarks | None = None,
        tag: int | None = None,
    ) -> PathCode | None:
        """What makes the code of a plan's path probes, if it has any.

        ``tag`` is that of a unit which keeps last paths.
        """
        if plan.paths is None:
            return None
        table = first_slot + len(plan.measures)
        ring = None if tag is None else RingCode(name, tag, function)
        return PathCode(name, plan.paths, table, function, machine, register, marks, ring)

    def ended(self, probe: Bump | BumpAt, value: Value | None) -> Value:
        """The number of the path that a probe counts."""
        if isinstance(probe, BumpAt):
            return Value(None, probe.path)
        assert value is not None, "a path ends whose register was never set"
        return value.plus(probe.add)

    def code(self, probes: Sequence[Probe], value: Value | None, marks: Sequence[Mark] = ()) -> list[str]:
        """What the probes of an edge do, given what the register holds before them."""
        lines: list[str] = []
        now = ""
        for number, probe in enumerate(probes):
            start = len(lines)
            if isinstance(probe, Bump | BumpAt):
                if self.paths.timed:
                    now = self._read_clock(lines)
                self.count(lines, self.ended(probe, value), now)
            elif isinstance(probe, StartClock):
                now = now or self._read_clock(lines)
                lines.append(f"  store i64 %{now}, ptr {CLOCK}, align 8")
            if self.marks is not None and marks:
                self.marks.on(lines, start, marks[number])
            if self.ring is not None and isinstance(probe, Bump | BumpAt):
                start = len(lines)
                self.ring.enter(lines, self.operand(lines, self.ended(probe, value)))
                if self.marks is not None:
                    self.marks.beside(lines, start)
            value = self.register.after(value, (probe,))
        return lines

    def count(self, lines: list[str], path: Value, now: str) -> None:
        """One more execution of a path."""
        self.used.append(path)
        self._tally(lines, path, "1", now)

    def _tally(self, lines: list[str], path: Value, amount: str, now: str) -> None:
        """Add to the count of a path, and to its time what has gone by since its clock was started."""
        elapsed = self._elapsed(lines, amount, now) if now else ""
        if not self.paths.dense:
            number = self.operand(lines, path)
            self._note(lines, self.function, number, amount)
            if elapsed:
                self._note(lines, self.function | _TIME, number, elapsed)
            return
        lines += increment(self.name, self._address(lines, path, 0), amount)
        if elapsed:
            lines += increment(self.name, self._address(lines, path, self.paths.number), elapsed)

    def count_if(self, lines: list[str], path: str, amount: str) -> None:
        """Count a path whose number only a phi tells, ``amount`` being 1 or 0; then its clock starts anew."""
        now = self._read_clock(lines) if self.paths.timed else ""
        self._tally(lines, Value(path, 0), amount, now)
        if now:
            ended, old, new = self.name(), self.name(), self.name()
            lines += [
                f"  %{ended} = icmp ne i64 {amount}, 0",
                f"  %{old} = load i64, ptr {CLOCK}, align 8",
                f"  %{new} = select i1 %{ended}, i64 %{now}, i64 %{old}",
                f"  store i64 %{new}, ptr {CLOCK}, align 8",
            ]

    def remember_if(self, lines: list[str], path: str, amount: str) -> None:
        """Enter such a path into the ring of last paths, if there is one."""
        if self.ring is not None:
            start = len(lines)
            self.ring.enter(lines, f"%{path}", amount)
            if self.marks is not None:
                self.marks.beside(lines, start)

    def operand(self, lines: list[str], value: Value) -> str:
        """A value as an operand; adding its constant is an instruction of its own."""
        if value.base is None:
            return str(_signed(value.add))
        base = self._base(lines, value)
        if value.add == 0:
            return base
        name = self.name()
        lines.append(f"  %{name} = add i64 {base}, {_signed(value.add)}")
        return f"%{name}"

    def _base(self, lines: list[str], value: Value) -> str:
        if value.base != STACK_SLOT:
            return f"%{value.base}"
        name = self.name()
        lines.append(f"  %{name} = load volatile i64, ptr %{STACK_SLOT}, align 8")
        return f"%{name}"

    def _address(self, lines: list[str], path: Value, offset: int) -> str:
        if path.base is None:
            return slot_address(self.table + path.add + offset)
        return self._indexed(lines, path.add + offset, self._base(lines, path))

    def _indexed(self, lines: list[str], offset: int, index: str) -> str:
        name = self.name()
        base = slot_address(self.table + offset)
        lines.append(f"  %{name} = getelementptr i64, ptr {base}, i64 {index}")
        return f"%{name}"

    def _read_clock(self, lines: list[str]) -> str:
        name = self.name()
        lines.append(f"  %{name} = {_NOW[self.machine]}")
        return name

    def _elapsed(self, lines: list[str], amount: str, now: str) -> str:
        before, since = self.name(), self.name()
        lines.append(f"  %{before} = load i64, ptr {CLOCK}, align 8")
        lines.append(f"  %{since} = sub i64 %{now}, %{before}")
        if amount == "1":
            return f"%{since}"
        product = self.name()
        lines.append(f"  %{product} = mul i64 %{since}, {amount}")
        return f"%{product}"

    def _note(self, lines: list[str], key: int, value: str, amount: str) -> None:
        lines.append(
            f"  call preserve_mostcc void {NOTE}(ptr {UNIT}, i64 {_signed(key)}, i64 {value}, i64 {amount})"
        )


def _signed(number: int) -> int:
    """A number of 64 bits as IR writes it."""
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number
