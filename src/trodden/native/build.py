"""Carry out a compiler's command line with instrumentation in the middle.

source -> (clang) bitcode -> text -> probes -> verified bitcode -> (clang) object -> (linker) program.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trodden.errors import CannotWrite, InputMissing
from trodden.native.cmdline import CommandLine, Source, Step
from trodden.native.instrument import Options, check, disassemble, instrument
from trodden.native.runtime_build import runtime_objects
from trodden.native.toolchain import Toolchain
from trodden.profile.model import UnitFacts

_LINES_ONLY = "-gline-tables-only"
_ANY_DEPENDENCIES = ("-MD", "-MMD")


class CompilerFailed(Exception):
    """The compiler said no, in its own words; its status is ours."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class Builder:
    """A toolchain and the choices for one command line."""

    toolchain: Toolchain
    options: Options
    line: CommandLine
    cxx: bool

    def run(self) -> int:
        """Do what the command line asks; answer the exit status."""
        line = self.line
        if line.step in (Step.QUESTION, Step.PREPROCESS) or (not line.sources and not line.link_words):
            words = [w for w in line.original if not w.startswith("--trodden-")]
            return call([*self.toolchain.compile(self.cxx, words), *words])
        try:
            if line.step is Step.LINK:
                with scratch() as directory:
                    objects = [
                        self._object(source, directory / f"{number}.o", directory)
                        for number, source in enumerate(line.sources)
                    ]
                    return self._link(objects)
            with scratch() as directory:
                for source in line.sources:
                    self._object(source, Path(self._output_of(source)), directory)
        except CompilerFailed as failure:
            return failure.status
        return 0

    def _output_of(self, source: Source) -> str:
        if self.line.output is not None:
            return self.line.output
        stem = os.path.splitext(os.path.basename(source.path))[0] if source.path != "-" else "-"
        if self.line.emit_llvm:
            return stem + (".ll" if self.line.step is Step.ASSEMBLY else ".bc")
        return stem + (".s" if self.line.step is Step.ASSEMBLY else ".o")

    def _object(self, source: Source, output: Path, directory: Path) -> Path:
        if not source.instrumentable:
            step = "-S" if self.line.step is Step.ASSEMBLY else "-c"
            compile_ = self.toolchain.compile(self.cxx, self.line.compile_flags)
            must([*compile_, *self._flags(), "-x", source.language, step, source.path, "-o", str(output)])
            return output
        bitcode = self.bitcode(source, output, directory)
        made = instrument(
            disassemble(bitcode, source.path), os.path.abspath(source.path), self.options, self.line.debug
        )
        self._generate(made.text, made.record, source, output, directory)
        return output

    def facts(self, source: Source, directory: Path) -> UnitFacts:
        """What would be known of a source, without making anything of it."""
        bitcode = self.bitcode(source, directory / "facts.o", directory)
        text = disassemble(bitcode, source.path)
        return instrument(text, os.path.abspath(source.path), self.options, False).facts

    def _flags(self) -> list[str]:
        return [*self.line.compile_flags, *(["-Qunused-arguments"] if self.line.step is Step.LINK else [])]

    def bitcode(self, source: Source, output: Path, directory: Path) -> bytes:
        """Compile a source to LLVM bitcode, optimised unless the stage is early."""
        if source.path != "-" and not os.access(source.path, os.R_OK):
            raise InputMissing(f"{source.path}: no such source, or it cannot be read")
        if source.language == "ir":
            return Path(source.path).read_bytes()
        target = directory / (output.name + ".plain.bc")
        flags = self._flags() + self._dependencies(output)
        if not self.line.debug:
            flags.append(_LINES_ONLY)
        if self.options.stage == "early":
            flags += ["-Xclang", "-disable-llvm-passes"]
        must(
            [
                *self.toolchain.compile(source.cxx or self.cxx, flags),
                *flags,
                *("-x", source.language),
                *("-emit-llvm", "-c", source.path, "-o", str(target)),
            ]
        )
        return target.read_bytes()

    def _dependencies(self, output: Path) -> list[str]:
        """Dependency files are named after the real output, not after the bitcode in between."""
        flags = self.line.compile_flags
        if not any(flag in flags for flag in _ANY_DEPENDENCIES):
            return []
        shown = self.line.output if self.line.output and self.line.step is not Step.LINK else None
        named = Path(shown) if shown else Path(output.name)
        extra = []
        if not any(flag.startswith("-MF") for flag in flags):
            extra += ["-MF", str(named.with_suffix(".d"))]
        if not any(flag.startswith(("-MT", "-MQ")) for flag in flags):
            extra += ["-MQ", str(named)]
        return extra

    def _generate(self, text: str, record: bytes, source: Source, output: Path, directory: Path) -> None:
        assembly = self.line.step is Step.ASSEMBLY
        text = _with_record(text, record, None if assembly or self.line.emit_llvm else directory)
        if self.line.emit_llvm:
            write(output, text.encode() if assembly else check(text, source.path))
            return
        plain = directory / (output.name + ".trodden.bc")
        plain.write_bytes(check(text, source.path))
        flags = [flag for flag in _codegen_flags(self.line.compile_flags)]
        if self.options.stage != "early":
            flags += ["-Xclang", "-disable-llvm-passes"]
        must(
            [
                *self.toolchain.generate(self.line.compile_flags),
                *flags,
                *("-Qunused-arguments", "-Wno-override-module"),
                *("-x", "ir", "-S" if assembly else "-c", str(plain), "-o", str(output)),
            ]
        )

    def _link(self, objects: Sequence[Path]) -> int:
        remaining = iter(objects)
        words = [str(next(remaining)) if word is None else word for word in self.line.link_words]
        command = self.toolchain.link(self.cxx, words)
        runtime = [] if "-r" in words else [str(path) for path in runtime_objects(self.toolchain, words)]
        output = ["-o", self.line.output] if self.line.output is not None else ["-o", "a.out"]
        return call([*command, *words, *runtime, *output])


