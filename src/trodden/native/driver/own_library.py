"""C code that trodden itself runs: compiled once for this machine, by the embedded toolchain, and cached."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
from pathlib import Path

from trodden import temporary
from trodden.errors import ToolchainMissing
from trodden.native.driver.linking.embedded_link import embedded_linker
from trodden.native.driver.toolchain import cache_dir, find_toolchain
from trodden.waiting import waiting

_FLAGS = ("-std=gnu11", "-O3", "-g0", "-fPIC", "-fvisibility=hidden", "-fno-stack-protector")


def own_library(sources: Path, purpose: str, more: tuple[str, ...] = ()) -> Path:
    """The shared library of all C files in a directory; ``purpose`` says what is being compiled.

    It needs nothing but a C library, which the process that loads it has.  ``more`` are further flags.
    """
    toolchain = find_toolchain(None)
    files = sorted(path for path in sources.iterdir() if path.suffix in (".c", ".h"))
    digest = hashlib.sha256(repr((toolchain.identity, os.uname().machine, _FLAGS, more)).encode())
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    library = cache_dir() / f"{sources.parent.name}-{digest.hexdigest()[:16]}.so"
    if not library.exists():
        command = [*toolchain.compile(False, []), f"--ld-path={embedded_linker(toolchain)}", "-nostdlib"]
        command += [*_FLAGS, *more, "-shared", *(str(path) for path in files if path.suffix == ".c")]
        with (
            waiting(f"compiling {purpose}, once"),
            temporary.directory("building-", library.parent) as work,
        ):
            made = work / library.name
            done = subprocess.run(
                [*command, "-o", str(made)],
                capture_output=True,
                text=True,
                check=False,
                env=toolchain.environment,
            )
            if done.returncode != 0:
                reason = (done.stderr.strip().splitlines() or ["no message"])[0]
                raise ToolchainMissing(f"{purpose} does not compile with {toolchain.name}: {reason}")
            with contextlib.suppress(OSError):
                os.rename(made, library)
    return library
