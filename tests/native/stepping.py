"""Reads what stepper.c wrote, follows calls and returns, and asks for every frame where it stands."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.native.building import PROGRAMS, execute, must
from trodden.collect.binary.program import read_program
from trodden.collect.frames.frame_locator import Position, Positions
from trodden.collect.interrupted import add_position
from trodden.profile.assemble import unit_profiles
from trodden.program.clone_map import origin_of
from trodden.program.facts import UnitFacts
from trodden.recover.unit_counts_builder import UnitCountsBuilder

STACK, BOOKS, REGISTERS = 512, 64, 17
KEPT = 43
SP, PC = 7, 16
_BOOK = re.compile(
    r"  store volatile i32 \S+, ptr (?:@trail|getelementptr [^(]*\((?:(i8), ptr|\[64 x i32\], ptr) @trail, "
    r"(?:i64 0, )?i64 (\d+)\)), "
)
_PLACE = re.compile(r"    #dbg_value\(i64 (\d+), ")
Books = dict[str, dict[int, set[int]]]
"""By function and block: the books that are kept there."""


@dataclass
class Step:
    """The state before one instruction."""

    registers: tuple[int, ...]
    stack: bytes
    counts: list[int]
    books: tuple[int, ...]

    def memory(self, address: int, size: int) -> bytes | None:
        offset = address - self.registers[SP]
        return self.stack[offset : offset + size] if 0 <= offset <= STACK - size else None


@dataclass
class Outer:
    """A frame that waits for a call: where it will go on, and where it stands."""

    back_to: int
    sp: int
    ours: bool
    position: Position | None


@dataclass
class Walked:
    """What came of stepping: how many instructions were told, and everything that was wrong."""

    told: int = 0
    untold: int = 0
    unchecked: int = 0
    untold_at: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def build(directory: Path, *flags: str) -> Path:
    sources = [str(PROGRAMS / name) for name in ("stepped.c", "stepper.c")]
    leave = "--trodden-leave=*stepper.c"
    must("cc", leave, *flags, *sources, "-o", "steps", cwd=directory)
    must("cc", *flags, "-S", "-emit-llvm", sources[0], "-o", "stepped.ll", cwd=directory)
    return directory / "steps"


def books_of(text: str) -> Books:
    """Which block keeps which book, from the program's IR."""
    found: Books = {}
    for definition in text.split("\ndefine ")[1:]:
        name = definition[definition.index("@") + 1 :].partition("(")[0]
        for block in definition[: definition.index("\n}\n")].split("\n\n"):
            place = _PLACE.search(block)
            for book in _BOOK.finditer(block):
                assert place is not None
                number = int(book.group(2) or 0) // (4 if book.group(1) else 1)
                found.setdefault(name, {}).setdefault(int(place.group(1)), set()).add(number)
    return found


def of_the_graph(unit: UnitFacts, books: Books) -> Books:
    """The books that are kept in blocks of the code by the blocks of the graph that these stand for."""
    found: Books = {}
    for facts in unit.functions:
        for block, kept in books.get(facts.linkage_name, {}).items():
            found.setdefault(facts.linkage_name, {}).setdefault(origin_of(facts, block), set()).update(kept)
    return found


def steps_of(program: Path, directory: Path) -> tuple[int, list[int], Iterator[Step]]:
    done = execute([str(program), "log"], directory, {"TRODDEN_FILE": str(directory / "raw")})
    assert (done.returncode, done.stderr) == (0, "")
    data = (directory / "log").read_bytes()
    bias, slots = struct.unpack_from("<QQ", data)
    before = list(struct.unpack_from(f"<{slots}Q", data, 16))
    form = struct.Struct(f"<{REGISTERS}Q{STACK}s{slots}Q{BOOKS}I")

    def steps() -> Iterator[Step]:
        for fields in form.iter_unpack(data[16 + 8 * slots :]):
            stack = fields[REGISTERS]
            counts = list(fields[REGISTERS + 1 : REGISTERS + 1 + slots])
            yield Step(fields[:REGISTERS], stack, counts, fields[REGISTERS + 1 + slots :])

    return bias, before, steps()


def walk(program: Path, directory: Path, every: int = 1) -> Walked:
    """Check every step, or one in ``every``."""
    facts = read_program(program)
    positions = Positions(facts)
    ranges = sorted(facts.functions)
    bias, _, steps = steps_of(program, directory)
    unit = max(facts.units.values(), key=lambda each: each.slots)
    books = of_the_graph(unit, books_of((directory / "stepped.ll").read_text()))
    assert len({book for blocks in books.values() for each in blocks.values() for book in each}) == KEPT
    walked = Walked()
    outer: list[Outer] = []
    before: tuple[int, int, Position | None] | None = None
    for number, step in enumerate(steps):
        pc, sp = step.registers[PC] - bias, step.registers[SP]
        while outer and (pc, sp) == (outer[-1].back_to, outer[-1].sp):
            outer.pop()
        if before is not None and sp == before[1] - 8:
            back_to = int.from_bytes(step.stack[:8], "little") - bias
            entered = any(low == pc for low, _ in ranges) or not _inside(ranges, pc, before[0])
            if entered and before[0] < back_to <= before[0] + 15:
                outer.append(Outer(back_to, before[1], positions.knows(before[0]), before[2]))
        position = positions.at(pc, dict(enumerate(step.registers)), step.memory)
        before = (pc, sp, position)
        ours = positions.knows(pc)
        if ours and position is None:
            walked.untold += 1
            walked.untold_at[pc] += 1
            continue
        walked.told += ours
        if number % every == 0:
            frames = [each.position for each in outer if each.ours] + ([position] if ours else [])
            known = [each for each in frames if each is not None]
            if len(known) < len(frames):
                walked.unchecked += 1
                continue
            walked.wrong += check(unit, books, step, known, pc)
            if len(walked.wrong) > 20:
                break
    return walked


def _inside(ranges: list[tuple[int, int]], one: int, other: int) -> bool:
    return any(low <= one < high and low <= other < high for low, high in ranges)


def check(unit: UnitFacts, books: Books, step: Step, frames: list[Position], pc: int) -> list[str]:
    """What contradicts the flow law, or the books that the program keeps."""
    builder = UnitCountsBuilder(unit)
    builder.add_counters(step.counts)
    for position in frames:
        add_position(builder, position)
    functions = list(unit_profiles(unit, builder.result()))
    wrong = [
        f"{pc:#x} {function.name}: {violation} {frames}"
        for function in functions
        for violation in function.violations
    ]
    found: Counter[int] = Counter()
    for function in functions:
        for block, kept in books.get(function.name, {}).items():
            found.update(dict.fromkeys(kept, function.block_counts[block]))
    standing = Counter(
        book
        for position in frames
        for book in books.get(functions[position.function].name, {}).get(position.block, ())
    )
    if any(position.whole for position in frames):
        return wrong
    for book in range(KEPT):
        if not 0 <= found[book] - step.books[book] <= standing[book]:
            wrong.append(f"{pc:#x}: book {book} says {step.books[book]}, found {found[book]} {frames}")
    return wrong
