"""The linker that rustc calls: makes native code of the crate's bitcode, and adds the runtime.

The real linker is the one that rustc would have called; where the machine has none, the embedded one.
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
_COLLECTS = "--gc-sections"
_USUAL = "cc"
KEEP = "TRODDEN_KEEP"
"""The environment's name for a directory where programs outlive the one who asked for them."""


def link_rust(words: Sequence[str], job: RustJob, toolchain: Toolchain, options: Options) -> int:
    """Carry out a link that rustc asks for; answer the linker's status."""
    aim = [] if job.target is None else ["-target", job.target]
    command, embedded = _linker(job)
    with scratch() as directory:
        kept: list[str] = []
        for number, word in enumerate(words):
            if word.endswith(".o") and is_bitcode(Path(word)):
                made = directory / f"{number}-{os.path.basename(word)}"
                make_native(Path(word), made, job, toolchain, options, filled=not embedded)
                kept.append(str(made))
            else:
                names = exported_names(toolchain, aim) if _SCRIPT in word else []
                kept += _adapted(word, directory / f"{number}.list", names)
        if not _keeps_sites([*command, *kept]):
            kept = [word for word in kept if word not in (f"-Wl,{_COLLECTS}", _COLLECTS)]
        added = runtime_words(toolchain, [*aim, *kept], by_embedded=embedded)
        if job.bare:
            added = [piece for word in added for piece in _bare(word)]
        if embedded:
            kept, _ = for_embedded_linker(kept)
        full = [*command, *_in_order(kept, added)]
        full = _keeping(full) if job.doc_tests else full
        environment = find_toolchain(None).environment if embedded else None
        return subprocess.run(full, check=False, env=environment, close_fds=False).returncode


def _keeps_sites(command: Sequence[str]) -> bool:
    """Whether the linker, when it throws unused code away, keeps the table of call sites.

    It lies in no memory, and GNU's linker takes that for unused.
    """
    return any(
        "lld" in word or "mold" in word for word in command if not word.endswith((".o", ".rlib", ".a"))
    )


def _in_order(words: Sequence[str], added: Sequence[str]) -> list[str]:
    """The words of a link with the runtime: before the libraries that it needs, its last object last."""
    objects = [word for word in added if word.endswith(".o")]
    first = next((at for at, word in enumerate(words) if word.endswith(".o")), 0)
    last = added[added.index(objects[-1]) :]
    return [*words[:first], *objects[:-1], *words[first:], *last]


def _keeping(command: list[str]) -> list[str]:
    """The command, with its output where it stays if that was asked for.

    rustdoc throws the programs of tests away that it has run, but what they counted is of no use without
    them.  So there is a link in the program's place: a program knows itself by its real name.
    """
    place = os.environ.get(KEEP)
    at = command.index("-o") + 1 if "-o" in command else len(command)
    if not place or at >= len(command):
        return command
    directory = tempfile.mkdtemp(dir=place)
    real = os.path.join(directory, os.path.basename(command[at]))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(command[at])
    os.symlink(real, command[at])
    return [*command[:at], real, *command[at + 1 :]]


def _linker(job: RustJob) -> tuple[list[str], bool]:
    """The command that links, and whether it is the embedded one."""
    wanted = job.linker or _USUAL
    found = shutil.which(wanted)
    if found is not None:
        return [found], False
    if job.linker is not None:
        raise InputMissing(f"{job.linker}: no such linker; install it, or leave -C linker out")
    aim = [] if job.target is None else ["-target", job.target]
    return [*find_toolchain(None).link(False), *aim], True


def _adapted(word: str, made: Path, names: Sequence[str]) -> list[str]:
    """A word without what is meant for an optimiser at link time, with our names where names are listed."""
    opening = "-Wl," if word.startswith("-Wl,") else ""
    pieces = [piece for piece in word[len(opening) :].split(",") if not piece.startswith(_PLUGIN)]
    if not opening and len(pieces) == 1 and not pieces[0].startswith(_SCRIPT):
        return [word]
    for at, piece in enumerate(pieces):
        if piece.startswith(_SCRIPT):
            pieces[at] = _SCRIPT + _with_names(Path(piece[len(_SCRIPT) :]), made, names)
    return [opening + ",".join(pieces)] if pieces else []


def _with_names(script: Path, made: Path, more: Sequence[str]) -> str:
    """The names that a library exports, with those by which copies of the runtime find each other."""
    try:
        text = script.read_text()
    except OSError as error:
        raise InputMissing(f"{script}: cannot be read ({error.strerror}); it lists what to export") from error
    names = "".join(f"    {name};\n" for name in more)
    at = text.find("local:")
    if at < 0:
        return str(script)
    made.write_text(f"{text[:at]}global:\n{names}  {text[at:]}")
    return str(made)


def _bare(word: str) -> list[str]:
    """A word for a linker that is called without a compiler in front."""
    return word[len("-Wl,") :].split(",") if word.startswith("-Wl,") else [word]
