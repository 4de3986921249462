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

from trodden.errors import ToolchainMissing
from trodden.native.toolchain import Toolchain, cache_dir, target_in

_FLAGS = (
    "-std=gnu11",
    "-O2",
    "-g0",
    "-fPIC",
    "-fvisibility=hidden",
    "-fasynchronous-unwind-tables",
    "-fno-stack-protector",
)
_SHARED = ("__trodden_enter", "__trodden_leave", "__trodden_leader", "trodden_dump")
_PLACE = "__trodden_caller"
_REAL = ("__pthread_create", "__libc_siglongjmp")
_NAMES = "names.so"


def runtime_words(toolchain: Toolchain, words: Sequence[str]) -> list[str]:
    """What a link with these ``words`` needs so that the program carries the runtime."""
    home, objects = _runtime(toolchain, target_in(words))
    found = [str(home / name) for name in objects]
    if "-shared" in words:
        return found
    if _static(toolchain, words):
        # A static C library has the real functions under their other names, if these are asked for.
        return [*found, *(f"-Wl,-u,{name}" for name in _REAL), "-Wl,--eh-frame-hdr"]
    if toolchain.embedded:
        # The embedded linker exports from a program what a library beside it refers to.
        return [*found, "-Wl,--as-needed", str(home / _NAMES)]
    return [*found, *(f"-Wl,--export-dynamic-symbol={name}" for name in (*_SHARED, _PLACE))]


def _static(toolchain: Toolchain, words: Sequence[str]) -> bool:
    if "-static" in words or "-static-pie" in words:
        return True
    # With a target that does not name glibc, the embedded toolchain links its own static C library.
    target = target_in(words)
    return toolchain.embedded and target is not None and "gnu" not in target and "-dynamic" not in words


def _runtime(toolchain: Toolchain, target: str | None) -> tuple[Path, list[str]]:
    """The runtime's directory for a target, built if it is not there yet, and its object files."""
    sources = _sources()
    digest = hashlib.sha256(f"{toolchain.identity}|{target}|{_FLAGS}|{_SHARED}|{_PLACE}".encode())
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
    # Only a program that keeps paths of calls has the variable.
    calls += f"extern __thread void *{_PLACE} __attribute__((weak)); void *use(void) {{ return {_PLACE}; }}\n"
    names = work / "names.c"
    names.write_text(calls)
    for source in [*sources, names]:
        _must(toolchain, [*compiler, *_FLAGS, "-c", str(source), "-o", str(work / (source.stem + ".o"))])
    made = work / _NAMES
    link = [*toolchain.link(False), *aim, "-shared", "-nostdlib", "-fvisibility=default"]
    _must(toolchain, [*link, str(work / "names.o"), "-o", str(made)])


def _must(toolchain: Toolchain, command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=toolchain.environment)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no message"])[0]
        raise ToolchainMissing(f"the runtime does not compile with {toolchain.name}: {reason}")
