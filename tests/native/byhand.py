"""Programs that play instrumented code by hand, linked with the runtime, and a reader of what they leave.

The raw file is read here by a reader of its own, straight from the description of the format.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import trodden.native

PROGRAMS = Path(__file__).parent / "programs"
RUNTIME = Path(trodden.native.__file__).parent / "runtime"
PADDING = RUNTIME / "counters" / "tls_padding.c"
CC = (sys.executable, "-m", "ziglang", "cc")
SHARED = (
    *("__trodden_enter", "__trodden_leave", "__trodden_leader", "__trodden_keep", "__trodden_passed"),
    "trodden_dump",
)
PLACES = ("__trodden_caller", "__trodden_table", "__trodden_ring")
REAL = ("__pthread_create", "__libc_siglongjmp", "__sigaction")
HEADER = struct.Struct("<8sIIQQQ12I")
CONTEXT_BYTES = 1336
AT_EXIT, ON_THE_WAY = range(2)


class Frame(NamedTuple):
    """An active call; the cell is None where it is not known."""

    thread: int
    module: int
    address: int
    cell: int | None
    interrupted: bool = False


class Jump(NamedTuple):
    """How often jumps left a place with that in its cell."""

    module: int
    address: int
    cell: int | None
    times: int


class Call(NamedTuple):
    """A call: unit None for the start of a thread, and which of the calls it comes from."""

    unit: int | None
    function: int
    parent: int
    again: bool
    times: int


@dataclass(frozen=True)
class Raw:
    """A raw file, taken apart."""

    flags: int
    """1: the process has ended by itself; 2: not all active calls were found."""
    pid: int
    parent: int
    start: int
    modules: list[tuple[int, str]]
    units: list[tuple[str, int, tuple[int, ...]]]
    frames: list[Frame]
    start_frames: list[Frame]
    jumps: list[Jump]
    notes: dict[tuple[int, int, int], int]
    calls: list[Call]

    @classmethod
    def read(cls, path: Path) -> Raw:
        data = path.read_bytes()
        magic, version, flags, pid, parent, start, *numbers = HEADER.unpack_from(data)
        n_modules, n_units, n_frames, n_start, n_jumps, n_notes, n_calls, *more = numbers
        n_contexts, n_lasts, ending, number, reserved = more
        assert (magic, version, n_lasts, number, reserved) == (b"TRODRAW1", 4, 0, 0, 0)
        assert (flags in (0, 2), ending in (AT_EXIT, ON_THE_WAY)) == (True, True)
        at = HEADER.size
        modules = []
        for _ in range(n_modules):
            bias, length, reserved = struct.unpack_from("<QII", data, at)
            padded = -(-length // 8) * 8
            path_bytes = data[at + 16 : at + 16 + padded]
            assert reserved == 0
            assert path_bytes[length:] == bytes(padded - length)
            modules.append((bias, os.fsdecode(path_bytes[:length])))
            at += 16 + padded
        units = []
        for _ in range(n_units):
            identity, module, slots = struct.unpack_from("<16sII", data, at)
            letter = chr(identity[0])
            assert identity == letter.encode() * 4 + bytes(12)
            counts = [0] * slots
            at += 24
            while (run := struct.unpack_from("<II", data, at)) != (slots, 0):
                first, length = run
                counts[first : first + length] = struct.unpack_from(f"<{length}Q", data, at + 8)
                assert (length > 0, len(counts)) == (True, slots)
                at += 8 + 8 * length
            at += 8
            units.append((letter, module, tuple(counts)))
        frames = []
        for _ in range(n_frames + n_start):
            thread, module, address, cell, marks, zero = struct.unpack_from("<IIQQII", data, at)
            known, interrupted = bool(marks & 1), bool(marks & 2)
            assert (marks < 4, zero, cell if not known else 0) == (True, 0, 0)
            frames.append(Frame(thread, module, address, cell if known else None, interrupted))
            at += 32
        jumps = []
        for _ in range(n_jumps):
            module, known, address, cell, count = struct.unpack_from("<IIQQq", data, at)
            assert (known in (0, 1), count != 0, cell if not known else 0) == (True, True, 0)
            jumps.append(Jump(module, address, cell if known else None, count))
            at += 32
        assert len({jump[:3] for jump in jumps}) == n_jumps
        notes = {}
        for _ in range(n_notes):
            unit, zero, key, value, amount = struct.unpack_from("<IIQQQ", data, at)
            assert (zero, amount != 0, unit < n_units) == (0, True, True)
            notes[unit, key, value] = amount
            at += 32
        assert len(notes) == n_notes
        calls = []
        for number in range(n_calls):
            unit, function, caller, again, count = struct.unpack_from("<IIIIQ", data, at)
            root = unit == 0xFFFFFFFF
            assert root or (unit < n_units and caller < number and again in (0, 1))
            calls.append(Call(None if root else unit, function, caller, bool(again), count))
            at += 24
        for _ in range(n_contexts):
            thread, number, pc = struct.unpack_from("<IIQ", data, at)
            frame = frames[number]
            assert frame.thread == thread
            assert frame.address + modules[frame.module][0] == pc
            at += CONTEXT_BYTES
        size, crc, done = struct.unpack_from("<QI4s", data, at)
        assert (size, crc, done, at + 16) == (len(data), zlib.crc32(data[:at]), b"DONE", len(data))
        first, rest = frames[:n_frames], frames[n_frames:]
        whole = flags | (ending == AT_EXIT)
        return cls(whole, pid, parent, start, modules, units, first, rest, jumps, notes, calls)

    def counts(self, letter: str) -> tuple[int, ...]:
        (found,) = [counts for name, _, counts in self.units if name == letter]
        return found

    def addresses(self) -> list[int]:
        """The active frames, where they were in memory."""
        return [frame.address + self.modules[frame.module][0] for frame in self.frames]


class Toolbox:
    """Compiles the runtime once for a target, and links programs with it."""

    def __init__(self, directory: Path, flags: Sequence[str] = ()) -> None:
        self.directory = directory
        self.flags = ["-O1", "-fno-sanitize=all", "-Wall", "-Wextra", "-Werror", "-I", str(RUNTIME), *flags]
        self.static = "-static" in flags
        sources = sorted(str(path) for path in RUNTIME.rglob("*.c") if path != PADDING)
        options = ["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-fasynchronous-unwind-tables"]
        self.compile([*options, "-r", *sources, "-o", "runtime.o"])
        self.compile([*options, "-c", str(PADDING), "-o", "padding.o"])
        if not self.static:
            # A library that names the shared functions makes the linker export them from a program.
            names = "".join(f"void {name}(void);" for name in SHARED)
            calls = "".join(f"{name}();" for name in SHARED)
            weak = "".join(f"extern __thread void *{name} __attribute__((weak));" for name in PLACES)
            values = " ? 0 : ".join(PLACES)
            text = f"{names} {weak} void *names(void); void *names(void) {{ {calls} return {values}; }}"
            (directory / "names.c").write_text(text)
            self.compile(["-shared", "-fPIC", "-nostdlib", "names.c", "-o", "names.so"])

    def compile(self, arguments: Sequence[str]) -> None:
        done = subprocess.run(
            [*CC, *self.flags, *arguments], cwd=self.directory, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def build(self, name: str, source: str, *options: str, runtime: bool = True, pad: bool = True) -> Path:
        """Links a program; every one is built only once.

        Without the page behind its counters they share their pages with other variables.
        """
        target = self.directory / name
        if not target.exists():
            real = [f"-Wl,-u,{name}" for name in REAL]
            whole = real if self.static else ["-Wl,--as-needed", "names.so"]
            last = ["padding.o"] if pad and "-shared" not in options else []
            parts = ["runtime.o", *last, *whole] if runtime else []
            # Objects are linked in their order, but before all that is given as a source.
            compiled = f"{name}.o"
            linking = ("-Wl,", "-L", "-l", "-shared", "-pie")
            steps = [option for option in options if not option.startswith(linking)]
            self.compile(["-c", str(PROGRAMS / source), *steps, "-o", compiled])
            self.compile([compiled, *parts, "-o", str(target), *options, "-Wno-unused-command-line-argument"])
        return target


@dataclass(frozen=True)
class Run:
    status: int
    output: list[str]
    errors: str
    raw: Path


def start(
    program: Path,
    *arguments: str,
    cwd: Path,
    file: str | None = "out.raw",
    prepare: Callable[[], None] | None = None,
) -> Run:
    environment: Mapping[str, str] = {k: v for k, v in os.environ.items() if k != "TRODDEN_FILE"} | (
        {} if file is None else {"TRODDEN_FILE": file}
    )
    done = subprocess.run(
        [str(program), *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=prepare,
        timeout=60,
    )
    return Run(done.returncode, done.stdout.split("\n")[:-1], done.stderr, cwd / (file or ""))