def _codegen_flags(flags: Sequence[str]) -> Iterator[str]:
    """The flags that matter once the program is IR: nothing of the preprocessor, no dependency files."""
    dropped = ("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-idirafter", "-iquote", "-MF", "-MT", "-MQ", "-MJ")
    position = 0
    while position < len(flags):
        flag = flags[position]
        if flag in dropped:
            position += 2
            continue
        position += 1
        if not flag.startswith(("-D", "-U", "-I", "-M", "-std=", "-W", "-pedantic")):
            yield flag


def _with_record(text: str, record: bytes, directory: Path | None) -> str:
    """Put the unit's facts into section ``.trodden``, from a file where the assembler can read one."""
    lines = ['module asm ".section .trodden,\\22\\22,@progbits"']
    if directory is not None:
        path = directory / "facts.bin"
        path.write_bytes(record)
        lines.append(f'module asm ".incbin \\22{path}\\22"')
    else:
        for start in range(0, len(record), 64):
            values = ",".join(str(byte) for byte in record[start : start + 64])
            lines.append(f'module asm ".byte {values}"')
    lines.append('module asm ".text"')
    return text + "\n".join(lines) + "\n"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A temporary directory; a place that cannot be written gets an error that says so."""
    try:
        directory = tempfile.mkdtemp(prefix="trodden-")
    except OSError as error:
        raise CannotWrite(f"no room for temporary files ({error}); set TMPDIR to a writable place") from error
    try:
        yield Path(directory)
    finally:
        import shutil

        shutil.rmtree(directory, ignore_errors=True)


def write(path: Path, content: bytes) -> None:
    """Write an output file."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise CannotWrite(f"{path}: cannot write ({error.strerror}); choose another place with -o") from error


def call(command: Sequence[str]) -> int:
    """Run a tool with our standard streams; answer its status as a shell would."""
    sys.stdout.flush()
    status = subprocess.run(command, check=False).returncode
    return 128 - status if status < 0 else status


def must(command: Sequence[str]) -> None:
    """Run a tool that has to succeed for the work to go on."""
    status = call(command)
    if status != 0:
        raise CompilerFailed(status)
