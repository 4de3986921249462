"""The C runtime: shipped as source, compiled once for each toolchain and target, and cached.

``docs/runtime.md`` is the map of its sources.  An object file has the path of its source below
``native/runtime`` as its name, with hyphens between the folders.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.errors import ToolchainMissing
from trodden.native.driver.toolchain import Toolchain, cache_dir, target_in
from trodden.waiting import waiting

if TYPE_CHECKING:
    from elftools.elf.sections import Symbol

_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-g0",
    "-fPIC",
    "-fvisibility=hidden",
    "-fasynchronous-unwind-tables",
    "-fno-stack-protector",
)
_SHARED_FUNCTIONS = (
    *("__trodden_enter", "__trodden_leave", "__trodden_leader", "__trodden_keep", "__trodden_passed"),
    "trodden_dump",
)
_SHARED_VARIABLES = ("__trodden_caller", "__trodden_table", "__trodden_ring")
_PADDING_SOURCE = "counters/tls_padding.c"
_PADDING = "counters-tls_padding.o"
_PROGBITS_PADDING = "counters-tls_padding-progbits.o"
_PROGBITS = "-DTRODDEN_PROGBITS_PADDING"
_INTERPOSED = (
    *("__pthread_create", "__libc_siglongjmp", "__sigaction"),
    *("__swapcontext", "__setcontext", "__makecontext"),
    *("___pthread_register_cancel", "___pthread_register_cancel_defer"),
)
"""The other names of interposed functions in a static C library."""
_EXPORTS_LIBRARY = "names.so"


def runtime_words(toolchain: Toolchain, words: Sequence[str], by_embedded: bool | None = None) -> list[str]:
    """The arguments that add the runtime to a link with these ``words``.

    ``by_embedded`` says whether the embedded linker links, where that is not the toolchain's own.
    """
    directory, objects = _runtime(toolchain, target_in(words))
    linked = [str(directory / name) for name in objects if name != _PADDING]
    if "-shared" in words:
        return linked
    # The padding has to be linked last: it follows the counters of all units.
    linked.append(str(directory / (_PROGBITS_PADDING if by_embedded is False else _PADDING)))
    if _static(toolchain, words):
        # A static C library has the interposed functions under other names, if these are requested.
        return [*linked, *(f"-Wl,-u,{name}" for name in _INTERPOSED), "-Wl,--eh-frame-hdr"]
    if toolchain.embedded if by_embedded is None else by_embedded:
        # The embedded linker exports from a program what a library on the link line refers to.
        return [*linked, "-Wl,--as-needed", str(directory / _EXPORTS_LIBRARY)]
    exported = (*_SHARED_FUNCTIONS, *_SHARED_VARIABLES)
    return [*linked, *(f"-Wl,--export-dynamic-symbol={name}" for name in exported)]


def exported_names(toolchain: Toolchain, words: Sequence[str]) -> list[str]:
    """What a library that lists its exports has to export too: the runtime's own names, and the interposers.

    They are written as patterns, which no linker rejects if there is no such symbol.
    """
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    directory, objects = _runtime(toolchain, target_in(words))
    names = set(_SHARED_VARIABLES)
    for name in objects:
        with (directory / name).open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                if isinstance(section, SymbolTableSection):
                    names.update(symbol.name for symbol in section.iter_symbols() if _visible(symbol))
    return [f"{name[:-1]}[{name[-1]}]" for name in sorted(names)]


def _visible(symbol: Symbol) -> bool:
    local = symbol["st_info"]["bind"] == "STB_LOCAL" or symbol["st_shndx"] == "SHN_UNDEF"
    return not local and bool(symbol["st_other"]["visibility"] == "STV_DEFAULT")


def _static(toolchain: Toolchain, words: Sequence[str]) -> bool:
    if "-static" in words or "-static-pie" in words:
        return True
    # With a target that does not name glibc, the embedded toolchain links its own static C library.
    target = target_in(words)
    return toolchain.embedded and target is not None and "gnu" not in target and "-dynamic" not in words


def _runtime(toolchain: Toolchain, target: str | None) -> tuple[Path, list[str]]:
    """The directory of the runtime for a target, built if it does not exist yet, and its object files."""
    root = _source_root()
    sources = sorted(path for path in root.rglob("*.[ch]"))
    built_by = (toolchain.identity, target, _FLAGS, _SHARED_FUNCTIONS, _SHARED_VARIABLES, _PROGBITS_PADDING)
    digest = hashlib.sha256(repr(built_by).encode())
    for path in sources:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    units = [path for path in sources if path.suffix == ".c"]
    directory = cache_dir() / f"runtime-{digest.hexdigest()[:16]}"
    if not (directory / _EXPORTS_LIBRARY).exists():
        compiler = "the embedded toolchain" if toolchain.embedded else toolchain.name
        with waiting(f"compiling the runtime for {target or 'this machine'} with {compiler}, once"):
            _build(toolchain, target, units, directory)
    return directory, [_object_name(path) for path in units]


def _source_root() -> Path:
    return Path(str(resources.files("trodden.native"))) / "runtime"


def _object_name(source: Path) -> str:
    return "-".join(source.relative_to(_source_root()).with_suffix(".o").parts)


def _build(toolchain: Toolchain, target: str | None, units: Sequence[Path], directory: Path) -> None:
    """Compile into a temporary directory, then rename it; of concurrent builds the first one is used."""
    work = Path(tempfile.mkdtemp(prefix="building-", dir=directory.parent))
    try:
        _compile(toolchain, target, units, work)
        with contextlib.suppress(OSError):
            os.rename(work, directory)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _compile(toolchain: Toolchain, target: str | None, units: Sequence[Path], work: Path) -> None:
    target_flags = [] if target is None else ["-target", target]
    compiler = toolchain.compile(False, target_flags)
    if not toolchain.embedded:
        compiler += target_flags
    compiler += [*_FLAGS, "-I", str(_source_root())]
    padding = () if toolchain.embedded else (_PROGBITS,)
    exports = work / "names.c"
    exports.write_text(_references())
    jobs = [(unit, _object_name(unit), padding) for unit in units]
    jobs.append((_source_root() / _PADDING_SOURCE, _PROGBITS_PADDING, (_PROGBITS,)))
    jobs.append((exports, "names.o", ()))
    # Imported here: it takes time, and a runtime is compiled once.
    from concurrent.futures import ThreadPoolExecutor

    commands = [
        [*compiler, *flags, "-c", str(source), "-o", str(work / name)] for source, name, flags in jobs
    ]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for _ in workers.map(partial(_run, toolchain), commands):
            pass
    library = str(work / _EXPORTS_LIBRARY)
    link = [*toolchain.link(False), *target_flags, "-shared", "-nostdlib", "-fvisibility=default"]
    _run(toolchain, [*link, str(work / "names.o"), "-o", library])


def _references() -> str:
    """C code that refers to everything that a program exports for its shared libraries."""
    functions = "".join(
        f"void {name}(void); void use_{name}(void) {{ {name}(); }}\n" for name in _SHARED_FUNCTIONS
    )
    # Not every program has these variables.
    variables = "".join(
        f"extern __thread void *{name} __attribute__((weak)); void *use{name}(void) {{ return {name}; }}\n"
        for name in _SHARED_VARIABLES
    )
    return functions + variables


def _run(toolchain: Toolchain, command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=toolchain.environment)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise ToolchainMissing(f"the runtime does not compile with {toolchain.name}: {reason}")
