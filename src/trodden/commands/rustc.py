"""``trodden rustc``: rustc with probes on the way.

rustc is the front end: it hands over bitcode that no pass has seen, in libraries and to a linker of ours.
What makes no code for the machine, and what runs inside rustc itself (macros), goes to rustc as it is.
"""

from __future__ import annotations

import gc
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from trodden.commands.cc import builder_for
from trodden.errors import TroddenError, UsageError
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.build import CompilerFailed
from trodden.native.driver.command_line import parse
from trodden.native.rust.command_line import BESIDE, NATIVE, RustLine, directory_of, parse_rust, without_emit
from trodden.native.rust.compiler import RustCompiler, ask_rustc, rustc_command
from trodden.native.rust.units import RustJob, convert_archive, convert_object, toolchain_for

_OWN = "--trodden-"
_RUSTC = "--trodden-rustc="
_HOST = "--trodden-host=plain"


def main(argv: Sequence[str]) -> int:
    """Compile and link as ``argv`` says; answer the exit status."""
    gc.disable()
    own = [word for word in argv if word.startswith(_OWN)]
    words = [word for word in argv if not word.startswith(_OWN)]
    wanted = next((word[len(_RUSTC) :] for word in own if word.startswith(_RUSTC)), None)
    command = rustc_command(wanted, words)
    rest = words[len(command) - 1 :]
    line = parse_rust(rest)
    # Cargo names a target for all that is to run there; what has none runs while it builds.
    for_build = _HOST in own and line.target is None
    if not line.native or "proc-macro" in line.crate_types or for_build:
        return _call([*command, *rest])
    line.check()
    compiler = ask_rustc(command)
    own = [word for word in own if not word.startswith(_RUSTC) and word != _HOST]
    return _Crate(compiler, line, own).build()


class _Crate:
    """One crate on its way through rustc, the optimiser and the linker."""

    def __init__(self, compiler: RustCompiler, line: RustLine, own: Sequence[str]) -> None:
        self.compiler = compiler
        self.line = line
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
            tuple(own),
            os.path.abspath(line.source) if line.source != "-" else line.source,
            tuple(_clang_flags(line, compiler)),
            None if target is None else target.replace("-unknown-", "-"),
            linker,
            bare,
        )
        builder = builder_for(parse(own, False), False)
        self.toolchain = toolchain_for(builder.toolchain)
        self.options = builder.options

    def build(self) -> int:
        """Make everything that was asked for; answer the exit status."""
        line = self.line
        for reason in dict.fromkeys(reason for _, reason in line.ignored):
            flags = " ".join(flag for flag, why in line.ignored if why == reason)
            sys.stderr.write(f"trodden: {flags}: ignored; {reason}\n")
        with scratch() as directory:
            status = _call([*self.compiler.command, *self._words(directory)])
        if status == 0:
            status = self._convert()
        if status == 0 and line.emits:
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
            options.append(f"debuginfo={self.compiler.lines}")
        script = linker_script(directory, self.job, os.path.basename(self.job.linker or "cc"))
        options.append(f"linker={script}")
        return [*words, *(word for option in options for word in ("-C", option))]

    def _convert(self) -> int:
        """Put native code in the place of what rustc left as bitcode."""
        places = [*self._archives(), *self._objects()]
        for place in places:
            convert = convert_object if place.endswith(".o") else convert_archive
            try:
                convert(place, self.job, self.toolchain, self.options)
            except CompilerFailed as failure:
                Path(place).unlink(missing_ok=True)
                return failure.status
            except TroddenError:
                # Nobody can link what it is now.
                Path(place).unlink(missing_ok=True)
                raise
        return 0

    def _archives(self) -> list[str]:
        """The libraries that were made without a linker."""
        line = self.line
        if line.links_only or (line.emits and "link" not in line.emits):
            return []
        asked = [*self.compiler.command, *line.words, "--print", "file-names"]
        stdin = subprocess.DEVNULL
        said = subprocess.run(
            asked, capture_output=True, text=True, check=False, stdin=stdin, close_fds=False
        )
        names = [name for name in said.stdout.splitlines() if name.endswith((".rlib", ".a"))]
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
        """What shows the compiler's own work is made by it alone; what it had to say it has said."""
        more = {kind: path for kind, path in self.line.emits.items() if kind not in NATIVE | BESIDE}
        if not more:
            return 0
        named = ",".join(kind if path is None else f"{kind}={path}" for kind, path in more.items())
        command = [*self.compiler.command, *without_emit(self.line.words), f"--emit={named}"]
        return subprocess.run(command, check=False, stderr=subprocess.DEVNULL, close_fds=False).returncode


def linker_script(directory: Path, job: RustJob, name: str) -> Path:
    """A program for rustc to call as its linker; by its name, the real one's, rustc knows how to call it."""
    described = directory / "job.json"
    job.save(described)
    script = directory / name
    run = shlex.join([sys.executable, "-P", "-m", "trodden.commands.rustlink", str(described)])
    script.write_text(f'#!/bin/sh\nexec {run} "$@"\n')
    script.chmod(0o755)
    return script


def _clang_flags(line: RustLine, compiler: RustCompiler) -> list[str]:
    """What of rustc's options matters once the program is IR."""
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


def _call(command: Sequence[str]) -> int:
    """Run rustc with our streams, and with what it inherits from a build that counts its jobs."""
    sys.stdout.flush()
    status = subprocess.run(command, check=False, close_fds=False).returncode
    return 128 - status if status < 0 else status
