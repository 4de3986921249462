"""Compile the bitcode that rustc writes to native code with probes.

rustc writes LLVM bitcode that no pass has transformed (``-C linker-plugin-lto -C no-prepopulate-passes``), as
members of libraries and as the objects of a link.  The optimiser that C programs pass through produces the
code that rustc's own would have produced, before or after the probes are inserted.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from trodden.errors import ToolchainMissing
from trodden.native.driver.atomic_output import deliver, scratch
from trodden.native.driver.build import Builder, CompilerFailed
from trodden.native.driver.command_line import parse
from trodden.native.driver.diagnostics import call
from trodden.native.driver.toolchain import Toolchain, find_toolchain
from trodden.native.ir.llvm import disassemble
from trodden.native.options.declarations import Options
from trodden.native.rust.job import RustJob

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_SMALL = 1 << 16


def toolchain_for(toolchain: Toolchain) -> Toolchain:
    """The toolchain that generates code: one that reads the IR of every rustc."""
    return toolchain if toolchain.same_llvm else find_toolchain(None)


def is_bitcode(path: Path) -> bool:
    """Whether a file is LLVM bitcode, whatever its suffix."""
    try:
        with path.open("rb") as stream:
            return stream.read(4) in _BITCODE
    except OSError:
        return False


def make_native(
    bitcode: Path, made: Path, job: RustJob, toolchain: Toolchain, options: Options, filled: bool = True
) -> None:
    """Generate an object from a unit, with probes unless the compiler itself has synthesized the unit.

    Its counters occupy space in the file (``filled``) if any linker may link it.  Units that rustc
    synthesizes, such as the allocator shim, have no source and therefore no debug information.
    """
    target = [] if job.target is None else ["-target", job.target]
    words = [*target, *job.flags, "-c", "-x", "ir", str(bitcode), "-o", str(made)]
    line = parse(words, False)
    if bitcode.stat().st_size < _SMALL and _is_synthesized(bitcode):
        flags = line.compile_flags if not toolchain.embedded else job.flags
        command = [*toolchain.generate(target), *flags, "-w", "-Qunused-arguments"]
        status = call([*command, "-x", "ir", "-c", str(bitcode), "-o", str(made)], toolchain.environment)
    else:
        status = Builder(toolchain, options, line, False, job.source, filled).run()
    if status != 0:
        raise CompilerFailed(status)


def _is_synthesized(bitcode: Path) -> bool:
    return "!DISubprogram(" not in disassemble(bitcode.read_bytes(), str(bitcode))


def convert_archive(archive: str, job: RustJob, toolchain: Toolchain, options: Options) -> None:
    """Replace the bitcode in a library by native code with probes, atomically."""
    with scratch() as directory:
        members = directory / "members"
        members.mkdir()
        names = _archiver(["t", archive]).splitlines()
        copy = directory / os.path.basename(archive)
        copy.write_bytes(Path(archive).read_bytes())
        copy.chmod(Path(archive).stat().st_mode & 0o777)
        _archiver(["x", str(copy)], members)
        made: list[str] = []
        for name in names:
            member = members / name
            if is_bitcode(member):
                bitcode = directory / f"{name}.bc"
                member.rename(bitcode)
                make_native(bitcode, member, job, toolchain, options)
                made.append(name)
        if made:
            _archiver(["rcs", str(copy), *made], members)
            deliver(copy, archive)


def convert_object(path: str, job: RustJob, toolchain: Toolchain, options: Options) -> None:
    """Replace an object file of bitcode by a native one with probes."""
    if is_bitcode(Path(path)):
        with scratch() as directory:
            made = directory / os.path.basename(path)
            make_native(Path(path), made, job, toolchain, options)
            deliver(made, path)


def _archiver(words: Sequence[str], directory: Path | None = None) -> str:
    """Run the embedded archiver; it prints its output, and fails with an error of ours."""
    toolchain = find_toolchain(None)
    command = [toolchain.compiler[0], "ar", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=directory, env=toolchain.environment
    )
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise ToolchainMissing(f"{words[1]}: the archiver has failed: {reason}")
    return done.stdout
