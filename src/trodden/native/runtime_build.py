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

_FLAGS = ("-O2", "-g0", "-fPIC", "-fvisibility=hidden", "-funwind-tables", "-fno-stack-protector")


def runtime_objects(toolchain: Toolchain, words: Sequence[str]) -> list[Path]:
    """The object files of the runtime for the target that ``words`` name, built if they are not there yet."""
    target = target_in(words)
    sources = _sources()
    digest = hashlib.sha256(f"{toolchain.identity}|{target}|{_FLAGS}".encode())
    for path in sources:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    wanted = [path.with_suffix(".o").name for path in sources if path.suffix == ".c"]
    home = cache_dir() / f"runtime-{digest.hexdigest()[:16]}"
    if not all((home / name).exists() for name in wanted):
        home = _build(toolchain, target, [p for p in sources if p.suffix == ".c"], home)
    return [home / name for name in wanted]


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
    for source in sources:
        command = [*compiler, *_FLAGS, "-c", str(source), "-o", str(work / (source.stem + ".o"))]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=toolchain.environment
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no message"])[0]
            raise ToolchainMissing(
                f"{source.name}: the runtime does not compile with {toolchain.name}: {reason}"
            )
