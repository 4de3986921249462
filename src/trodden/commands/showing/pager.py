"""A pager for what is longer than the screen, as git and man have one."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator

from trodden.report.render.screen import Screen

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""What pagers are told unless the user has told them something: leave if all fits, keep colours and text."""


def paged(text: str, screen: Screen) -> bool:
    """Show the text in a pager; False if it fits the screen, or there is no pager, and nothing was shown."""
    if not screen.terminal or os.environ.get("TERM", "dumb") == "dumb" or _fits(text, screen):
        return False
    command = _command()
    if command is None:
        return False
    with _interrupts_ignored():
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**_DEFAULTS, **os.environ})
        except OSError:
            return False
        # A reader who has seen enough closes the pipe.
        with contextlib.suppress(BrokenPipeError):
            process.communicate(text.encode(screen.encoding, errors="backslashreplace"))
        process.wait()
    return True


def _command() -> list[str] | None:
    """The user's pager, or ``less``; None if there is none, or it is switched off by an empty variable."""
    named = next((os.environ[name] for name in ("TRODDEN_PAGER", "PAGER") if name in os.environ), "less")
    try:
        words = shlex.split(named)
    except ValueError:
        return None
    return words if words and words[0] != "cat" and shutil.which(words[0]) else None


def _fits(text: str, screen: Screen) -> bool:
    rows = sum(max(1, -(-len(line) // screen.width)) for line in text.splitlines())
    return rows < screen.height


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """An interrupt at the keyboard is for the pager, which may use it to stop a search."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
