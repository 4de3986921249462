"""What the tools underneath print on standard error, kept for a caller who wants it in an exception."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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


def call(
    command: Sequence[str], environment: Mapping[str, str], reword: Callable[[str], str] | None = None
) -> int:
    """Run a tool with our standard streams; return its status as a shell would.

    ``reword`` changes what it says on standard error.
    """
    sys.stdout.flush()
    kept = _KEPT.get()
    if kept is None and reword is None:
        status = subprocess.run(command, check=False, env=environment).returncode
    else:
        done = subprocess.run(command, check=False, env=environment, stderr=subprocess.PIPE)
        text, status = done.stderr.decode(errors="backslashreplace"), done.returncode
        text = text if reword is None else reword(text)
        sys.stderr.write(text)
        sys.stderr.flush()
        if kept is not None:
            kept.append(text)
    return 128 - status if status < 0 else status
