"""The compiler underneath: the embedded one, or the machine's own clang.

The embedded toolchain is clang and lld as PyPI's ziglang carries them, of the same LLVM as llvmlite.
``zig cc`` adds flags that a drop-in compiler must not add (NDEBUG, the native CPU, sanitizers, frame
pointers), so compilation calls the clang inside directly, with the header directories and the target that
``zig cc`` would have used.  :mod:`trodden.native.driver.linking.embedded_link` links in the same way.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from trodden.errors import CannotWrite, ToolchainMissing
from trodden.native.driver import libstdcxx

LLVM_MAJOR = 22
_CACHE_FORMAT = 2
"""The format of cached header directories; entries of another format are not read."""
_VERSIONED = re.compile(r"-linux[\d.]*-((?:gnu|musl)(?:x32|f32|abin32|abi64)?[a-z]*)[\d.]*$")


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

    @property
    def same_llvm(self) -> bool:
        """Whether its compiler writes IR of the same LLVM version that generates code."""
        return self.generator == self.compiler

    def compile(self, cxx: bool, flags: Sequence[str], as_cxx: bool | None = None) -> list[str]:
        """The command that compiles C or C++, up to the arguments that follow.

        ``as_cxx`` is whether inputs with the suffix of C are C++ too; without it they are if ``cxx``.
        """
        driver = ["--driver-mode=g++"] if (cxx if as_cxx is None else as_cxx) else []
        if not self.embedded:
            return [*self.compiler, *driver]
        system_cxx = cxx and libstdcxx.FLAG in flags
        if system_cxx:
            libstdcxx.refuse_target(target_in(flags))
        search = _search_flags(self, cxx, target_in(flags), system_cxx)
        if "-nostdinc" in flags:
            search = [flag for flag in search if flag.startswith("--target=")]
        # The user has not given these flags, and should see no warning that they are unused.
        quiet = ["--start-no-unused-arguments", *search, "--end-no-unused-arguments"]
        return [*self.compiler, *driver, *quiet]

    def runtime_compiler(self, target: Sequence[str]) -> list[str]:
        """The command that compiles the runtime for a target, given as flags.

        It is the compiler that generates code: what that calls has a calling convention (``preserve_most``)
        which older clangs implement differently.
        """
        if not self.embedded and self.same_llvm:
            return [*self.compiler, *target]
        return _embedded().compile(False, target)

    def generate(self, flags: Sequence[str]) -> list[str]:
        """The command that generates an object from bitcode without optimising it again."""
        if not self.embedded and self.generator == self.compiler:
            return [*self.generator]
        return [*self.generator, *_target_flags(_embedded(), target_in(flags))]

    @property
    def environment(self) -> dict[str, str]:
        """The environment that its tools run in."""
        variables = dict(os.environ)
        if self.embedded:
            # It runs $CC to find the C library, and that may be trodden cc.
            variables.pop("CC", None)
            variables["ZIG_GLOBAL_CACHE_DIR"] = str(_zig_cache())
        return variables


def target_in(flags: Sequence[str]) -> str | None:
    """The target that the command line asks for."""
    target = None
    for position, flag in enumerate(flags):
        if flag in ("-target", "--target") and position + 1 < len(flags):
            target = flags[position + 1]
        elif flag.startswith("--target="):
            target = flag.partition("=")[2]
    return target


def without_target(flags: Sequence[str]) -> list[str]:
    """The flags without those that name a target."""
    kept: list[str] = []
    named = False
    for flag in flags:
        if not named and not flag.startswith("--target=") and flag not in ("-target", "--target"):
            kept.append(flag)
        named = not named and flag in ("-target", "--target")
    return kept


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
            "the embedded compiler is missing; install it with `pip install ziglang==0.17.0`,"
            " or choose clang as the toolchain"
        ) from error
    home = os.path.dirname(str(ziglang.__file__))
    zig = os.path.join(home, "zig")
    version = _package_version(home)
    clang = (zig, "clang")
    return Toolchain("embedded", f"ziglang-{version}", clang, (zig, "cc"), (zig, "c++"), clang, embedded=True)


def _machine_clang(wanted: str) -> Toolchain:
    path = shutil.which(wanted)
    if path is None and wanted == "clang":
        path = shutil.which(f"clang-{LLVM_MAJOR}")
    if path is None:
        raise ToolchainMissing(f"{wanted}: no such compiler; install it or choose another toolchain")
    major, banner = _clang_version(path)
    if major > LLVM_MAJOR:
        raise ToolchainMissing(
            f"{path}: clang {major} writes IR that LLVM {LLVM_MAJOR} cannot read;"
            f" use clang {LLVM_MAJOR} or older"
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
        raise ToolchainMissing(f"{path}: is not a clang; choose another toolchain")
    return int(match.group(1)), banner.splitlines()[0]


def _package_version(home: str) -> str:
    """The version of the package in a directory, by the name of what pip has put beside it.

    The module that is made for such questions takes longer to load than what instruments a small file.
    """
    site, package = os.path.split(home)
    start, end = f"{package}-", ".dist-info"
    found = [name for name in os.listdir(site) if name.startswith(start) and name.endswith(end)]
    if len(found) == 1:
        return found[0].removeprefix(start).removesuffix(end)
    from importlib.metadata import version

    return version(package)


@cache
def cache_dir() -> Path:
    """The directory for compiled runtimes and for what was asked of the toolchain."""
    return _writable(os.environ.get("TRODDEN_CACHE") or os.path.join(_user_cache(), "trodden"), "cache")


@cache
def _zig_cache() -> Path:
    """The directory for the libraries that the embedded toolchain builds; it needs one."""
    return _writable(os.environ.get("ZIG_GLOBAL_CACHE_DIR") or os.path.join(_user_cache(), "zig"), "zig")


def _user_cache() -> str:
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def _writable(wanted: str, purpose: str) -> Path:
    """``wanted`` if it is writable, else a temporary directory of this user."""
    other = os.path.join(tempfile.gettempdir(), f"trodden-{purpose}-{os.getuid()}")
    for directory in (wanted, other):
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            if os.lstat(directory).st_uid == os.getuid() or directory == wanted:
                with tempfile.TemporaryFile(dir=directory):
                    return Path(directory)
        except OSError:
            continue
    raise CannotWrite(f"{wanted}: not writable, nor is {other}; set TRODDEN_CACHE to a writable directory")


def remember(path: Path, content: bytes, executable: bool = False) -> None:
    """Write a cache file atomically; one that cannot be written is only missing from the cache."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.chmod(0o755 if executable else 0o644)
        temporary.replace(path)
    except OSError:
        return


