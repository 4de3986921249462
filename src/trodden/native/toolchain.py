"""The compiler underneath: the embedded one, or the machine's own clang.

The embedded toolchain is clang and lld as PyPI's ziglang carries them, of the same LLVM as llvmlite.
``zig cc`` means well but adds much that a drop-in compiler must not (NDEBUG, the native CPU, sanitizers,
frame pointers), so compiling goes straight to the clang inside, with the header directories and the
target that ``zig cc`` would have used; linking goes through ``zig cc``, which brings the C library.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trodden.errors import ToolchainMissing

LLVM_MAJOR = 22


@dataclass(frozen=True)
class Toolchain:
    """How to compile to IR, to generate code from IR, and to link."""

    name: str
    identity: str
    compiler: tuple[str, ...]
    linker: tuple[str, ...]
    linker_cxx: tuple[str, ...]
    generator: tuple[str, ...]
    embedded: bool

    def compile(self, cxx: bool, flags: Sequence[str]) -> list[str]:
        """The command that compiles C or C++, up to the arguments that say what."""
        if not self.embedded:
            return [*self.compiler, *(["--driver-mode=g++"] if cxx else [])]
        target = target_in(flags)
        search = _search_flags(self.compiler[0], cxx, target)
        driver = ["--driver-mode=g++"] if cxx else []
        return [*self.compiler, *driver, *search]

    def generate(self, flags: Sequence[str]) -> list[str]:
        """The command that turns bitcode into an object without optimising it again."""
        if not self.embedded and self.generator == self.compiler:
            return [*self.generator]
        return [*self.generator, *_target_flags(self.generator[0], target_in(flags))]

    def link(self, cxx: bool, flags: Sequence[str]) -> list[str]:
        """The command that links."""
        del flags
        return [*(self.linker_cxx if cxx else self.linker)]


def target_in(flags: Sequence[str]) -> str | None:
    """The target that the command line asks for."""
    target = None
    for position, flag in enumerate(flags):
        if flag in ("-target", "--target") and position + 1 < len(flags):
            target = flags[position + 1]
        elif flag.startswith("--target="):
            target = flag.partition("=")[2]
    return target


def find_toolchain(wanted: str | None) -> Toolchain:
    """The embedded toolchain, or the clang named by ``wanted`` (a command or a path)."""
    if wanted in (None, "", "embedded", "zig"):
        return _embedded()
    assert wanted is not None
    return _machine_clang(wanted)


@cache
def _embedded() -> Toolchain:
    try:
        import ziglang
    except ImportError as error:
        raise ToolchainMissing(
            "the embedded compiler is missing; install it with `pip install ziglang==0.17.0` or pass --trodden-toolchain=clang"
        ) from error
    zig = os.path.join(os.path.dirname(str(ziglang.__file__)), "zig")
    version = _package_version("ziglang")
    clang = (zig, "clang")
    return Toolchain(
        "embedded", f"ziglang-{version}", clang, (zig, "cc"), (zig, "c++"), clang, embedded=True
    )


def _machine_clang(wanted: str) -> Toolchain:
    path = shutil.which(wanted)
    if path is None and wanted == "clang":
        path = shutil.which(f"clang-{LLVM_MAJOR}")
    if path is None:
        raise ToolchainMissing(f"{wanted}: no such compiler; install it or leave --trodden-toolchain out")
    major, banner = _clang_version(path)
    if major > LLVM_MAJOR:
        raise ToolchainMissing(
            f"{path}: clang {major} writes IR that LLVM {LLVM_MAJOR} cannot read; use clang {LLVM_MAJOR} or older"
        )
    generator = (path,) if major == LLVM_MAJOR else _embedded().generator
    cxx = (path, "--driver-mode=g++")
    return Toolchain(f"clang {major}", banner, (path,), (path,), cxx, generator, embedded=False)


@cache
def _clang_version(path: str) -> tuple[int, str]:
    try:
        banner = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolchainMissing(f"{path}: cannot be run ({error}); name a working clang") from error
    match = re.search(r"clang version (\d+)", banner)
    if match is None:
        raise ToolchainMissing(f"{path}: is not a clang; name a clang, or leave --trodden-toolchain out")
    return int(match.group(1)), banner.splitlines()[0]


def _package_version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


def cache_dir() -> Path:
    """Where built runtimes and what was asked of the toolchain are kept between runs."""
    base = os.environ.get("TRODDEN_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "trodden"
    )
    return Path(base)


def remember(path: Path, content: bytes) -> None:
    """Write a cache file so that readers see all of it or nothing; a cache that cannot be written is no harm."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        return


def _target_flags(zig: str, target: str | None) -> list[str]:
    return [flag for flag in _search_flags(zig, False, target) if flag.startswith("--target=")]


def _search_flags(zig: str, cxx: bool, target: str | None) -> list[str]:
    """The target and header directories that ``zig cc`` would use, asked once and remembered."""
    key = hashlib.sha256(f"{zig}|{_package_version('ziglang')}|{cxx}|{target}".encode()).hexdigest()[:16]
    path = cache_dir() / f"headers-{key}.json"
    try:
        known = json.loads(path.read_bytes())
        if isinstance(known, list) and all(isinstance(flag, str) for flag in known):
            return known
    except (OSError, ValueError):
        pass
    flags = _ask_zig(zig, cxx, target)
    remember(path, json.dumps(flags).encode())
    return flags


def _ask_zig(zig: str, cxx: bool, target: str | None) -> list[str]:
    language = "c++" if cxx else "c"
    command = [zig, "c++" if cxx else "cc", "-###", "-O1", "-c", "-x", language, "/dev/null", "-o", "/dev/null"]
    if target is not None:
        command[2:2] = ["-target", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    lines = [line for line in done.stderr.splitlines() if '"-cc1"' in line]
    if done.returncode != 0 or not lines:
        reason = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise ToolchainMissing(f"the embedded compiler does not know the target {target or 'native'}: {reason}")
    words = shlex.split(lines[-1])
    flags = ["-nostdinc", "-nostdinc++"] if cxx else ["-nostdinc"]
    for word, following in zip(words, words[1:], strict=False):
        if word == "-triple":
            flags.append(f"--target={following}")
        elif word == "-isystem":
            flags += ["-idirafter", os.path.join("/", following)]
        elif word == "-D" and not following.startswith("NDEBUG"):
            flags.append(f"-D{following}")
    return flags
