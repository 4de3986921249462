"""Builds what the toolchain builds on first use, so that no test's time limit includes it.

The embedded toolchain compiles start files, the C library, libc++, libunwind and compiler-rt when a link
needs them for the first time: one variant for each target and for some options. trodden compiles its
runtime when it links for a target for the first time.  On a busy machine that takes many minutes.  ``make
test`` runs this module before pytest, and ``conftest.py`` runs it before the first test of a session that
compiles.  Of several pytest workers one builds, and the others wait for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.native.building import TRODDEN, environment
from trodden.native.driver.runtime_build import find_runtime
from trodden.native.driver.toolchain import find_toolchain

_C = "int main(void) { return 0; }\n"
_CXX = "#include <iostream>\nint main() { try { throw 1; } catch (int) { std::cout << 1; } }\n"
_ZIG = (sys.executable, "-m", "ziglang")
_MUSL = ("-target", f"{platform.machine()}-linux-musl", "-static")
_UNCHECKED = ("-fno-sanitize=all",)
_PROCESSOR = re.compile("(model name|flags|CPU |Features)")


class Link(NamedTuple):
    """A command line that tests use, up to the source file."""

    name: str
    words: tuple[str, ...]
    source: str = _C


LINKS = (
    Link("a C program", (*TRODDEN, "cc")),
    Link("a stripped C program", (*TRODDEN, "cc", "-s")),
    Link("a C program without frame pointers", (*TRODDEN, "cc", "-fomit-frame-pointer")),
    Link("a position-independent C program", (*TRODDEN, "cc", "-fPIE", "-pie")),
    Link("a C program with a sanitizer", (*TRODDEN, "cc", "-fsanitize=undefined")),
    Link("a shared library", (*TRODDEN, "cc", "-fPIC", "-shared")),
    Link("a C++ program", (*TRODDEN, "c++"), _CXX),
    Link("a C++ program without frame pointers", (*TRODDEN, "c++", "-fomit-frame-pointer"), _CXX),
    Link("a static C program with musl", (*TRODDEN, "cc", *_MUSL)),
    Link("a static C++ program with musl", (*TRODDEN, "c++", *_MUSL), _CXX),
    Link("an uninstrumented C program", (*_ZIG, "cc", "-O1", *_UNCHECKED)),
    Link("an uninstrumented C++ program", (*_ZIG, "c++", "-O1", *_UNCHECKED), _CXX),
)
"""One for each variant of the libraries that tests with time limits link."""


def warm_up(report: Callable[[str], None]) -> None:
    """Build everything that is missing from the caches; there is no time limit."""
    cache = Path(find_toolchain(None).environment["ZIG_GLOBAL_CACHE_DIR"])
    stamp = cache / f"trodden-tests-{_digest()}"
    with _locked(stamp.with_suffix(".lock")):
        if not stamp.exists():
            for number, link in enumerate(LINKS, 1):
                began = time.monotonic()
                _run(link)
                report(f"{number}/{len(LINKS)} {link.name}: {time.monotonic() - began:.1f} s")
            stamp.touch()
        # The runtime is built again whenever its sources have changed.
        for target in (None, _MUSL[1]):
            find_runtime(find_toolchain(None), target)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _digest() -> str:
    """Differs where the caches may lack something: another toolchain, other links, another machine.

    The embedded toolchain compiles its libraries for the processor and the kernel that it runs on.
    """
    toolchain = find_toolchain(None)
    processor = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if _PROCESSOR.match(line)]
    machine = platform.machine(), platform.release(), platform.libc_ver(), sorted(set(processor))
    key = toolchain.identity, toolchain.linker, machine, LINKS
    return hashlib.sha256(repr(key).encode()).hexdigest()[:16]


def _run(link: Link) -> None:
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / ("main.c" if link.source is _C else "main.cpp")
        source.write_text(link.source)
        command = [*link.words, str(source), "-o", os.path.join(directory, "made")]
        done = subprocess.run(command, cwd=directory, env=environment(), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{link.name} cannot be built: {done.stderr}")


if __name__ == "__main__":
    warm_up(lambda line: print(f"warm-up: {line}", flush=True))
