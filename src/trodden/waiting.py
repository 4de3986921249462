"""A line about what is being waited for, if it takes more than a second.

It goes to standard error, once, unless ``TRODDEN_QUIET`` is set.  A terminal also shows the seconds, with the
cursor left at the start of their line, so that whatever a compiler prints next replaces them.  The compilers
use this, so it is without libraries that take time to import.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

VARIABLE = "TRODDEN_QUIET"
DELAY = 1.0
"""Seconds after which something is said."""
_TICK = 0.5


class Quiet:
    """Whether a user has asked for silence, or whoever called us takes any text for a complaint."""

    asked = False


def quiet_unless_at_a_terminal() -> None:
    """Say nothing in a pipe: configure scripts take a compiler that prints something for one that failed."""
    Quiet.asked = not sys.stderr.isatty()


class _Status:
    """What is being waited for now; ``detail`` is shown at a terminal beside the seconds."""

    def __init__(self, what: str) -> None:
        self.what, self.detail = what, ""
        self._done, self._began, self._widest = threading.Event(), time.monotonic(), 0
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        self._done.set()
        self._thread.join()

    def tell(self, detail: str) -> None:
        self.detail = detail

    def _watch(self) -> None:
        if self._done.wait(DELAY):
            return
        sys.stderr.write(f"trodden: {self.what}\n")
        sys.stderr.flush()
        if not sys.stderr.isatty():
            return
        while True:
            self._show(f"  {time.monotonic() - self._began:.0f} s {self.detail}".rstrip())
            if self._done.wait(_TICK):
                self._show("")
                return

    def _show(self, text: str) -> None:
        self._widest = max(self._widest, len(text))
        sys.stderr.write(f"{text:{self._widest}}\r")
        sys.stderr.flush()


_shown: list[_Status] = []


@contextmanager
def waiting(what: str, worth: bool = True) -> Iterator[Callable[[str], None]]:
    """Say ``what`` is being waited for, unless it is not ``worth`` a line or is over soon.

    The function that it gives takes a detail, such as how far it has got, which a terminal shows.  What is
    waited for as a part of something else has no line of its own, but its details are shown.
    """
    if Quiet.asked or not worth or os.environ.get(VARIABLE):
        yield lambda detail: None
        return
    if _shown:
        yield _shown[-1].tell
        _shown[-1].tell("")
        return
    status = _Status(what)
    _shown.append(status)
    status.start()
    try:
        yield status.tell
    finally:
        _shown.remove(status)
        status.finish()
