"""Where and with what something was measured."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from bench.build.toolchain import CLANG, TRODDEN_SOURCES, trodden_files, version_of
from trodden.version import __version__


def identity() -> dict[str, str | int]:
    """What distinguishes the figures of two machines: the processor, and the tools that build and measure."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "clang": version_of(CLANG),
        "gcc": version_of("gcc"),
        "valgrind": version_of("valgrind"),
    }


def trodden_version() -> str:
    """The version of trodden, with a hash of its sources, which change between versions."""
    home = TRODDEN_SOURCES / "trodden"
    content = hashlib.sha256()
    for path in trodden_files():
        content.update(f"{path.relative_to(home)} {path.stat().st_size}\n".encode())
        content.update(path.read_bytes())
    return f"{__version__}, sources {content.hexdigest()[:12]}"


def description() -> dict[str, str | int]:
    """The machine, the tools and the date, for the file of results."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "trodden": trodden_version(),
        **identity(),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else platform.processor()
