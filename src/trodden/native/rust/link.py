"""The linker that rustc calls: it compiles the crate's bitcode to native code, and adds the runtime.

The real linker is the one that rustc would have called, or the embedded one if the machine has none.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from trodden.errors import InputMissing
from trodden.native.driver.atomic_output import scratch
from trodden.native.driver.linking.embedded_link import embedded_link
from trodden.native.driver.linking.linker_flags import for_embedded_linker
from trodden.native.driver.linking.linker_words import (
    LINKER,
    for_linker,
    linker_options,
    taken_apart,
    without_options,
)
from trodden.native.driver.linking.runtime_link import runtime_words
from trodden.native.driver.linking.version_scripts import with_exports
from trodden.native.driver.runtime_build import find_runtime
from trodden.native.driver.toolchain import Toolchain, find_toolchain
from trodden.native.options.declarations import Options
from trodden.native.rust.job import RustJob
from trodden.native.rust.units import is_bitcode, make_native

_PLUGIN = ("-plugin-opt", "--plugin-opt")
_GC_SECTIONS = "--gc-sections"
_DEFAULT = "cc"
KEEP = "TRODDEN_KEEP"
"""The environment variable that names a directory in which the programs of doc tests are kept."""


def link_rust(words: Sequence[str], job: RustJob, toolchain: Toolchain, options: Options) -> int:
    """Carry out a link that rustc asks for; return the linker's status."""
    command, embedded = _linker(job)
    with scratch() as directory:
        kept: list[str] = []
        for number, word in enumerate(words):
            if word.endswith(".o") and is_bitcode(Path(word)):
                made = directory / f"{number}-{os.path.basename(word)}"
                make_native(Path(word), made, job, toolchain, options, filled=not embedded)
                kept.append(str(made))
            else:
                kept.append(word)
        keeping = _keeps_call_sites([*command, *kept])
        apart = _apart(kept, job.bare)
        apart = without_options(apart, (at for at, word in linker_options(apart) if _unwanted(word, keeping)))
        runtime = find_runtime(toolchain, job.target)
        apart = with_exports(apart, directory, lambda: runtime.exports)
        target = [] if job.target is None else ["-target", job.target]
        added = runtime_words(toolchain, runtime, [*target, *kept], directory, filled=not embedded)
        full = _in_order(apart, added)
        if embedded:
            full, _ = for_embedded_linker([*target, *full])
            full = embedded_link(find_toolchain(None), False, full)
        else:
            full = [*command, *(_bare(full) if job.bare else full)]
        full = _keeping(full) if job.doc_tests else full
        environment = find_toolchain(None).environment if embedded else None
        return subprocess.run(full, check=False, env=environment, close_fds=False).returncode


def _apart(words: Sequence[str], bare: bool) -> list[str]:
    """The words as :mod:`trodden.native.driver.linking.linker_words` has them.

    If they are ``bare``, all are the linker's own.  Names of files stay as they are: their order matters.
    """
    if not bare:
        return taken_apart(words)
    return [piece for word in words for piece in (for_linker(word) if word.startswith("-") else [word])]


def _bare(words: Sequence[str]) -> list[str]:
    """The words for a linker that is called without a compiler in front."""
    return [word for word in words if word != LINKER]


def _unwanted(option: str, keeping: bool) -> bool:
    """Whether an option is for link-time optimisation, or would discard the table of call sites."""
    return option.startswith(_PLUGIN) or (not keeping and option == _GC_SECTIONS)


def _keeps_call_sites(command: Sequence[str]) -> bool:
    """Whether the linker keeps the table of call sites when it collects unreferenced sections.

    GNU ld does not: the section is not allocated.
    """
    return any(
        "lld" in word or "mold" in word for word in command if not word.endswith((".o", ".rlib", ".a"))
    )


def _in_order(words: Sequence[str], added: Sequence[str]) -> list[str]:
    """The words of a link with the runtime before the libraries it needs, and its last object last."""
    objects = [word for word in added if word.endswith(".o")]
    first = next((at for at, word in enumerate(words) if word.endswith(".o")), 0)
    last = added[added.index(objects[-1]) :]
    return [*words[:first], *objects[:-1], *words[first:], *last]


def _keeping(command: list[str]) -> list[str]:
    """The command, with its output in the directory for programs that are kept, if there is one.

    rustdoc removes the programs of doc tests after it has run them, but their counts cannot be read without
    them.  So rustdoc gets a symbolic link to the program, which finds its own real name when it runs.
    """
    kept = os.environ.get(KEEP)
    at = command.index("-o") + 1 if "-o" in command else len(command)
    if not kept or at >= len(command):
        return command
    directory = tempfile.mkdtemp(dir=kept)
    real = os.path.join(directory, os.path.basename(command[at]))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(command[at])
    os.symlink(real, command[at])
    return [*command[:at], real, *command[at + 1 :]]


def _linker(job: RustJob) -> tuple[list[str], bool]:
    """The command that links, and whether that is the embedded linker."""
    found = shutil.which(job.linker or _DEFAULT)
    if found is not None:
        return [found], False
    if job.linker is not None:
        raise InputMissing(f"{job.linker}: no such linker; install it, or leave -C linker out")
    return ["ld.lld"], True