def _target_flags(toolchain: Toolchain, target: str | None) -> list[str]:
    return [flag for flag in _search_flags(toolchain, False, target) if flag.startswith("--target=")]


def _search_flags(toolchain: Toolchain, cxx: bool, target: str | None, system_cxx: bool = False) -> list[str]:
    """The target and header directories that ``zig cc`` would use, asked once and cached.

    With ``system_cxx`` the headers of C++ are the system's.
    """
    key = f"{_CACHE_FORMAT}|{toolchain.compiler[0]}|{toolchain.identity}|{cxx}|{target}|{system_cxx}"
    path = cache_dir() / f"headers-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    try:
        known = json.loads(path.read_bytes())
        if isinstance(known, list) and all(isinstance(flag, str) for flag in known):
            directories = [directory for flag, directory in pairwise(known) if flag == "-idirafter"]
            if all(map(os.path.isdir, directories)):
                return known
    except (OSError, ValueError):
        pass
    flags = _ask_zig(toolchain, cxx and not system_cxx, target)
    if system_cxx:
        found = libstdcxx.header_directories(toolchain.compiler, toolchain.environment)
        # Their headers include those of C by #include_next.
        flags = ["-nostdinc++", *(word for each in found for word in ("-idirafter", each)), *flags]
    remember(path, json.dumps(flags).encode())
    return flags


def plain_triple(triple: str) -> str:
    """A target triple as other tools write it, without the versions of the kernel and the C library."""
    return _VERSIONED.sub(r"-linux-\1", triple)


def _ask_zig(toolchain: Toolchain, cxx: bool, target: str | None) -> list[str]:
    command = [*(toolchain.linker_cxx if cxx else toolchain.linker)]
    if target is not None:
        command += ["-target", target]
    command += ["-###", "-O1", "-c", "-x", "c++" if cxx else "c", "/dev/null", "-o", "/dev/null"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", env=toolchain.environment
    )
    lines = [line for line in done.stderr.splitlines() if '"-cc1"' in line]
    if done.returncode != 0 or not lines:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise ToolchainMissing(
            f"the embedded compiler does not know the target {target or 'native'}: {reason}"
        )
    words = shlex.split(lines[-1])
    flags = ["-nostdinc", "-nostdinc++"] if cxx else ["-nostdinc"]
    for word, following in pairwise(words):
        if word == "-triple":
            flags.append(f"--target={plain_triple(following)}")
        elif word == "-isystem":
            directory = os.path.join("/", following)
            flags += ["-idirafter", directory] if os.path.isdir(directory) else []
        elif word == "-D" and not following.startswith("NDEBUG"):
            flags.append(f"-D{following}")
    return flags
