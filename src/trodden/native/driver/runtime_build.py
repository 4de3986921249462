"""The C runtime: shipped as source, compiled once by the toolchain in use, and kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from trodden.errors import ToolchainMissing
from trodden.native.driver.toolchain import Toolchain, cache_dir, target_in

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
_SHARED = (
    *("__trodden_enter", "__trodden_leave", "__trodden_leader", "__trodden_keep", "__trodden_passed"),
    "trodden_dump",
)
_PLACES = ("__trodden_caller", "__trodden_table", "__trodden_ring")
_PAD = "pad.o"
_FILLED_PAD = "pad-filled.o"
_REAL = (
    *("__pthread_create", "__libc_siglongjmp", "__sigaction"),
    *("__swapcontext", "__setcontext", "__makecontext"),
    *("___pthread_register_cancel", "___pthread_register_cancel_defer"),
)
_NAMES = "names.so"
_FILLED = "-DTRODDEN_PROGBITS_PADDING"


def runtime_words(toolchain: Toolchain, words: Sequence[str], by_embedded: bool | None = None) -> list[str]:
    """What a link with these ``words`` needs so that the program carries the runtime.

    ``by_embedded`` is whether the embedded linker links, where that is not the toolchain's own.
    """
    home, objects = _runtime(toolchain, target_in(words))
    found = [str(home / name) for name in objects if name != _PAD]
    if "-shared" in words:
        return found
    found.append(str(home / (_FILLED_PAD if by_embedded is False else _PAD)))
    if _static(toolchain, words):
        # A static C library has the real functions under their other names, if these are asked for.
        return [*found, *(f"-Wl,-u,{name}" for name in _REAL), "-Wl,--eh-frame-hdr"]
    if toolchain.embedded if by_embedded is None else by_embedded:
        # The embedded linker exports from a program what a library beside it refers to.
        return [*found, "-Wl,--as-needed", str(home / _NAMES)]
    return [*found, *(f"-Wl,--export-dynamic-symbol={name}" for name in (*_SHARED, *_PLACES))]


def exported_names(toolchain: Toolchain, words: Sequence[str]) -> list[str]:
    """What a library that lists its exports has to export too: the runtime's own names, and what it replaces.

    They stand as patterns: no linker complains if one of them is not there.
    """
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    home, objects = _runtime(toolchain, target_in(words))
    names = set(_PLACES)
    for name in objects:
        with (home / name).open("rb") as stream:
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
    """The runtime's directory for a target, built if it is not there yet, and its object files."""
    sources = _sources()
    made_by = (toolchain.identity, target, _FLAGS, _SHARED, _PLACES, _FILLED_PAD)
    digest = hashlib.sha256(repr(made_by).encode())
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    objects = [path.with_suffix(".o").name for path in sources if path.suffix == ".c"]
    home = cache_dir() / f"runtime-{digest.hexdigest()[:16]}"
    if not (home / _NAMES).exists():
        home = _build(toolchain, target, [p for p in sources if p.suffix == ".c"], home)
    return home, objects


def _sources() -> list[Path]:
    directory = Path(str(resources.files("trodden.native"))) / "runtime"
    return sorted(path for path in directory.iterdir() if path.suffix in (".c", ".h"))


def _build(toolchain: Toolchain, target: str | None, sources: Sequence[Path], home: Path) -> Path:
    """Compile into a directory of our own, then move it into place; who comes second uses the first one's."""
    work = Path(tempfile.mkdtemp(prefix="building-", dir=home.parent))
    try:
        _compile(toolchain, target, sources, work)
        with contextlib.suppress(OSError):
            os.rename(work, home)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return home


def _compile(toolchain: Toolchain, target: str | None, sources: Sequence[Path], work: Path) -> None:
    aim = [] if target is None else ["-target", target]
    compiler = toolchain.compile(False, aim)
    if not toolchain.embedded:
        compiler += aim
    calls = "".join(f"void {name}(void); void use_{name}(void) {{ {name}(); }}\n" for name in _SHARED)
    # Not every program has these variables.
    for name in _PLACES:
        calls += f"extern __thread void *{name} __attribute__((weak));"
        calls += f" void *use{name}(void) {{ return {name}; }}\n"
    usual = () if toolchain.embedded else (_FILLED,)
    names = work / "names.c"
    names.write_text(calls)
    wanted = [(source, f"{source.stem}.o", usual) for source in [*sources, names]]
    wanted += [(source, _FILLED_PAD, (_FILLED,)) for source in sources if source.stem == "pad"]
    for source, name, more in wanted:
        _must(toolchain, [*compiler, *_FLAGS, *more, "-c", str(source), "-o", str(work / name)])
    made = work / _NAMES
    link = [*toolchain.link(False), *aim, "-shared", "-nostdlib", "-fvisibility=default"]
    _must(toolchain, [*link, str(work / "names.o"), "-o", str(made)])


def _must(toolchain: Toolchain, command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=toolchain.environment)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise ToolchainMissing(f"the runtime does not compile with {toolchain.name}: {reason}")
