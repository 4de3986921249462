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
from trodden.native.driver.linker_flags import for_embedded_linker
from trodden.native.driver.runtime_build import exported_names, runtime_words
from trodden.native.driver.toolchain import Toolchain, find_toolchain
from trodden.native.options.declarations import Options
from trodden.native.rust.job import RustJob
from trodden.native.rust.units import is_bitcode, make_native

_SCRIPT = "--version-script="
_PLUGIN = ("-plugin-opt", "--plugin-opt")
_GC_SECTIONS = "--gc-sections"
_DEFAULT = "cc"
KEEP = "TRODDEN_KEEP"
"""The environment variable that names a directory in which the programs of doc tests are kept."""


def link_rust(words: Sequence[str], job: RustJob, toolchain: Toolchain, options: Options) -> int:
    """Carry out a link that rustc asks for; return the linker's status."""
    target = [] if job.target is None else ["-target", job.target]
    command, embedded = _linker(job)
    with scratch() as directory:
        kept: list[str] = []
        for number, word in enumerate(words):
            if word.endswith(".o") and is_bitcode(Path(word)):
                made = directory / f"{number}-{os.path.basename(word)}"
                make_native(Path(word), made, job, toolchain, options, filled=not embedded)
                kept.append(str(made))
            else:
                names = exported_names(toolchain, target) if _SCRIPT in word else []
                kept += _adapted(word, directory / f"{number}.list", names)
        if not _keeps_call_sites([*command, *kept]):
            kept = [word for word in kept if word not in (f"-Wl,{_GC_SECTIONS}", _GC_SECTIONS)]
        added = runtime_words(toolchain, [*target, *kept], by_embedded=embedded)
        if job.bare:
            added = [piece for word in added for piece in _bare(word)]
        if embedded:
            kept, _ = for_embedded_linker(kept)
        full = [*command, *_in_order(kept, added)]
        full = _keeping(full) if job.doc_tests else full
        environment = find_toolchain(None).environment if embedded else None
        return subprocess.run(full, check=False, env=environment, close_fds=False).returncode


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
    target = [] if job.target is None else ["-target", job.target]
    return [*find_toolchain(None).link(False), *target], True


def _adapted(word: str, made: Path, names: Sequence[str]) -> list[str]:
    """A word without flags of link-time optimisation, and with our symbols in a list of exported symbols."""
    opening = "-Wl," if word.startswith("-Wl,") else ""
    pieces = [piece for piece in word[len(opening) :].split(",") if not piece.startswith(_PLUGIN)]
    if not opening and len(pieces) == 1 and not pieces[0].startswith(_SCRIPT):
        return [word]
    for at, piece in enumerate(pieces):
        if piece.startswith(_SCRIPT):
            pieces[at] = _SCRIPT + _with_names(Path(piece[len(_SCRIPT) :]), made, names)
    return [opening + ",".join(pieces)] if pieces else []


def _with_names(script: Path, made: Path, more: Sequence[str]) -> str:
    """A version script with the symbols by which instances of the runtime find each other."""
    try:
        text = script.read_text()
    except OSError as error:
        why = f"cannot be read ({error.strerror}); it lists the exported symbols"
        raise InputMissing(f"{script}: {why}") from error
    names = "".join(f"    {name};\n" for name in more)
    at = text.find("local:")
    if at < 0:
        return str(script)
    made.write_text(f"{text[:at]}global:\n{names}  {text[at:]}")
    return str(made)


def _bare(word: str) -> list[str]:
    """A word as a linker takes it that is called without a compiler in front."""
    return word[len("-Wl,") :].split(",") if word.startswith("-Wl,") else [word]
