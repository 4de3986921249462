"""What went wrong in a measurement, by program, in a form that is fit for the page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from traceback import extract_tb

from bench.support.directories import PROJECT
from bench.support.errors import BenchError
from trodden.errors import TroddenError

EXPECTED = (BenchError, TroddenError, OSError)
"""Errors that programs and tools may cause; any other is a bug in the benchmark, but must not stop it."""

SOURCES = "sources and inputs"
"""What has to exist before anything else."""

_LAST_LINES = 12
_LONGEST_LINE = 400


@dataclass
class Failures:
    """Reasons by program and by the part that failed."""

    found: dict[str, dict[str, str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def add(self, program: str, part: str, error: Exception) -> None:
        """Record the reason."""
        with self._lock:
            self.found.setdefault(program, {})[part] = _shortened(_reason(error))

    def reasons(self, program: str, parts: Collection[str] | None = None) -> list[str]:
        """All reasons of a program, or those of some parts, each once."""
        found = self.found.get(program, {}).items()
        return list(dict.fromkeys(reason for part, reason in found if parts is None or part in parts))


def first_line(error: Exception) -> str:
    """The first line of the message of an error."""
    return _reason(error).splitlines()[0]


def _reason(error: Exception) -> str:
    """The message of an error; of an unexpected one also its origin."""
    message = str(error).strip()
    if isinstance(error, EXPECTED) and message:
        return message
    frames = extract_tb(error.__traceback__)
    origin = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"a bug in the benchmark: {type(error).__name__}: {message}{origin}"


def _shortened(text: str) -> str:
    """The first line, which names the program and the build, and the last lines, which have the reason.

    It may appear on the page, so the directory of the checkout is removed from it.
    """
    lines = text.replace(f"{PROJECT}/", "").splitlines()
    cut = len(lines) > _LAST_LINES + 1
    return "\n".join([lines[0][:_LONGEST_LINE], *lines[-_LAST_LINES:]] if cut else lines)
