"""Programs with handwritten probes, linked with the runtime, and a reader of their raw files.

The reader is independent of the one in the package: it follows the description of the format.
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
SHARED_FUNCTIONS = (
    *("__trodden_enter", "__trodden_leave", "__trodden_leader", "__trodden_passed"),
    *("__trodden_landing", "__trodden_keep", "__trodden_release", "__trodden_incomplete"),
    *("__trodden_trace_next", "__trodden_landed", "__trodden_left_at"),
    "trodden_dump",
)
SHARED_VARIABLES = ("__trodden_caller", "__trodden_table", "__trodden_ring", "__trodden_trace")
INTERPOSED = ("__pthread_create", "__pthread_getattr_np", "__libc_siglongjmp", "__sigaction", "__setxid")
HEADER = struct.Struct("<8sIIQQQ12I")
SAVED_REGISTERS_BYTES = 1336
AT_EXIT, AT_DUMP = range(2)


class Frame(NamedTuple):
    """An active call; the path-register slot is None where it is not known."""

    thread: int
    module: int
    address: int
    slot: int | None
    interrupted: bool = False


class NonlocalExit(NamedTuple):
    """How often frames were left at a return address with that value in their slot."""

    module: int
    address: int
    slot: int | None
    times: int


class Call(NamedTuple):
    """A node of a call-path tree, with the index of its parent; the root has no unit."""

    unit: int | None
    function: int
    parent: int
    recursive: bool
    times: int


@dataclass(frozen=True)
class Raw:
    """A parsed raw file."""

    flags: int
    """1: the process exited by itself; 2: some active calls were not found."""
    pid: int
    parent: int
    start: int
    modules: list[tuple[int, str]]
    units: list[tuple[str, int, tuple[int, ...]]]
    frames: list[Frame]
    fork_frames: list[Frame]
    exits: list[NonlocalExit]
    sparse_paths: dict[tuple[int, int, int], int]
    calls: list[Call]

    @classmethod
    def read(cls, path: Path, expected: int = 4) -> Raw:
        """The content of a file of that version: 5 with a trace."""
        data = path.read_bytes()
        magic, version, flags, pid, parent, start, *numbers = HEADER.unpack_from(data)
        n_modules, n_units, n_frames, n_fork, n_exits, n_sparse, n_calls, *more = numbers
        n_saved, n_lasts, ending, number, start_ticks = more
        assert (magic, version, n_lasts, number) == (b"TRODRAW1", expected, 0, 0)
        assert start_ticks > 0
        assert (flags & ~0b1110, ending in (AT_EXIT, AT_DUMP)) == (0, True)
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
        for _ in range(n_frames + n_fork):
            thread, module, address, value, flag_bits, zero = struct.unpack_from("<IIQQII", data, at)
            known, interrupted = bool(flag_bits & 1), bool(flag_bits & 2)
            assert (flag_bits < 4, zero, value if not known else 0) == (True, 0, 0)
            frames.append(Frame(thread, module, address, value if known else None, interrupted))
            at += 32
        exits = []
        for _ in range(n_exits):
            module, known, address, value, count = struct.unpack_from("<IIQQq", data, at)
            assert (known in (0, 1), count != 0, value if not known else 0) == (True, True, 0)
            exits.append(NonlocalExit(module, address, value if known else None, count))
            at += 32
        assert len({each[:3] for each in exits}) == n_exits
        sparse_paths = {}
        for _ in range(n_sparse):
            unit, zero, key, number, amount = struct.unpack_from("<IIQQQ", data, at)
            assert (zero, amount != 0, unit < n_units) == (0, True, True)
            sparse_paths[unit, key, number] = amount
            at += 32
        assert len(sparse_paths) == n_sparse
        calls = []
        for number in range(n_calls):
            unit, function, caller, recursive, count = struct.unpack_from("<IIIIQ", data, at)
            root = unit == 0xFFFFFFFF
            assert root or (unit < n_units and caller < number and recursive in (0, 1))
            calls.append(Call(None if root else unit, function, caller, bool(recursive), count))
            at += 24
        for _ in range(n_saved):
            thread, number, pc = struct.unpack_from("<IIQ", data, at)
            frame = frames[number]
            assert frame.thread == thread
            assert frame.address + modules[frame.module][0] == pc
            at += SAVED_REGISTERS_BYTES
        at += 16 + 8 * n_units if version == 5 else 0
        size, crc, done = struct.unpack_from("<QI4s", data, at)
        assert (size, crc, done, at + 16) == (len(data), zlib.crc32(data[:at]), b"DONE", len(data))
        first, rest = frames[:n_frames], frames[n_frames:]
        all_flags = flags | (ending == AT_EXIT)
        return cls(all_flags, pid, parent, start, modules, units, first, rest, exits, sparse_paths, calls)

    def counts(self, letter: str) -> tuple[int, ...]:
        (found,) = [counts for name, _, counts in self.units if name == letter]
        return found

    def addresses(self) -> list[int]:
        """The addresses of the active frames in memory."""
        return [frame.address + self.modules[frame.module][0] for frame in self.frames]


class RuntimeLinker:
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
            # A library that refers to the shared functions makes the linker export them from a program.
            names = "".join(f"void {name}(void);" for name in SHARED_FUNCTIONS)
            calls = "".join(f"{name}();" for name in SHARED_FUNCTIONS)
            weak = "".join(
                f"extern __thread void *{name} __attribute__((weak));" for name in SHARED_VARIABLES
            )
            values = " ? 0 : ".join(SHARED_VARIABLES)
            text = f"{names} {weak} void *names(void); void *names(void) {{ {calls} return {values}; }}"
            (directory / "names.c").write_text(text)
            self.compile(["-shared", "-fPIC", "-nostdlib", "names.c", "-o", "names.so"])

    def compile(self, arguments: Sequence[str]) -> None:
        done = subprocess.run(
            [*CC, *self.flags, *arguments], cwd=self.directory, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    def build(
        self, name: str, source: str, *options: str, runtime: bool = True, padding: bool = True
    ) -> Path:
        """Link a program, once.

        Without the padding after them, the counters share their pages with other variables.
        """
        target = self.directory / name
        if not target.exists():
            requested = [f"-Wl,-u,{name}" for name in INTERPOSED]
            link = requested if self.static else ["-Wl,--as-needed", "names.so"]
            last = ["padding.o"] if padding and "-shared" not in options else []
            parts = ["runtime.o", *last, *link] if runtime else []
            # Objects are linked in order, but before anything that is compiled from source on the same line.
            compiled = f"{name}.o"
            linking = ("-Wl,", "-L", "-l", "-shared", "-pie")
            flags = [option for option in options if not option.startswith(linking)]
            self.compile(["-c", str(PROGRAMS / source), *flags, "-o", compiled])
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
