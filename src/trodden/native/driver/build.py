"""Carry out a compiler's command line with instrumentation between optimisation and code generation.

source -> (clang) IR -> probes -> (clang, after its verifier) object -> (linker) program.

What instruments is imported where there is something to instrument, and what links where there is something
to link: configure scripts ask for the version, preprocess and link thousands of times, and a build compiles
hundreds of files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.errors import InputMissing, UsageError
from trodden.native.driver.atomic_output import STANDARD_OUTPUT, deliver, scratch
from trodden.native.driver.command_line import CommandLine, Source, Step
from trodden.native.driver.compiler_caches import calling_cache, dependency_entry, preprocessed_suffix
from trodden.native.driver.depfiles import dependency_flags
from trodden.native.driver.diagnostics import call
from trodden.native.driver.inline_remarks import call_with_remarks, inlined_calls, remark_flags
from trodden.native.driver.messages import report_ignored
from trodden.native.driver.module_text import codegen_flags, encoded, with_record
from trodden.native.driver.other_instrumentation import (
    check_instrumentation,
    coverage_flags,
    embedded_flags,
)
from trodden.native.driver.toolchain import Toolchain, without_target
from trodden.native.ir.llvm import check, disassemble, disassemble_apart
from trodden.native.options.declarations import Options
from trodden.native.options.option import FLAG_PREFIX
from trodden.waiting import waiting

if TYPE_CHECKING:
    from trodden.program.facts import UnitFacts

__all__ = ["Builder", "CompilerFailed", "scratch"]

# Probes on critical edges add blocks, which turn the one jump at the bottom of a loop into two unless block
# placement considers the cost of jumps; LLVM does so by default only with a profile.
_LAYOUT = ("-mllvm", "-force-precise-rotation-cost", "-mllvm", "-enable-ext-tsp-block-placement")
# Instructions of probes have line numbers of their own, which those that follow must not inherit.
_EXACT_LINES = ("-mllvm", "-use-unknown-locations=Enable")
_LINES_ONLY = "-gline-tables-only"
_FRAMES = "-fasynchronous-unwind-tables"
ALREADY_INSTRUMENTED = "\n@__trodden_unit = "


class CompilerFailed(Exception):
    """The compiler has failed and printed its own diagnostics; its status becomes ours."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class Builder:
    """A toolchain and the options for one command line.

    ``source_name`` is the source that the facts name, where it is not the file that is compiled here.
    ``filled`` is whether counters occupy space in the file, where that does not follow from the toolchain.
    ``watched`` is whether somebody waits for this command alone, so that many sources are worth a line.
    """

    toolchain: Toolchain
    options: Options
    line: CommandLine
    cxx: bool
    source_name: str | None = None
    filled: bool | None = None
    watched: bool = False

    def run(self) -> int:
        """Do what the command line asks; return the exit status."""
        line = self.line
        report_ignored(line.ignored)
        has_work = line.sources or (line.link_words and line.step is Step.LINK)
        no_code = line.step in (Step.QUERY, Step.PREPROCESS) or any(s.header for s in line.sources)
        from_input = line.step is Step.PREPROCESS and "-" in line.original
        if not has_work and not from_input and line.step is not Step.QUERY:
            raise UsageError("no input files; name sources or objects (--trodden-help lists options)")
        if no_code:
            return self._pass_through()
        self._check()
        early = self.options.stage == "early"
        check_instrumentation(line.compile_flags, self.toolchain.embedded, early)
        try:
            with scratch() as directory:
                objects = self._objects(directory)
                if line.step is Step.LINK:
                    self._link(objects, directory)
        except CompilerFailed as failure:
            return failure.status
        return 0

    def _objects(self, directory: Path) -> list[Path]:
        """Compile all sources."""
        sources, objects = self.line.sources, []
        with waiting(f"compiling {len(sources)} sources", self.watched and len(sources) > 1) as now:
            for number, source in enumerate(sources, 1):
                now(f"{number} of {len(sources)}: {source.path}")
                objects.append(self._object(source, directory))
        return objects

    def _pass_through(self) -> int:
        """Have the compiler do what generates no code."""
        words = [word for word in self.line.original if not word.startswith(FLAG_PREFIX)]
        if self.toolchain.embedded and words in ([f"{dash}print-prog-name=ld"] for dash in ("-", "--")):
            from trodden.native.driver.linking.embedded_link import embedded_linker

            sys.stdout.write(f"{embedded_linker(self.toolchain)}\n")
            return 0
        cxx = self.cxx or any(source.cxx for source in self.line.sources)
        status = self._call([*self.toolchain.compile(cxx, words, as_cxx=self.cxx), *words])
        if (
            status == 0
            and self.line.step is Step.PREPROCESS
            and self.line.sources
            and calling_cache() is not None
        ):
            self._name_options(words)
        return status

    def _name_options(self, words: Sequence[str]) -> None:
        """Add the options to preprocessed source that a compiler cache will hash."""
        source, output = self.line.sources[-1].path, self.line.output
        suffix = preprocessed_suffix(words, source, self.options, self.toolchain.identity)
        if output is None or output == STANDARD_OUTPUT:
            sys.stdout.write(suffix)
        else:
            with open(output, "a", encoding="utf-8") as stream:
                stream.write(suffix)

    def _check(self) -> None:
        line = self.line
        for path in [*(source.path for source in line.sources if source.path != "-"), *line.objects]:
            if os.path.isdir(path) or not os.access(path, os.R_OK):
                raise InputMissing(f"{path}: no such file, or it cannot be read")
        if line.step is Step.LINK and line.emit_llvm:
            raise UsageError("-emit-llvm: needs -c or -S beside it; probes need a real linker")
        if line.step is not Step.LINK:
            if line.output is not None and len(line.sources) > 1:
                raise UsageError(f"-o {line.output}: cannot be the output of several sources; leave -o out")
            for path in line.objects:
                sys.stderr.write(f"trodden: {path}: not used, since nothing is linked\n")

    def _output_of(self, source: Source) -> str:
        if self.line.output is not None:
            return self.line.output
        stem = os.path.splitext(os.path.basename(source.path))[0]
        if self.line.emit_llvm:
            return stem + (".ll" if self.line.step is Step.ASSEMBLY else ".bc")
        return stem + (".s" if self.line.step is Step.ASSEMBLY else ".o")

    def _object(self, source: Source, directory: Path) -> Path:
        """Compile a source; unless a link follows, the result is moved to its destination."""
        # Error messages of the linker name this file, so its name is that of the source.
        stem = os.path.splitext(os.path.basename(source.path))[0]
        made = directory / f"{source.position}-{stem}.o"
        if not source.instrumentable:
            self._assemble(source, made)
        else:
            from trodden.native.instrument import finish_early, instrument

            text = self.ir(source, directory)
            if ALREADY_INSTRUMENTED not in text:
                source_name = os.path.abspath(self.source_name or source.path)
                filled = not self.toolchain.embedded if self.filled is None else self.filled
                inlined = inlined_calls(_remarks(source, directory))
                done = instrument(text, source_name, self.options, self.line.debug, filled, inlined)
                text = done.text
                if self.options.stage == "early":
                    text = finish_early(self.optimise(text, source, directory), done.facts, self.line.debug)
                inline = self.line.step is Step.ASSEMBLY or self.line.emit_llvm
                text = with_record(text, done.record, None if inline else directory)
            self._generate(text, source, made, directory)
        if self.line.step is not Step.LINK:
            deliver(made, self._output_of(source))
        return made

    def _assemble(self, source: Source, made: Path) -> None:
        step = "-S" if self.line.step is Step.ASSEMBLY else "-c"
        flags = [*self._flags(), *dependency_flags(self.line, source)]
        compile_ = self.toolchain.compile(self.cxx, self.line.compile_flags)
        self._must([*compile_, *flags, "-x", source.language, step, source.path, "-o", str(made)])

    def facts(self, source: Source, directory: Path) -> UnitFacts:
        """The facts of a source; nothing is built."""
        from trodden.native.instrument import read_module

        text = self.ir(source, directory)
        return read_module(text, os.path.abspath(source.path), self.options)

    def _flags(self) -> list[str]:
        flags = self.line.compile_flags
        if self.toolchain.embedded:
            flags = [*without_target(flags), *embedded_flags(flags)]
        return [*flags, *(["-Qunused-arguments"] if self.line.step is Step.LINK else [])]

    def ir(self, source: Source, directory: Path) -> str:
        """Compile a source to LLVM IR in text form, optimised unless the stage is early."""
        if source.path != "-" and (os.path.isdir(source.path) or not os.access(source.path, os.R_OK)):
            raise InputMissing(f"{source.path}: no such source, or it cannot be read")
        flags = self._flags()
        remarks: list[str] = []
        if source.language == "ir":
            given = Path(source.path).read_bytes() if source.path != "-" else sys.stdin.buffer.read()
            text = disassemble_apart(given, source.path)
            if ALREADY_INSTRUMENTED in text or self.options.stage == "early":
                return text
            flags = [*codegen_flags(flags), "-w", "-Qunused-arguments"]
            if source.path == "-":
                source = Source(str(directory / "standard-input.ll"), source.language, source.position)
                Path(source.path).write_bytes(given)
        else:
            flags += dependency_flags(self.line, source) + coverage_flags(self.line, source)
            flags += dependency_entry(flags)
            if not self.line.debug:
                flags.append(_LINES_ONLY)
            flags.append(_FRAMES)
            if self.options.stage == "early":
                flags += ["-Xclang", "-disable-llvm-passes"]
            else:
                remarks = remark_flags(flags, _remarks(source, directory))
        compile_ = self.toolchain.compile(source.cxx or self.cxx, self.line.compile_flags)
        return self._to_ir(
            [*compile_, *flags, "-x", source.language, source.path], source, directory, remarks
        )

    def _to_ir(
        self, command: Sequence[str], source: Source, directory: Path, remarks: Sequence[str] = ()
    ) -> str:
        """Run a compilation that ends in IR, with flags for remarks if it can be run with them.

        IR of an older LLVM is read as bitcode, which is upgraded.
        """
        target = directory / f"{source.position}.ir"
        step = "-S" if self.toolchain.same_llvm else "-c"
        words = [*command, "-emit-llvm", step, "-o", str(target)]
        if remarks:
            given = sys.stdin.buffer.read() if source.path == "-" else None
            made = _remarks(source, directory)
            _check_status(call_with_remarks(words, remarks, made, self.toolchain.environment, given))
        else:
            self._must(words)
        if self.toolchain.same_llvm:
            return target.read_text(encoding="utf-8", errors="surrogateescape")
        return disassemble(target.read_bytes(), source.path)

    def optimise(self, text: str, source: Source, directory: Path) -> str:
        """Optimise a module that was instrumented before optimisation."""
        before = directory / f"{source.position}.early.bc"
        before.write_bytes(check(text, source.path))
        generate = self.toolchain.generate(self.line.compile_flags)
        flags = [*codegen_flags(self._flags()), "-Qunused-arguments", "-w"]
        return self._to_ir([*generate, *flags, "-x", "ir", str(before)], source, directory)

    def _generate(self, text: str, source: Source, made: Path, directory: Path) -> None:
        """Generate an object (or assembly) from instrumented IR, after LLVM's verifier has accepted it."""
        assembly = self.line.step is Step.ASSEMBLY
        if self.line.emit_llvm:
            bitcode = check(text, source.path)
            made.write_bytes(encoded(text) if assembly else bitcode)
            return
        plain = directory / f"{source.position}.trodden.ll"
        plain.write_bytes(encoded(text))
        status = self._call(
            [
                *self.toolchain.generate(self.line.compile_flags),
                *codegen_flags(self._flags()),
                *("-fverify-intermediate-code", "-Xclang", "-disable-llvm-passes"),
                *_LAYOUT,
                *(() if self.line.debug else _EXACT_LINES),
                *("-Qunused-arguments", "-w"),
                *("-x", "ir", "-S" if assembly else "-c", str(plain), "-o", str(made)),
            ]
        )
        if status != 0:
            check(text, source.path)
            raise CompilerFailed(status)

    def _link(self, objects: Sequence[Path], directory: Path) -> None:
        from trodden.native.driver.linking.program_link import link_program

        _check_status(link_program(self.toolchain, self.line, self.cxx, objects, directory))

    def _call(self, command: Sequence[str]) -> int:
        return call(command, self.toolchain.environment)

    def _must(self, command: Sequence[str]) -> None:
        """Run a tool that has to succeed."""
        _check_status(self._call(command))


def _check_status(status: int) -> None:
    if status != 0:
        raise CompilerFailed(status)


def _remarks(source: Source, directory: Path) -> Path:
    """Where the remarks of a compilation go."""
    return directory / f"{source.position}.remarks.yaml"
