"""One crate through rustc, the optimiser and the linker.

rustc is the front end: it produces bitcode that no pass has transformed, in libraries and for a linker of
ours.  Whatever generates no code for the target, and whatever runs inside rustc itself (procedural macros),
goes to rustc as it is.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from trodden.errors import TroddenError, UsageError
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.build import CompilerFailed
from trodden.native.driver.messages import report_ignored
from trodden.native.driver.toolchain import find_toolchain
from trodden.native.options.declarations import Options
from trodden.native.rust.command_line import BESIDE, NATIVE, RustLine, directory_of, without_emit
from trodden.native.rust.compiler import RustCompiler
from trodden.native.rust.job import RustJob
from trodden.native.rust.scripts import linker_script
from trodden.native.rust.units import convert_archive, convert_object, toolchain_for


class Crate:
    """A crate that rustc's command line describes, and the options that it is built with."""

    def __init__(self, compiler: RustCompiler, line: RustLine, options: Options) -> None:
        self.compiler = compiler
        self.line = line
        self.options = options
        self.toolchain = toolchain_for(find_toolchain(options.toolchain))
        target = line.target if line.target not in (None, compiler.host) else None
        if "-linux-" not in (line.target or compiler.host):
            raise UsageError(
                f"--target {line.target or compiler.host}: probes are for Linux; choose a Linux target"
            )
        flavour = line.codegen.get("linker-flavor", "")
        linker = line.codegen.get("linker")
        bare = flavour.startswith(("ld", "gnu-lld")) and not flavour.endswith("-cc")
        bare = bare or os.path.basename(linker or "").startswith(("ld", "rust-lld", "lld"))
        self.job = RustJob(
            options,
            os.path.abspath(line.source) if line.source != "-" else line.source,
            tuple(_clang_flags(line, compiler)),
            None if target is None else target.replace("-unknown-", "-"),
            linker,
            bare,
        )

    def build(self) -> int:
        """Build everything that was asked for; return the exit status."""
        report_ignored(self.line.ignored)
        with scratch() as directory:
            status = call_rustc([*self.compiler.command, *self._words(directory)])
        if status == 0:
            status = self._convert()
        if status == 0 and self.line.emits:
            status = self._emit_more()
        return status

    def _words(self, directory: Path) -> list[str]:
        """The command line for rustc as our front end."""
        line = self.line
        words = line.words
        if line.emits:
            kinds = {kind: path for kind, path in line.emits.items() if kind in NATIVE | BESIDE}
            named = ",".join(kind if path is None else f"{kind}={path}" for kind, path in kinds.items())
            words = [*without_emit(words), f"--emit={named}"]
        options = ["linker-plugin-lto", "no-prepopulate-passes", "codegen-units=1", "force-unwind-tables=yes"]
        if not line.keeps_debug:
            options.append(f"debuginfo={self.compiler.line_tables}")
        script = linker_script(directory, self.job, os.path.basename(self.job.linker or "cc"))
        options.append(f"linker={script}")
        return [*words, *(word for option in options for word in ("-C", option))]

    def _convert(self) -> int:
        """Replace the bitcode in outputs that passed through no linker by native code."""
        for output in [*self._archives(), *self._objects()]:
            convert = convert_object if output.endswith(".o") else convert_archive
            try:
                convert(output, self.job, self.toolchain, self.options)
            except CompilerFailed as failure:
                Path(output).unlink(missing_ok=True)
                return failure.status
            except TroddenError:
                # Left as it is, it could not be linked.
                Path(output).unlink(missing_ok=True)
                raise
        return 0

    def _archives(self) -> list[str]:
        """The libraries that were made without a linker."""
        line = self.line
        if line.links_only or (line.emits and "link" not in line.emits):
            return []
        command = [*self.compiler.command, *line.words, "--print", "file-names"]
        stdin = subprocess.DEVNULL
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=stdin, close_fds=False
        )
        names = [name for name in done.stdout.splitlines() if name.endswith((".rlib", ".a"))]
        named = line.emits.get("link") or line.output
        if named is not None and len(names) == 1 and line.out_dir is None:
            return [named]
        return [os.path.join(directory_of(line), os.path.basename(name)) for name in names]

    def _objects(self) -> list[str]:
        line = self.line
        if "obj" not in line.emits:
            return []
        named = line.emits["obj"]
        if named is None and line.output is not None and len(line.emits) == 1:
            named = line.output
        if named is not None:
            return [named]
        stem = line.crate_name or os.path.splitext(os.path.basename(line.source))[0].replace("-", "_")
        if line.output is not None:
            stem = os.path.splitext(os.path.basename(line.output))[0]
        return [os.path.join(directory_of(line), f"{stem}{line.codegen.get('extra-filename', '')}.o")]

    def _emit_more(self) -> int:
        """Have rustc itself emit what shows its own work; it has printed its diagnostics before."""
        more = {kind: path for kind, path in self.line.emits.items() if kind not in NATIVE | BESIDE}
        if not more:
            return 0
        named = ",".join(kind if path is None else f"{kind}={path}" for kind, path in more.items())
        command = [*self.compiler.command, *without_emit(self.line.words), f"--emit={named}"]
        return subprocess.run(command, check=False, stderr=subprocess.DEVNULL, close_fds=False).returncode


def _clang_flags(line: RustLine, compiler: RustCompiler) -> list[str]:
    """The options of rustc that matter once the program is IR, as clang has them."""
    flags = [f"-O{line.level(compiler.release)}"]
    static = line.codegen.get("relocation-model") == "static"
    flags.append("-fno-pic" if static else "-fPIC")
    if "code-model" in line.codegen:
        flags.append(f"-mcmodel={line.codegen['code-model']}")
    flags += ["-ffunction-sections", "-fdata-sections"]
    if line.keeps_debug:
        flags.append("-g")
    for word in shlex.split(line.codegen.get("llvm-args", "")):
        flags += ["-mllvm", word]
    return flags


def call_rustc(command: Sequence[str]) -> int:
    """Run rustc with our standard streams and our file descriptors, one of which may be a jobserver's."""
    sys.stdout.flush()
    status = subprocess.run(command, check=False, close_fds=False).returncode
    return 128 - status if status < 0 else status
