"""Reads the log of ``stepper.c``, follows calls and returns, and locates every frame at every instruction."""

from __future__ import annotations

import re
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.native.building import PROGRAMS, execute
from trodden.collect.binary.program import read_program
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.interrupted import add_frame_state
from trodden.profile.assemble import unit_profiles
from trodden.program.clone_map import origin_of
from trodden.program.facts import UnitFacts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

RED_ZONE, STACK, COUNTS, REGISTERS = 128, 512, 64, 17
COUNTED = 43
SP, PC = 7, 16
_COUNT = re.compile(
    r"  store volatile i32 \S+, ptr (?:@own_counts|"
    r"getelementptr [^(]*\((?:(i8), ptr|\[64 x i32\], ptr) @own_counts, (?:i64 0, )?i64 (\d+)\)), "
)
_BLOCK = re.compile(r"    #dbg_value\(i64 (\d+), ")
CountsByBlock = dict[str, dict[int, set[int]]]
"""By function and block: the numbers of the reference counts that it increments."""


@dataclass
class Step:
    """The state before one instruction."""

    registers: tuple[int, ...]
    stack: bytes
    counts: list[int]
    reference: tuple[int, ...]

    def memory(self, address: int, size: int) -> bytes | None:
        offset = address - self.registers[SP] + RED_ZONE
        return self.stack[offset : offset + size] if 0 <= offset <= len(self.stack) - size else None


@dataclass
class Outer:
    """A frame that waits for a call: its return address, its stack pointer then, and its state."""

    return_address: int
    sp: int
    ours: bool
    state: FrameState | None


@dataclass
class Stepped:
    """The result of stepping: how many instructions were located, and everything that was wrong."""

    located: int = 0
    unlocated: int = 0
    unchecked: int = 0
    unlocated_at: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


_ONE_KIND = Path(__file__).parents[2] / "bench" / "build" / "one_kind.py"


def build(directory: Path, *flags: str) -> Path:
    """The program that steps through itself.

    Longer paths are those of loops alone: over calls the runtime is asked with all signals blocked, and the
    kernel ends a process that a step interrupts there.
    """
    sources = [str(PROGRAMS / name) for name in ("stepped.c", "stepper.c")]
    compiler = [sys.executable, str(_ONE_KIND), "loops", "cc"]
    for arguments in (
        ["--trodden-leave=*stepper.c", *flags, *sources, "-o", "steps"],
        [*flags, "-S", "-emit-llvm", sources[0], "-o", "stepped.ll"],
    ):
        done = execute([*compiler, *arguments], directory)
        assert (done.returncode, done.stderr) == (0, "")
    return directory / "steps"


def counts_by_block(text: str) -> CountsByBlock:
    """Which block increments which count, from the program's IR."""
    found: CountsByBlock = {}
    for definition in text.split("\ndefine ")[1:]:
        name = definition[definition.index("@") + 1 :].partition("(")[0]
        for block in definition[: definition.index("\n}\n")].split("\n\n"):
            number_of_block = _BLOCK.search(block)
            for count in _COUNT.finditer(block):
                assert number_of_block is not None
                number = int(count.group(2) or 0) // (4 if count.group(1) else 1)
                found.setdefault(name, {}).setdefault(int(number_of_block.group(1)), set()).add(number)
    return found


def of_the_graph(unit: UnitFacts, counts: CountsByBlock) -> CountsByBlock:
    """The counts of blocks of the code, by the blocks of the graph that they are clones of."""
    found: CountsByBlock = {}
    for facts in unit.functions:
        for block, numbers in counts.get(facts.linkage_name, {}).items():
            found.setdefault(facts.linkage_name, {}).setdefault(origin_of(facts, block), set()).update(
                numbers
            )
    return found


