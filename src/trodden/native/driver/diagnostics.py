"""What the tools underneath print on standard error, kept for a caller who wants it in an exception."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_KEPT: ContextVar[list[str] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_diagnostics() -> Iterator[list[str]]:
    """The messages of all tools that are called meanwhile; they are printed as well."""
    messages: list[str] = []
    token = _KEPT.set(messages)
    try:
        yield messages
    finally:
        _KEPT.reset(token)


def call(command: Sequence[str], environment: Mapping[str, str], given: bytes | None = None) -> int:
    """Run a tool with our standard streams; return its status as a shell would.

    ``given`` is what it reads in place of our standard input.
    """
    if _KEPT.get() is None:
        sys.stdout.flush()
        return _status(subprocess.run(command, check=False, env=environment, input=given).returncode)
    status, text = listen(command, environment, given)
    say(text)
    return status


def listen(
    command: Sequence[str], environment: Mapping[str, str], given: bytes | None = None
) -> tuple[int, str]:
    """Run a tool; return its status as a shell would, and what it has written to standard error."""
    sys.stdout.flush()
    done = subprocess.run(command, check=False, env=environment, stderr=subprocess.PIPE, input=given)
    return _status(done.returncode), done.stderr.decode(errors="backslashreplace")


def say(text: str) -> None:
    """Print what a tool has written to standard error."""
    sys.stderr.write(text)
    sys.stderr.flush()
    kept = _KEPT.get()
    if kept is not None:
        kept.append(text)


def _status(status: int) -> int:
    return 128 - status if status < 0 else status
