"""The C runtime: shipped as source, compiled once for each toolchain and target, and cached.

``docs/runtime.md`` is the map of its sources.  An object file has the path of its source below
``native/runtime`` as its name, with hyphens between the folders.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from trodden import temporary
from trodden.errors import ToolchainMissing
from trodden.native.driver.toolchain import Toolchain, cache_dir
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
SHARED_FUNCTIONS = (
    *("__trodden_enter", "__trodden_leave", "__trodden_leader", "__trodden_passed"),
    *("__trodden_landing", "__trodden_keep", "__trodden_release", "__trodden_incomplete"),
    *("__trodden_trace_next", "__trodden_landed", "__trodden_left_at"),
    *("__trodden_row_of_call", "__trodden_row_of_return", "__trodden_target_of", "__trodden_prefix_of"),
    "trodden_dump",
)
SHARED_VARIABLES = (
    *("__trodden_caller", "__trodden_table", "__trodden_ring", "__trodden_trace"),
    "__trodden_channel",
)
"""What an executable exports, so that its libraries use its instance of the runtime."""
_PADDING_SOURCE = "counters/tls_padding.c"
_PADDING = "counters-tls_padding.o"
_PROGBITS_PADDING = "counters-tls_padding-progbits.o"
_PROGBITS = "-DTRODDEN_PROGBITS_PADDING"
_EXPORTS = "exports.txt"
_DLSYM_SOURCE = "interpose/dlsym.c"
_GIVEN_WAY = "TRODDEN_GIVEN_WAY"


@dataclass(frozen=True)
class Runtime:
    """The compiled runtime for a target.

    ``padding`` follows the counters of all units, so it has to be linked last; ``filled_padding`` is its form
    where counters occupy space in the file.
    """

    directory: Path
    objects: tuple[str, ...]
    padding: str
    filled_padding: str

    @property
    def exports(self) -> list[str]:
        """What a library that lists its exports has to export too: the runtime's functions and variables."""
        return (self.directory / _EXPORTS).read_text().split()


def _visible(symbol: Symbol) -> bool:
    local = symbol["st_info"]["bind"] == "STB_LOCAL" or symbol["st_shndx"] == "SHN_UNDEF"
    return not local and bool(symbol["st_other"]["visibility"] == "STV_DEFAULT")


def find_runtime(toolchain: Toolchain, target: str | None) -> Runtime:
    """The runtime for a target, built if that was not done yet."""
    root = _source_root()
    sources = sorted(path for path in root.rglob("*.[ch]"))
    built_by = (toolchain.identity, toolchain.same_llvm, target, _FLAGS, SHARED_VARIABLES, _EXPORTS)
    digest = hashlib.sha256(repr(built_by).encode())
    for path in sources:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    units = [path for path in sources if path.suffix == ".c"]
    directory = cache_dir() / f"runtime-{digest.hexdigest()[:16]}"
    if not (directory / _EXPORTS).exists():
        compiler = "the embedded toolchain" if toolchain.embedded else toolchain.name
        with waiting(f"compiling the runtime for {target or 'this machine'} with {compiler}, once"):
            _build(toolchain, target, units, directory)
    objects = tuple(str(directory / name) for path in units if (name := _object_name(path)) != _PADDING)
    return Runtime(directory, objects, str(directory / _PADDING), str(directory / _PROGBITS_PADDING))


def _source_root() -> Path:
    return Path(str(resources.files("trodden.native"))) / "runtime"


def _object_name(source: Path) -> str:
    return "-".join(source.relative_to(_source_root()).with_suffix(".o").parts)


def _build(toolchain: Toolchain, target: str | None, units: Sequence[Path], directory: Path) -> None:
    """Compile into a temporary directory, then rename it; of concurrent builds the first one is used."""
    with temporary.directory("building-", directory.parent) as work:
        _compile(toolchain, target, units, work)
        with contextlib.suppress(OSError):
            os.rename(work, directory)


def compile_dlsym(toolchain: Toolchain, target: str | None, names: Iterable[str], made: Path) -> None:
    """Compile the interposer of dlsym for a module that defines these interposed functions itself."""
    listed = " ".join(f"INTERPOSED({name})" for name in names)
    source = _source_root() / _DLSYM_SOURCE
    command = [*_compiler(toolchain, target), f"-D{_GIVEN_WAY}={listed}", "-c", str(source), "-o", str(made)]
    _run(toolchain, command)


def _compiler(toolchain: Toolchain, target: str | None) -> list[str]:
    target_flags = [] if target is None else ["-target", target]
    return [*toolchain.runtime_compiler(target_flags), *_FLAGS, "-I", str(_source_root())]


def _compile(toolchain: Toolchain, target: str | None, units: Sequence[Path], work: Path) -> None:
    compiler = _compiler(toolchain, target)
    padding = () if toolchain.embedded else (_PROGBITS,)
    jobs = [(unit, _object_name(unit), padding) for unit in units]
    jobs.append((_source_root() / _PADDING_SOURCE, _PROGBITS_PADDING, (_PROGBITS,)))
    # Imported here: it takes time, and a runtime is compiled once.
    from concurrent.futures import ThreadPoolExecutor

    commands = [
        [*compiler, *flags, "-c", str(source), "-o", str(work / name)] for source, name, flags in jobs
    ]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        for _ in workers.map(partial(_run, toolchain), commands):
            pass
    (work / _EXPORTS).write_text("\n".join(_exported([work / name for _, name, _ in jobs])) + "\n")


def _exported(objects: Iterable[Path]) -> list[str]:
    """The names that a module has to export for other instances of the runtime."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    names: set[str] = set()
    for path in objects:
        with path.open("rb") as stream:
            for section in ELFFile(stream).iter_sections():
                if isinstance(section, SymbolTableSection):
                    names.update(symbol.name for symbol in section.iter_symbols() if _visible(symbol))
    # Not every program has these variables: as a pattern, a name need not exist.
    variables = {f"{name[:-1]}[{name[-1]}]" for name in SHARED_VARIABLES}
    return sorted((names - set(SHARED_VARIABLES)) | variables)


def _run(toolchain: Toolchain, command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=toolchain.environment)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise ToolchainMissing(f"the runtime does not compile with {toolchain.name}: {reason}")