def steps_of(program: Path, directory: Path) -> tuple[int, list[int], Iterator[Step]]:
    done = execute([str(program), "log"], directory, {"TRODDEN_FILE": str(directory / "raw")})
    assert (done.returncode, done.stderr) == (0, "")
    data = (directory / "log").read_bytes()
    bias, slots = struct.unpack_from("<QQ", data)
    before = list(struct.unpack_from(f"<{slots}Q", data, 16))
    form = struct.Struct(f"<{REGISTERS}Q{RED_ZONE + STACK}s{slots}Q{COUNTS}I")

    def steps() -> Iterator[Step]:
        for fields in form.iter_unpack(data[16 + 8 * slots :]):
            stack = fields[REGISTERS]
            counts = list(fields[REGISTERS + 1 : REGISTERS + 1 + slots])
            yield Step(fields[:REGISTERS], stack, counts, fields[REGISTERS + 1 + slots :])

    return bias, before, steps()


def step_through(program: Path, directory: Path, every: int = 1) -> Stepped:
    """Check every step, or one in ``every``."""
    facts = read_program(program)
    locator = FrameLocator(facts)
    ranges = sorted(facts.functions)
    bias, _, steps = steps_of(program, directory)
    unit = max(facts.units.values(), key=lambda each: each.slots)
    expected = of_the_graph(unit, counts_by_block((directory / "stepped.ll").read_text()))
    assert (
        len({number for blocks in expected.values() for each in blocks.values() for number in each})
        == COUNTED
    )
    stepped = Stepped()
    outer: list[Outer] = []
    before: tuple[int, int, FrameState | None] | None = None
    for number, step in enumerate(steps):
        pc, sp = step.registers[PC] - bias, step.registers[SP]
        while outer and (pc, sp) == (outer[-1].return_address, outer[-1].sp):
            outer.pop()
        if before is not None and sp == before[1] - 8:
            return_address = int.from_bytes(step.stack[RED_ZONE : RED_ZONE + 8], "little") - bias
            entered = any(low == pc for low, _ in ranges) or not _inside(ranges, pc, before[0])
            if entered and before[0] < return_address <= before[0] + 15:
                outer.append(Outer(return_address, before[1], locator.knows(before[0]), before[2]))
        state = locator.at(pc, dict(enumerate(step.registers)), step.memory)
        before = (pc, sp, state)
        ours = locator.knows(pc)
        if ours and state is None:
            stepped.unlocated += 1
            stepped.unlocated_at[pc] += 1
            continue
        stepped.located += ours
        if number % every == 0:
            frames = [each.state for each in outer if each.ours] + ([state] if ours else [])
            known = [each for each in frames if each is not None]
            if len(known) < len(frames):
                stepped.unchecked += 1
                continue
            stepped.wrong += check(unit, expected, step, known, pc)
            if len(stepped.wrong) > 20:
                break
    return stepped


def _inside(ranges: list[tuple[int, int]], one: int, other: int) -> bool:
    return any(low <= one < high and low <= other < high for low, high in ranges)


def check(
    unit: UnitFacts, expected: CountsByBlock, step: Step, frames: list[FrameState], pc: int
) -> list[str]:
    """What contradicts the flow law, or the program's own counts."""
    builder = UnitCountsBuilder(unit)
    builder.add_counters(step.counts)
    for state in frames:
        add_frame_state(builder, state)
    functions = list(unit_profiles(unit, builder.result()))
    wrong = [
        f"{pc:#x} {function.name}: {violation} {frames}"
        for function in functions
        for violation in function.violations
    ]
    found: Counter[int] = Counter()
    for function in functions:
        for block, numbers in expected.get(function.name, {}).items():
            found.update(dict.fromkeys(numbers, function.block_counts[block]))
    entered = Counter(
        number
        for state in frames
        for number in expected.get(functions[state.function].name, {}).get(state.block, ())
    )
    if any(state.path_counted for state in frames):
        return wrong
    for number in range(COUNTED):
        if not 0 <= found[number] - step.reference[number] <= entered[number]:
            wrong.append(
                f"{pc:#x}: count {number} is {step.reference[number]}, found {found[number]} {frames}"
            )
    return wrong
