"""A client that talks to a program while somebody else waits for the program's end.

Whoever watches a process has to wait for it all the time, as it may stop at any signal, so that the client
needs a thread of its own.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

from bench.suite.model import Driver
from bench.support.errors import BenchError


class Driven(Thread):
    """Lets a driver talk to process ``pid``, which is killed if that goes wrong; keeps the ``replies``."""

    def __init__(self, driver: Driver, directory: Path, inputs: Path, pid: int) -> None:
        super().__init__(daemon=True)
        self._driver = driver
        self._directory = directory
        self._inputs = inputs
        self._pid = pid
        self._over = Event()
        self.replies = b""
        self._error: Exception | None = None

    def run(self) -> None:
        """Talk until there is nothing left to say."""
        try:
            self.replies = self._driver(self._directory, self._inputs, self._alive)
        except (BenchError, OSError) as error:
            self._error = error
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def ended(self) -> None:
        """The process is no more, so there is nobody to talk to; what went wrong comes out here."""
        self._over.set()
        self.join()
        if self._error is not None:
            raise self._error

    def _alive(self) -> bool:
        return not self._over.is_set()
