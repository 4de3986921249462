"""Where and with what something was measured."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from bench.builds import CLANG, version_of
from trodden import __version__


def description() -> dict[str, str | int]:
    """The machine, the tools and the date, for the file of results."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "system": platform.platform(),
        "python": platform.python_version(),
        "trodden": __version__,
        "clang": version_of(CLANG),
        "gcc": version_of("gcc"),
        "valgrind": version_of("valgrind"),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found.group(1) if found else platform.processor()
